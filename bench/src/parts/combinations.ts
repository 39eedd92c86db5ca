import type { GrowthCurve } from '../growth-table.js';
import { growthGoal, growthPlot, growthTable } from '../growth-table.js';
import type { Findings } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { call, wire } from '../requests.js';
import { sampleGroups } from '../samples.js';

/** Up to as many as a tenant may have. */
const SIZES = [10, 1_000, 10_000] as const;
/**
 * The total of what a rule covers is added up over its combinations, half a microsecond each, and the page names them to the
 * server. Before there was a bound and a memory it was thirteen times as long.
 */
const GOAL = { most: 8 };
const BATCH = 100;
const PAGE = 20;
/** Of a tenant's combinations, one in so many lies under the narrow rule. */
const NARROW = 10;
const RIGHTS = ['token:create', 'token:read', 'token:search'];

interface Tenant {
  readonly key: string;
  readonly wide: string;
  readonly narrow: string;
}

/** Lists of keys that see by rules, among few and many combinations of containers. */
export async function measureCombinations(bench: Bench): Promise<Findings> {
  const product = await startProduct(
    bench.workshop,
    bench.plan.against === undefined ? {} : { checkout: bench.plan.against },
  );
  const tenants: Tenant[] = [];
  for (const size of SIZES) {
    tenants.push(await makeTenant(product, size));
    bench.say(`${size} combinations`);
  }
  const curves: GrowthCurve[] = [];
  for (const [name, requestOf] of ASKS) {
    bench.say(name);
    const groups = tenants.map((tenant) => [requestOf(tenant)]);
    curves.push({ name, bySize: await sampleGroups(bench, product.port, groups) });
  }
  await product.stop();
  const title = `Lists of ${PAGE} by rules, one request at a time, by combinations of containers`;
  return {
    ...NOTHING,
    tables: [growthTable(title, SIZES, curves, GOAL)],
    goals: [growthGoal('lists by rules among 10^4 and 10 combinations', curves, GOAL)],
    plots: [growthPlot('combinations', 'Lists by rules', 'combinations of containers', SIZES, curves)],
  };
}

const search = JSON.stringify({ query: 'type:token', size: PAGE });
const ASKS: readonly [string, (tenant: Tenant) => string][] = [
  ['list, a rule on all', ({ wide }) => wire('GET', `/tokens?size=${PAGE}`, wide)],
  ['list, a rule on a tenth', ({ narrow }) => wire('GET', `/tokens?size=${PAGE}`, narrow)],
  ['cursor list, a rule on all', ({ wide }) => wire('GET', `/v2/tokens?size=${PAGE}`, wide)],
  ['search by type, a rule on all', ({ wide }) => wire('POST', '/tokens/search', wide, search)],
  ['list, plain permissions', ({ key }) => wire('GET', `/tokens?size=${PAGE}`, key)],
];

async function makeTenant(product: Product, size: number): Promise<Tenant> {
  const tenantId = await product.command('tenant', 'create', '--name', 'Benchmark');
  const make = async (type: string, permissions: readonly string[]): Promise<string> => {
    const words = ['application', 'create', '--tenant', tenantId, '--type', type, '--json'];
    const given = permissions.flatMap((name) => ['--permission', name]);
    const made: { key: string } = JSON.parse(await product.command(...words, ...given));
    return made.key;
  };
  const management = await make('management', ['application:create']);
  const key = await make('private', RIGHTS);
  const byRule = async (container: string): Promise<string> => {
    const rules = [{ priority: 1, container, transform: 'reveal', permissions: RIGHTS }];
    const body = JSON.stringify({ name: 'By rule', type: 'private', rules });
    const made: { key: string } = JSON.parse(await call(product.port, management, 'POST', '/applications', body));
    return made.key;
  };
  for (let from = 0; from < size; from += BATCH) {
    const tokens = Array.from({ length: Math.min(BATCH, size - from) }, (_, n) => ({
      type: 'token',
      data: 'x',
      containers: [`/c/${(from + n) % NARROW}/${from + n}/`],
    }));
    await call(product.port, key, 'POST', '/tokenize', JSON.stringify(tokens));
  }
  return { key, wide: await byRule('/c/'), narrow: await byRule('/c/0/') };
}
