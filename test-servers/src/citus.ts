import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PostgresPrograms } from './find.js';
import { findPostgres, NOT_INSTALLED } from './find.js';
import type { PostgresOptions, PostgresServer } from './postgres.js';
import { DATABASE, startPostgres } from './postgres.js';

/** A coordinator and its workers, all of them PostgreSQL servers with Citus. */
export interface CitusServers {
  readonly coordinator: PostgresServer;
  readonly workers: readonly PostgresServer[];
  /** Makes the extension and the nodes known in a database that every server has. */
  join(database?: string): Promise<void>;
  remove(): Promise<void>;
}

export interface CitusOptions {
  /** 2 unless told. */
  readonly workers?: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** Where a server lies, by its number; the coordinator is 0. Temporary folders unless told. */
  readonly place?: (server: number) => Promise<string>;
  /** How a server is reached by the others: another port leads to it, such as a proxy's. */
  readonly through?: (server: PostgresServer, number: number) => Promise<number>;
}

/** What Citus asks of its servers; few shards, because each is a table for each of ours. */
const SETTINGS = {
  shared_preload_libraries: 'citus',
  max_prepared_transactions: '200',
  wal_level: 'logical',
  'citus.shard_count': '4',
  'citus.node_connection_timeout': '3000',
  // On loopback, and without looking for certificates of whoever runs the tests.
  'citus.node_conninfo': 'sslmode=disable',
  'citus.enable_statistics_collection': 'off',
};

/** Packages of Debian put what extensions bring here. */
const DEBIAN_EXTENSIONS = '/usr/share/postgresql';

/** The PostgreSQL from packages that has Citus beside it, or undefined. */
export function findCitus(): PostgresPrograms | undefined {
  const found = findPostgres();
  const hasCitus = found && existsSync(join(DEBIAN_EXTENSIONS, String(found.major), 'extension', 'citus.control'));
  return hasCitus ? found : undefined;
}

/** For the `skip` of a test. Citus is in no package of Debian, so CI goes without it. */
export function unlessCitus(): string | false {
  return findCitus() === undefined ? `Citus${NOT_INSTALLED}` : false;
}

export async function startCitus(options: CitusOptions = {}): Promise<CitusServers> {
  const programs = findCitus();
  if (!programs) throw new Error('Citus is not installed beside PostgreSQL');
  const count = 1 + (options.workers ?? 2);
  const servers: PostgresServer[] = [];
  const ports: number[] = [];
  const remove = async (): Promise<void> => {
    for (const server of servers) await server.remove();
  };
  try {
    for (let number = 0; number < count; number += 1) {
      const dataDir = await options.place?.(number);
      const own: PostgresOptions = {
        binDir: programs.binDir,
        settings: { ...SETTINGS, ...options.settings },
        ...(dataDir !== undefined && { dataDir }),
      };
      const server = await startPostgres(own);
      servers.push(server);
      ports.push((await options.through?.(server, number)) ?? server.port);
    }
    const [coordinator, ...workers] = servers;
    if (!coordinator) throw new Error('a cluster has a coordinator');
    const cluster = {
      coordinator,
      workers,
      join: (database = DATABASE) => joinServers(servers, ports, database),
      remove,
    };
    await cluster.join();
    return cluster;
  } catch (error) {
    await remove();
    throw error;
  }
}

async function joinServers(
  servers: readonly PostgresServer[],
  ports: readonly number[],
  database: string,
): Promise<void> {
  for (const [number, server] of [...servers.entries()].reverse()) {
    const client = await server.connect(database);
    try {
      await client.query('CREATE EXTENSION IF NOT EXISTS citus');
      if (number > 0) continue;
      await client.query('SELECT citus_set_coordinator_host($1, $2)', ['127.0.0.1', ports[0]]);
      for (const port of ports.slice(1)) await client.query('SELECT citus_add_node($1, $2)', ['127.0.0.1', port]);
    } finally {
      await client.end();
    }
  }
}
