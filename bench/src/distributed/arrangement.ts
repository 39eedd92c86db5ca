import { startCitus } from '@strongroom/test-servers/citus.js';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import { startPostgres } from '@strongroom/test-servers/postgres.js';
import type { MakeVaultTenantsOptions } from '../make-vault-tenants.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { runScript } from '../scripts.js';
import { seedTokens } from '../seed.js';
import type { Workshop } from '../workshop.js';

/** The product on one server, or on a cluster. */
export interface Arrangement {
  readonly name: string;
  readonly product: Product;
  /** The one that the product asks, then the workers. */
  readonly servers: readonly PostgresServer[];
}

/** Whose requests are sent: a key a tenant, and the tokens each of them has. */
export interface Tenants {
  readonly keys: readonly string[];
  readonly ids: readonly (readonly string[])[];
}

const TOKENS_TO_READ = 2_000;
const WORKERS = 2;
/** What an operator would have, on every server alike. Statements are counted only where that is asked for. */
const SETTINGS = {
  fsync: 'on',
  shared_buffers: '128MB',
  jit: 'off',
  'pg_stat_statements.track': 'none',
};
const COUNTER = 'pg_stat_statements';

export async function startPlain(workshop: Workshop): Promise<Arrangement> {
  const server = await startPostgres({ settings: { ...SETTINGS, shared_preload_libraries: COUNTER } });
  workshop.defer(() => server.remove());
  return arrange(workshop, 'one server', [server], []);
}

export async function startCluster(workshop: Workshop): Promise<Arrangement> {
  const cluster = await startCitus({
    workers: WORKERS,
    settings: { ...SETTINGS, shared_preload_libraries: `citus,${COUNTER}`, 'citus.shard_count': '32' },
  });
  workshop.defer(() => cluster.remove());
  return arrange(workshop, `Citus, 1 + ${WORKERS}`, [cluster.coordinator, ...cluster.workers], DISTRIBUTE);
}

const DISTRIBUTE = ['migrate', '--distribute', 'citus'];

async function arrange(
  workshop: Workshop,
  name: string,
  servers: readonly PostgresServer[],
  before: readonly string[],
): Promise<Arrangement> {
  const [first] = servers;
  if (first === undefined) throw new Error('assertion failed: there is a server');
  for (const server of servers) {
    const client = await server.connect('postgres');
    await client.query(`CREATE EXTENSION ${COUNTER}`);
    await client.end();
  }
  const product = await startProduct(workshop, { env: databaseEnv(first), postmaster: first.pid(), before });
  return { name, product, servers };
}

/** The settings that lead the product to a server, by another port where that is given. */
export function databaseEnv(server: PostgresServer, port = server.port): Record<string, string> {
  return {
    STRONGROOM_DATABASE_URL: server.url('service', undefined, port),
    STRONGROOM_MIGRATION_DATABASE_URL: server.url('owner', undefined, port),
  };
}

export async function makeTenants(
  workshop: Workshop,
  { product }: Arrangement,
  options: MakeVaultTenantsOptions,
): Promise<Tenants> {
  const keys: string[] = JSON.parse(await runScript(workshop, 'make-vault-tenants', options, product.env));
  const ids: string[][] = [];
  for (const key of keys) ids.push(await seedTokens(product.port, key, Math.ceil(TOKENS_TO_READ / keys.length)));
  return { keys, ids };
}
