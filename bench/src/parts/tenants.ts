import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runLoad } from '../load/run.js';
import type { MakeTenantsOptions } from '../make-tenants.js';
import type { Findings } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { card, wire } from '../requests.js';
import { runScript } from '../scripts.js';
import type { Latencies } from '../statistics.js';
import { median, ratiosOf, spread } from '../statistics.js';
import { apiPids, residentMb } from '../watch/cost.js';

const COUNT = 100_000;
const COUNT_QUICK = 2_000;
const COLD = 1_000;
const COLD_QUICK = 100;
const TOUCHED = 20_000;
const TOUCHED_QUICK = 1_000;
const CONNECTIONS = 64;

interface Started {
  readonly seconds: number[];
  readonly rssMb: number[];
}

interface Path {
  readonly name: string;
  readonly request: (key: string) => string;
}

/** Few tenants and very many: start, memory, and what the first request of a tenant costs that nobody remembers. */
export async function measureTenants(bench: Bench): Promise<Findings> {
  const { workshop } = bench;
  const [count, cold, touched] = bench.plan.isQuick ? [COUNT_QUICK, COLD_QUICK, TOUCHED_QUICK] : [COUNT, COLD, TOUCHED];
  const dataDir = join(await workshop.folder(), 'data');
  const first = await startProduct(workshop, { dataDir });
  const { key } = first;
  await first.stop();
  const few = await measureStarts(bench, dataDir, key);
  const maker = await startProduct(workshop, { dataDir, key });
  const keyFile = join(await workshop.folder(), 'keys');
  const startedMs = performance.now();
  const options: MakeTenantsOptions = { socketDir: maker.socketDir, count, keyFile };
  await runScript(workshop, 'make-tenants', options, maker.env);
  bench.say(`${count} tenants in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
  await maker.stop();
  const keys = (await readFile(keyFile, 'utf8')).split('\n');
  const many = await measureStarts(bench, dataDir, key);

  const product = await startProduct(workshop, { dataDir, key });
  const memory = async (): Promise<string> => (await residentMb(await apiPids(product.pid))).toFixed(0);
  const atStart = await memory();
  const rows: string[][] = [];
  for (const [place, path] of PATHS.entries()) {
    rows.push(await compareColdAndWarm(bench, product, keys.slice(place * cold, (place + 1) * cold), path));
  }
  const requests = keys.slice(-touched).map((own) => CREATE.request(own));
  const swept = await runLoad(workshop, {
    port: product.port,
    requests,
    connections: CONNECTIONS,
    seconds: 600,
    isOnce: true,
  });
  const afterTouch = await memory();
  await product.stop();
  return {
    ...NOTHING,
    tables: [
      {
        title: 'Start with few tenants and with many',
        head: ['tenants', 'seconds to ready', 'RSS MB when ready'],
        rows: [
          ['1', spread(few.seconds, 2), spread(few.rssMb, 0)],
          [String(count + 1), spread(many.seconds, 2), spread(many.rssMb, 0)],
        ],
      },
      {
        title: `The first request of a tenant and its second, ${cold} tenants each, one at a time`,
        head: ['request', 'first p50 ms', 'first p99 ms', 'second p50 ms', 'second p99 ms', 'first / second'],
        rows,
      },
      {
        title: `A token in each of ${touched} tenants, none of them seen before, ${CONNECTIONS} connections`,
        head: ['tenants a second', 'p50 ms', 'p99 ms', 'RSS MB before', 'RSS MB after'],
        rows: [[swept.perSecond.toFixed(0), swept.p50Ms.toFixed(1), swept.p99Ms.toFixed(1), atStart, afterTouch]],
      },
    ],
  };
}

const CREATE: Path = {
  name: 'POST /tokens, which opens the keys of the tenant',
  request: (key) => wire('POST', '/tokens', key, JSON.stringify(card())),
};
const PATHS: readonly Path[] = [
  { name: 'GET /v2/tokens', request: (key) => wire('GET', '/v2/tokens?size=1', key) },
  CREATE,
];

async function measureStarts({ plan, workshop }: Bench, dataDir: string, key: string): Promise<Started> {
  const found: Started = { seconds: [], rssMb: [] };
  for (let round = 0; round < plan.rounds; round += 1) {
    const product = await startProduct(workshop, { dataDir, key });
    found.seconds.push(product.readySeconds);
    found.rssMb.push(await residentMb(await apiPids(product.pid)));
    await product.stop();
  }
  return found;
}

/** Other tenants in each round: a tenant is cold once. The first round only warms the path up. */
async function compareColdAndWarm(
  { plan, workshop }: Bench,
  { port }: Product,
  keys: readonly string[],
  path: Path,
): Promise<string[]> {
  const share = Math.floor(keys.length / (plan.rounds + 1));
  const cold: Latencies[] = [];
  const warm: Latencies[] = [];
  for (let round = 0; round <= plan.rounds; round += 1) {
    const requests = keys.slice(round * share, (round + 1) * share).map((key) => path.request(key));
    const options = { port, requests, connections: 1, seconds: 600, isOnce: true };
    const [first, second] = [await runLoad(workshop, options), await runLoad(workshop, options)];
    if (round === 0) continue;
    cold.push(first);
    warm.push(second);
  }
  const p50 = (found: Latencies[]): number[] => found.map(({ p50Ms }) => p50Ms);
  const shown = (found: Latencies[]): string[] => [
    median(p50(found)).toFixed(2),
    median(found.map(({ p99Ms }) => p99Ms)).toFixed(2),
  ];
  return [path.name, ...shown(cold), ...shown(warm), spread(ratiosOf(p50(cold), p50(warm)), 2)];
}
