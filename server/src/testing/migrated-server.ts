import { createServer } from 'node:net';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import { startPostgres } from '@strongroom/test-servers/postgres.js';
import pg from 'pg';
import { Secret } from '../kernel/secret.js';
import type { ConnectionTarget } from '../storage/connection.js';
import { migrate } from '../storage/migrate.js';
import type { TestDatabase } from './test-database.js';

/** A server by address with the current schema, migrated by the owner as an operator would. */
export async function startMigratedServer(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const server = await startPostgres({ settings });
  await migrate({ owner: { url: new Secret(server.url('owner')) }, login: 'strongroom', createLogin: false });
  return server;
}

/** The login and the password stay, hosts and parameters are others. */
export function urlOn(url: string, hosts: string, parameters = ''): ConnectionTarget & { url: Secret<string> } {
  const { username, password, pathname } = new URL(url);
  return { url: new Secret(`postgres://${username}:${password}@${hosts}${pathname}${parameters}`) };
}

/** What tests of the product stand on, but on a server by address. The server is the caller's to remove. */
export async function databaseOn(server: PostgresServer, url = server.url('service')): Promise<TestDatabase> {
  const ownerTarget = { url: new Secret(server.url('owner')) };
  const owner = new pg.Client({ connectionString: server.url('owner') });
  owner.on('error', () => {});
  await owner.connect();
  // An owner that is no superuser sees rows of tenants only so; a test that expects none would otherwise never fail.
  await owner.query(`SET strongroom.backup = 'on'`);
  return { target: { url: new Secret(url) }, owner, ownerTarget, drop: () => owner.end() };
}

/** A host that takes connections and never says a word. */
export async function startBlackHole(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return {
    port: address.port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
