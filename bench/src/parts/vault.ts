import type { Side } from '../alternate.js';
import { alternate } from '../alternate.js';
import type { BareVaultOptions } from '../baselines/bare-vault.js';
import type { Comparison } from '../comparison.js';
import { comparisonGoals, comparisonTable, loadNotes } from '../comparison.js';
import type { Bound } from '../goals.js';
import { runLoad } from '../load/run.js';
import type { Findings } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { call, card, cards, wire } from '../requests.js';
import { startBaseline } from '../scripts.js';
import { seedTokens } from '../seed.js';
import type { VaultTenant } from '../tenants.js';
import { makeVaultTenant } from '../tenants.js';
import type { Watched } from '../watch/cost.js';

const CONNECTIONS = 64;
const TOKENIZE_CONNECTIONS = 8;
const TOKENS_TO_READ = 2_000;
const BATCH = 100;
/** About what a sealed card takes. */
const SEALED_BYTES = 420;
/** Deletes are sent once each, so a round ends when it has none left. */
const DELETES_PER_SECOND = 3_000;

interface Path {
  readonly path: string;
  readonly baseline: string;
  readonly mode: BareVaultOptions['mode'];
  /** The same for product and baseline, but for the tenant. */
  readonly requests: (tenant: VaultTenant) => readonly string[] | Promise<readonly string[]>;
  /** Baselines that change rows work on a tenant of their own: what they leave behind does not open. */
  readonly isChange: boolean;
  readonly isOnce?: boolean;
  readonly connections?: number;
  readonly unit?: number;
  readonly goal?: Bound;
}

/** What the product exists for, each path against what the same work costs without it. */
export async function measureVault(bench: Bench): Promise<Findings> {
  const product = await startProduct(bench.workshop);
  const tenants = { ours: await makeVaultTenant(product), baseline: await makeVaultTenant(product) };
  const ids = new Map<VaultTenant, string[]>();
  for (const tenant of [tenants.ours, tenants.baseline]) {
    ids.set(tenant, await seedTokens(product.port, tenant.key, TOKENS_TO_READ));
  }
  const comparisons: Comparison[] = [];
  for (const path of pathsOf(bench, product, ids)) {
    bench.say(path.path);
    comparisons.push(await compare(bench, product, tenants, path));
  }
  await product.stop();
  const title = `The vault, ${CONNECTIONS} connections (tokenize ${TOKENIZE_CONNECTIONS}); rates and processor time are per token where a request carries ${BATCH}`;
  return {
    ...NOTHING,
    tables: [comparisonTable(title, comparisons)],
    goals: comparisonGoals(comparisons),
    notes: loadNotes(comparisons),
  };
}

function pathsOf(bench: Bench, product: Product, ids: ReadonlyMap<VaultTenant, string[]>): Path[] {
  return [...readPaths(ids), ...createPaths(), ...changePaths(bench, product, ids)];
}

/** The same request on each token that is there. */
function onEach(ids: ReadonlyMap<VaultTenant, string[]>, method: string, body = ''): Path['requests'] {
  return (tenant) => (ids.get(tenant) ?? []).map((id) => wire(method, `/tokens/${id}`, tenant.key, body));
}

function readPaths(ids: ReadonlyMap<VaultTenant, string[]>): Path[] {
  const search = JSON.stringify({ query: 'data:4242424242424242', size: 10 });
  return [
    {
      path: 'read a card',
      baseline: 'unaudited raw read',
      mode: 'read',
      requests: onEach(ids, 'GET'),
      isChange: false,
      goal: { least: 0.7 },
    },
    {
      path: 'list a page',
      baseline: 'raw page, no total',
      mode: 'list',
      requests: ({ key }) => [wire('GET', '/v2/tokens?size=10', key)],
      isChange: false,
    },
    {
      path: 'search by index',
      baseline: 'raw page by term, no total',
      mode: 'search',
      requests: ({ key }) => [wire('POST', '/v2/tokens/search', key, search)],
      isChange: false,
    },
  ];
}

function createPaths(): Path[] {
  const single = JSON.stringify(card());
  const many = cards(BATCH);
  const create = ({ key }: VaultTenant) => [wire('POST', '/tokens', key, single)];
  return [
    {
      path: 'create a card',
      baseline: 'rows in own transaction',
      mode: 'create',
      requests: create,
      isChange: true,
      goal: { least: 2.5 },
    },
    { path: 'create a card', baseline: 'HTTP ceiling', mode: 'answer', requests: create, isChange: true },
    {
      path: `tokenize ${BATCH}`,
      baseline: 'batches by the driver',
      mode: 'batch',
      requests: ({ key }) => [wire('POST', '/tokenize', key, many)],
      isChange: true,
      connections: TOKENIZE_CONNECTIONS,
      unit: BATCH,
      goal: { least: 0.6 },
    },
  ];
}

function changePaths({ plan }: Bench, { port }: Product, ids: ReadonlyMap<VaultTenant, string[]>): Path[] {
  return [
    {
      path: 'patch a card',
      baseline: 'rows in own transaction',
      mode: 'patch',
      requests: onEach(ids, 'PATCH', JSON.stringify({ metadata: { customer: 'c-17' } })),
      isChange: true,
    },
    {
      path: 'delete a card',
      baseline: 'rows in own transaction',
      mode: 'delete',
      requests: async (tenant) => {
        const made = await seedTokens(port, tenant.key, DELETES_PER_SECOND * plan.seconds);
        return made.map((id) => wire('DELETE', `/tokens/${id}`, tenant.key));
      },
      isChange: true,
      isOnce: true,
    },
  ];
}

async function compare(
  { plan, workshop }: Bench,
  product: Product,
  tenants: { readonly ours: VaultTenant; readonly baseline: VaultTenant },
  path: Path,
): Promise<Comparison> {
  const baselineTenant = path.isChange ? tenants.baseline : tenants.ours;
  const answer = await call(product.port, tenants.ours.key, 'POST', '/tokens', JSON.stringify(card()));
  const options: BareVaultOptions = {
    mode: path.mode,
    socketDir: product.socketDir,
    tenantId: baselineTenant.id,
    answer,
    sealedBytes: SEALED_BYTES,
  };
  const bare = await startBaseline(workshop, 'bare-vault', options);
  const { connections = CONNECTIONS, isOnce = false } = path;
  const side = (port: number, tenant: VaultTenant, watched: Watched): Side => {
    let requests: readonly string[] = [];
    return {
      async prepare() {
        if (isOnce || requests.length === 0) requests = await path.requests(tenant);
      },
      run: () => runLoad(workshop, { port, requests, connections, seconds: plan.seconds, isOnce }),
      watched,
    };
  };
  const [below = [], ours = []] = await alternate(plan.rounds, [
    side(bare.port, baselineTenant, { api: bare.pid, database: product.database }),
    side(product.port, tenants.ours, product.watched),
  ]);
  await bare.stop();
  const { path: name, baseline, unit, goal } = path;
  return { path: name, baseline, ours, below, ...(unit && { unit }), ...(goal && { goal }) };
}
