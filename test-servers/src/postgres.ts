import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Ids } from './account.js';
import { give, unprivileged } from './account.js';
import { findPostgres } from './find.js';
import type { RunningProgram } from './programs.js';
import { freePort, runProgram, startProgram, untilUp } from './programs.js';

export interface PostgresOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** Where the cluster lies; a temporary folder unless told. It must exist and be empty. */
  readonly dataDir?: string;
  readonly binDir?: string;
  /** Words for initdb, such as --waldir. */
  readonly initdb?: readonly string[];
}

export interface PostgresServer {
  readonly port: number;
  readonly dataDir: string;
  readonly binDir: string;
  readonly ids: Ids | undefined;
  /** The process id of the postmaster, while it runs. */
  readonly pid: () => number;
  /** `postgres://user:password@127.0.0.1:port/database`. */
  url(login: Login, database?: string, port?: number): string;
  /** As a superuser. The caller ends it. */
  connect(database?: string): Promise<pg.Client>;
  /** Starts it again on the same folder and port, after `end`. */
  start(): Promise<void>;
  /** SIGINT stops it fast and clean, SIGQUIT at once without a checkpoint, SIGKILL kills the postmaster alone. */
  end(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  /** Ends it if it runs, and removes the folder unless the caller gave it. */
  remove(): Promise<void>;
}

/** The superuser, the owner of the schema and the plain login of the service, each with a password of its own. */
export type Login = 'postgres' | 'owner' | 'service';

/** Passwords of servers that live on loopback for the length of a test. */
const NAMES: Readonly<Record<Login, string>> = {
  postgres: 'postgres:postgres',
  owner: 'strongroom_owner:owner-word',
  service: 'strongroom:service-word',
};
export const DATABASE = 'strongroom';

/** A fresh cluster with the database, its owner and the login of the service, without a schema. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const binDir = options.binDir ?? findPostgres()?.binDir;
  if (binDir === undefined) throw new Error('no PostgreSQL is installed from packages');
  const ids = await unprivileged();
  const dataDir = options.dataDir ?? (await mkdtemp('/tmp/sr-pg-'));
  await give(dataDir, ids);
  await runProgram(
    join(binDir, 'initdb'),
    ['-D', dataDir, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', ...(options.initdb ?? [])],
    {
      ids,
    },
  );
  const server = await serverOn(dataDir, { ...options, binDir, ids });
  await server.start();
  const client = await server.connect('postgres');
  try {
    for (const login of ['owner', 'service'] as const) {
      const [role, password] = NAMES[login].split(':');
      const powers = login === 'owner' ? 'CREATEROLE' : 'NOINHERIT';
      await client.query(`CREATE ROLE ${role} LOGIN ${powers} PASSWORD '${password}'`);
    }
    await client.query(`ALTER ROLE postgres PASSWORD 'postgres'`);
    await client.query(`CREATE DATABASE ${DATABASE} OWNER strongroom_owner`);
  } finally {
    await client.end();
  }
  return server;
}

/** A server on a folder that holds a cluster already, not yet started. */
export async function serverOn(
  dataDir: string,
  options: PostgresOptions & { readonly binDir: string; readonly ids: Ids | undefined },
): Promise<PostgresServer> {
  const { binDir, ids } = options;
  const port = await freePort();
  const settings = { fsync: 'off', max_connections: '200', shared_buffers: '64MB', ...options.settings };
  let program: RunningProgram | undefined;
  await appendFile(join(dataDir, 'postgresql.conf'), settingLines(settings));

  const server: PostgresServer = {
    port,
    dataDir,
    binDir,
    ids,
    pid: () => program?.pid ?? 0,
    url: (login, database = DATABASE, through = port) => `postgres://${NAMES[login]}@127.0.0.1:${through}/${database}`,
    async connect(database = DATABASE) {
      const client = new pg.Client({ connectionString: server.url('postgres', database) });
      client.on('error', () => {});
      await client.connect();
      return client;
    },
    async start() {
      const args = ['-D', dataDir, '-p', String(port), '-h', '127.0.0.1', '-k', dataDir];
      const started = startProgram(join(binDir, 'postgres'), args, { ids });
      program = started;
      await untilUp(started, async () => {
        await (await server.connect('postgres')).end();
        return true;
      });
    },
    async end(signal) {
      await program?.end(signal);
      program = undefined;
    },
    async remove() {
      await server.end('SIGQUIT');
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
  return server;
}

function settingLines(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `\n${name} = '${value}'`)
    .join('');
}
