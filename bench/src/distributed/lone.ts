import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import { DATABASE } from '@strongroom/test-servers/postgres.js';
import type { Direction, TcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import { startTcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import { runLoad } from '../load/run.js';
import { startProduct } from '../product.js';
import type { Workshop } from '../workshop.js';
import type { Arrangement } from './arrangement.js';
import { databaseEnv } from './arrangement.js';

/** What requests take that come one at a time, and share nothing with others. */
export interface LoneRequests {
  readonly p50Ms: number;
  /** How often a request turned to the database and waited. */
  readonly roundTrips: number;
  /** Statements a request at each server, those of a transaction's begin and end among them. */
  readonly statements: readonly number[];
}

const WARM_UP = 20;
const COUNTED = 200;
const SECONDS_MAX = 600;

/**
 * Starts the product of an arrangement again, on a way to its database on which round trips are counted. Gives what each of the
 * lists of requests took.
 */
export async function measureLone(
  workshop: Workshop,
  { product, servers }: Arrangement,
  lists: readonly (readonly string[])[],
): Promise<LoneRequests[]> {
  const [first] = servers;
  if (first === undefined) throw new Error('assertion failed: there is a server');
  await product.stop();
  const proxy = await startTcpProxy(first.port);
  workshop.defer(() => proxy.close());
  const { dataDir, key } = product;
  const counted = await startProduct(workshop, { dataDir, key, env: databaseEnv(first, proxy.port) });
  for (const server of servers) await keepCount(server);
  const found: LoneRequests[] = [];
  for (const list of lists) {
    const send = (count: number) => {
      const requests = Array.from({ length: count }, (_, at) => list[at % list.length] ?? '');
      const options = { port: counted.port, requests, connections: 1, seconds: SECONDS_MAX, isOnce: true };
      return runLoad(workshop, options);
    };
    await send(WARM_UP);
    const trips = countTrips(proxy);
    for (const server of servers) await forget(server);
    const { p50Ms } = await send(COUNTED);
    const statements: number[] = [];
    for (const server of servers) statements.push((await countOf(server)) / COUNTED);
    found.push({ p50Ms, roundTrips: trips() / COUNTED, statements });
  }
  await counted.stop();
  return found;
}

/** However many pieces a question or its answer comes in, it is one. */
function countTrips(proxy: TcpProxy): () => number {
  const last = new Map<number, Direction>();
  let trips = 0;
  proxy.setHook(({ id }, direction) => {
    if (direction === 'up' && last.get(id) !== 'up') trips += 1;
    last.set(id, direction);
    return 'pass';
  });
  return () => {
    proxy.setHook(undefined);
    return trips;
  };
}

async function keepCount(server: PostgresServer): Promise<void> {
  await ask(server, `ALTER SYSTEM SET pg_stat_statements.track TO 'top'`);
  await ask(server, 'SELECT pg_reload_conf()');
}

async function forget(server: PostgresServer): Promise<void> {
  await ask(server, 'SELECT pg_stat_statements_reset()');
}

/** Of the product's roles, which Citus uses between servers as well. */
async function countOf(server: PostgresServer): Promise<number> {
  const rows = await ask(
    server,
    `SELECT coalesce(sum(s.calls), 0)::int AS calls FROM pg_stat_statements AS s
     JOIN pg_database AS d ON d.oid = s.dbid JOIN pg_roles AS r ON r.oid = s.userid
     WHERE d.datname = '${DATABASE}' AND r.rolname LIKE 'strongroom%'`,
  );
  return rows[0]?.calls ?? 0;
}

async function ask(server: PostgresServer, text: string): Promise<{ calls: number }[]> {
  const client = await server.connect('postgres');
  try {
    return (await client.query<{ calls: number }>(text)).rows;
  } finally {
    await client.end();
  }
}
