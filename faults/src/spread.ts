import { setTimeout as wait } from 'node:timers/promises';
import type { CitusServers } from '@strongroom/test-servers/citus.js';
import { startCitus } from '@strongroom/test-servers/citus.js';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import type { TcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import { startTcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import { asSuperuser } from './superuser.js';
import type { LoadTenant } from './tenants.js';

/** The servers that Citus has spread a database over, beside the coordinator. */
export interface Spread {
  readonly workers: readonly PostgresServer[];
  /** Between the coordinator and each worker; the workers know each other by them too. */
  readonly ways: readonly TcpProxy[];
}

export interface StartedSpread {
  readonly coordinator: PostgresServer;
  readonly spread: Spread;
  remove(): Promise<void>;
}

/**
 * What was prepared on a worker when something died is decided by a daemon of the coordinator, once a minute unless
 * told. What it decides is part of a recovery, which may take half a minute in all.
 */
const SETTINGS = { 'citus.recover_2pc_interval': '5s' };

export async function startSpread(
  settings: Readonly<Record<string, string>>,
  place: (server: number) => Promise<string>,
): Promise<StartedSpread> {
  const ways: TcpProxy[] = [];
  const through = async (server: PostgresServer, number: number): Promise<number> => {
    if (number === 0) return server.port;
    const way = await startTcpProxy(server.port);
    ways.push(way);
    return way.port;
  };
  let servers: CitusServers | undefined;
  const remove = async (): Promise<void> => {
    for (const way of ways) await way.close();
    await servers?.remove();
  };
  try {
    servers = await startCitus({ settings: { ...SETTINGS, ...settings }, place, through });
  } catch (error) {
    await remove();
    throw error;
  }
  return { coordinator: servers.coordinator, spread: { workers: servers.workers, ways }, remove };
}

/** A placement of the tenant's rows: its shard, and the port by which the others know the worker. */
const FIND_PLACE = `
  SELECT p.shardid::text AS shard, n.nodeport AS port FROM pg_dist_placement p
  JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
  WHERE p.shardid = get_shard_id_for_distribution_column('public.tenants', $1::uuid)`;

/** Where a tenant's rows are: the shard, and the number of the worker. */
export async function placeOf(
  coordinator: PostgresServer,
  { ways }: Spread,
  tenantId: string,
): Promise<{ readonly shard: string; readonly worker: number }> {
  return asSuperuser(coordinator, async (client) => {
    const { rows } = await client.query<{ shard: string; port: number }>(FIND_PLACE, [tenantId]);
    const [found] = rows;
    const worker = ways.findIndex(({ port }) => port === found?.port);
    if (!found || worker === -1) throw new Error(`no worker has the tenant ${tenantId}`);
    return { shard: found.shard, worker };
  });
}

/** The tenants of each worker, by its number. */
export async function tenantsByWorker(
  coordinator: PostgresServer,
  spread: Spread,
  tenants: readonly LoadTenant[],
): Promise<readonly LoadTenant[][]> {
  const found: LoadTenant[][] = spread.workers.map(() => []);
  for (const tenant of tenants) found[(await placeOf(coordinator, spread, tenant.id)).worker]?.push(tenant);
  return found;
}

const POLL_MS = 100;
const DECIDED_MAX_MS = 30_000;

/** Waits until nothing is prepared on any server; resolves with what still is when the time is up. */
export async function untilDecided(coordinator: PostgresServer, { workers }: Spread): Promise<string[]> {
  const deadlineMs = performance.now() + DECIDED_MAX_MS;
  for (;;) {
    const left: string[] = [];
    for (const server of [coordinator, ...workers]) {
      const { rows } = await asSuperuser(server, (client) =>
        client.query<{ gid: string }>('SELECT gid FROM pg_prepared_xacts'),
      );
      left.push(...rows.map(({ gid }) => gid));
    }
    if (left.length === 0 || performance.now() > deadlineMs) return left;
    await wait(POLL_MS);
  }
}

/**
 * What an operator does after a standby of the coordinator was promoted: the servers know the coordinator by its
 * address, which is now another one. The new coordinator tells it to the workers.
 */
export async function tellCoordinator(promoted: PostgresServer): Promise<void> {
  await asSuperuser(promoted, (client) =>
    client.query('SELECT citus_set_coordinator_host($1, $2)', ['127.0.0.1', promoted.port]),
  );
}
