import type { Round } from '../alternate.js';
import { alternate } from '../alternate.js';
import type { Comparison } from '../comparison.js';
import { comparisonGoals, comparisonTable, loadNotes } from '../comparison.js';
import { runLoad } from '../load/run.js';
import type { Findings } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { wire } from '../requests.js';
import { startBaseline } from '../scripts.js';

const CONNECTIONS = 64;
const PATHS = ['/tenants/self', '/permissions'] as const;
const GOAL = { least: 0.65 };
const HOP_HEADERS = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding']);

/**
 * Reads from memory against bare `node:http` that answers the same bytes. How well a process was compiled is luck that
 * lasts for its life and is worth a sixth either way, so both sides are started anew for every round.
 */
export async function measureHttp(bench: Bench): Promise<Findings> {
  const turns: Turns[] = PATHS.map((path) => ({ path, ours: [], below: [] }));
  for (let round = 0; round < bench.plan.rounds; round += 1) {
    const product = await startProduct(bench.workshop);
    for (const turn of turns) await takeTurn(bench, product, turn);
    await product.stop();
  }
  const comparisons = turns.map(
    ({ path, ours, below }): Comparison => ({
      path: `GET ${path}`,
      baseline: 'bare node:http',
      ours,
      below,
      goal: GOAL,
    }),
  );
  const title = `Reads against bare node:http with the same bytes, ${CONNECTIONS} connections`;
  return {
    ...NOTHING,
    tables: [comparisonTable(title, comparisons)],
    goals: comparisonGoals(comparisons),
    notes: loadNotes(comparisons),
  };
}

interface Turns {
  readonly path: string;
  readonly ours: Round[];
  readonly below: Round[];
}

async function takeTurn({ plan, workshop }: Bench, product: Product, { path, ours, below }: Turns): Promise<void> {
  const sample = await fetch(`http://127.0.0.1:${product.port}${path}`, { headers: { 'SVC-API-KEY': product.key } });
  const body = await sample.text();
  if (!sample.ok) throw new Error(`GET ${path} answered ${sample.status}`);
  const headers = Object.fromEntries([...sample.headers].filter(([name]) => !HOP_HEADERS.has(name)));
  const bare = await startBaseline(workshop, 'bare-http', { headers, body });
  const requests = [wire('GET', path, product.key)];
  const run = (port: number) => () =>
    runLoad(workshop, { port, requests, connections: CONNECTIONS, seconds: plan.seconds });
  const [baselineRounds = [], productRounds = []] = await alternate(1, [
    { run: run(bare.port), watched: { api: bare.pid, database: undefined } },
    { run: run(product.port), watched: product.watched },
  ]);
  await bare.stop();
  below.push(...baselineRounds);
  ours.push(...productRounds);
}
