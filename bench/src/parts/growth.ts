import { boundText, goalOf } from '../goals.js';
import type { GrowthCurve } from '../growth-table.js';
import { growthGoal, growthPlot, growthTable, power } from '../growth-table.js';
import type { Findings, Table } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { call, cards, wire } from '../requests.js';
import { sampleGroups, samplesInAll } from '../samples.js';
import { fillTokens } from '../seed.js';
import type { VaultTenant } from '../tenants.js';
import { makeVaultTenant } from '../tenants.js';
import { costOf } from '../watch/cost.js';

const SIZES = [1_000, 100_000, 1_000_000] as const;
const SIZES_QUICK = [1_000, 5_000, 20_000] as const;
/** A number only these tokens have, so that a search finds the same few among any number. */
const RARE = '5555555555554444';
const RARE_TOKENS = 20;
const PAGE = 10;
const DEEP_STEPS = 5;
const DELETION_GOAL = { most: 1_000 };
const MEMORY_GOAL = { most: 250 };

interface Grown extends VaultTenant {
  readonly size: number;
}

/** Lists, searches, report, read and delete among few tokens and among many; then the end of the many. */
export async function measureGrowth(bench: Bench): Promise<Findings> {
  const sizes: readonly number[] = bench.plan.isQuick ? SIZES_QUICK : SIZES;
  const product = await startProduct(bench.workshop);
  const { result: filled, cost } = await costOf(product.watched, async () => {
    const tenants: Grown[] = [];
    let perSecond = 0;
    for (const size of sizes) {
      const tenant = { ...(await makeVaultTenant(product)), size };
      await call(product.port, tenant.key, 'POST', '/tokenize', cards(RARE_TOKENS, RARE));
      perSecond = await fillTokens(bench.workshop, product.port, tenant.key, size - RARE_TOKENS);
      bench.say(`${size} tokens through POST /tokenize, ${perSecond.toFixed(0)} a second`);
      tenants.push(tenant);
    }
    return { tenants, perSecond };
  });
  const curves: GrowthCurve[] = [];
  for (const [name, requestsOf] of asksOf(bench, product.port)) {
    bench.say(name);
    const groups: (readonly string[])[] = [];
    for (const tenant of filled.tenants) groups.push(await requestsOf(tenant));
    curves.push({ name, bySize: await sampleGroups(bench, product.port, groups) });
  }
  const largest = filled.tenants.at(-1);
  if (largest === undefined) throw new Error('assertion failed: there are sizes');
  const end = await measureDeletion(product, largest);
  await product.stop();
  const range = `${power(largest.size)} and ${power(sizes[0] ?? 0)} tokens of a tenant`;
  return {
    tables: [growthTable(`Tokens, ${PAGE} a page, one request at a time`, sizes, curves), end.table],
    goals: [
      growthGoal(`answers among ${range}`, curves),
      goalOf(`deleting a tenant with ${power(largest.size)} tokens, ms`, [end.ms], DELETION_GOAL, 0),
      goalOf('memory of the API while the tokens are made, MB', [cost.rssMb], MEMORY_GOAL, 0),
    ],
    plots: [growthPlot('tokens', 'Tokens: one answer among few and many', 'tokens of the tenant', sizes, curves)],
    notes: [`The largest tenant was filled through POST /tokenize at ${filled.perSecond.toFixed(0)} tokens a second.`],
  };
}

/** Deletes come last: they change what the others look at. */
function asksOf({ plan }: Bench, port: number): [string, (tenant: Grown) => Promise<readonly string[]>][] {
  const one = (method: string, path: string, body = '') => {
    return async ({ key }: Grown) => [wire(method, path, key, body)];
  };
  const search = (query: string): string => JSON.stringify({ query, size: PAGE });
  return [
    ['list page with its total', one('GET', `/tokens?size=${PAGE}`)],
    ['list by type with its total', one('GET', `/tokens?size=${PAGE}&type=card`)],
    ['cursor page 50', async (tenant) => [wire('GET', await deepPath(port, tenant), tenant.key)]],
    ['search by index', one('POST', '/tokens/search', search(`data:${RARE}`))],
    [
      'search by index and more',
      one('POST', '/tokens/search', search(`data:${RARE} AND type:card AND NOT metadata.a:b`)),
    ],
    ['usage report', async ({ managementKey }) => [wire('GET', '/tenants/self/reports/usage', managementKey)]],
    ['read', async (tenant) => eachToken(port, tenant, 'GET', Math.min(samplesInAll(plan), tenant.size / 2))],
    ['delete', async (tenant) => eachToken(port, tenant, 'DELETE', samplesInAll(plan))],
  ];
}

async function deepPath(port: number, { key }: Grown): Promise<string> {
  let start = '';
  for (let page = 0; page < DEEP_STEPS; page += 1) start = `&start=${(await pageOf(port, key, start)).after}`;
  return `/v2/tokens?size=${PAGE}${start}`;
}

/** Requests on so many tokens, each on one of its own. */
async function eachToken(port: number, { key }: Grown, method: string, count: number): Promise<string[]> {
  const requests: string[] = [];
  let start = '';
  while (requests.length < count) {
    const page = await pageOf(port, key, start);
    requests.push(...page.ids.map((id) => wire(method, `/tokens/${id}`, key)));
    if (page.after === undefined) break;
    start = `&start=${page.after}`;
  }
  if (requests.length < count) throw new Error(`there are only ${requests.length} tokens for ${count} samples`);
  return requests.slice(0, count);
}

async function pageOf(port: number, key: string, start: string): Promise<{ ids: string[]; after: string | undefined }> {
  const text = await call(port, key, 'GET', `/v2/tokens?size=100${start}`);
  const page: { data: { id: string }[]; pagination: { after?: string } } = JSON.parse(text);
  return { ids: page.data.map(({ id }) => id), after: page.pagination.after };
}

async function measureDeletion({ port }: Product, tenant: Grown): Promise<{ table: Table; ms: number }> {
  const { ids } = await pageOf(port, tenant.key, '');
  const startedMs = performance.now();
  await call(port, tenant.managementKey, 'DELETE', '/tenants/self');
  const ms = performance.now() - startedMs;
  const after = await fetch(`http://127.0.0.1:${port}/tokens/${ids[0]}`, { headers: { 'SVC-API-KEY': tenant.key } });
  if (after.status !== 401) throw new Error(`a read right after the deletion answered ${after.status}`);
  const title = `Deleting a tenant with ${power(tenant.size)} tokens`;
  const head = ['call ms', 'goal', 'a read right after'];
  return { table: { title, head, rows: [[ms.toFixed(1), boundText(DELETION_GOAL, 0), String(after.status)]] }, ms };
}
