import type { Comparison } from '../comparison.js';
import { comparisonGoals, comparisonTable, loadNotes } from '../comparison.js';
import { runLoad } from '../load/run.js';
import type { Findings } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { wire } from '../requests.js';
import { startFloor } from '../scripts.js';
import { takeTurns } from '../turns.js';

const CONNECTIONS = 64;
const PATHS = ['/tenants/self', '/permissions'] as const;
const GOAL = { least: 0.8 };
const HOP_HEADERS = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding']);

/** Reads from memory against bare `node:http` that answers the same bytes. */
export async function measureHttp(bench: Bench): Promise<Findings> {
  const product = await startProduct(bench.workshop);
  const comparisons: Comparison[] = [];
  for (const path of PATHS) comparisons.push(await compare(bench, product, path));
  await product.stop();
  const title = `Reads against bare node:http with the same bytes, ${CONNECTIONS} connections`;
  return {
    ...NOTHING,
    tables: [comparisonTable(title, comparisons)],
    goals: comparisonGoals(comparisons),
    notes: loadNotes(comparisons),
  };
}

async function compare({ plan, workshop }: Bench, product: Product, path: string): Promise<Comparison> {
  const sample = await fetch(`http://127.0.0.1:${product.port}${path}`, { headers: { 'SVC-API-KEY': product.key } });
  const body = await sample.text();
  if (!sample.ok) throw new Error(`GET ${path} answered ${sample.status}`);
  const headers = Object.fromEntries([...sample.headers].filter(([name]) => !HOP_HEADERS.has(name)));
  const bare = await startFloor(workshop, 'bare-http', { headers, body });
  const requests = [wire('GET', path, product.key)];
  const run = (port: number) => () =>
    runLoad(workshop, { port, requests, connections: CONNECTIONS, seconds: plan.seconds });
  const [below = [], ours = []] = await takeTurns(plan.rounds, [
    { run: run(bare.port), watched: { api: bare.pid, database: undefined } },
    { run: run(product.port), watched: product.watched },
  ]);
  await bare.stop();
  return { path: `GET ${path}`, floor: 'bare node:http', ours, below, goal: GOAL };
}
