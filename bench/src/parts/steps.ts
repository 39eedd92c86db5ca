import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { goalOf } from '../goals.js';
import type { LargeBody } from '../neighbours/large-bodies.js';
import { hugeBodies, largeBodies } from '../neighbours/large-bodies.js';
import type { Findings } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { call } from '../requests.js';
import { median, spread } from '../statistics.js';
import { makeReactorTenant, makeVaultTenant } from '../tenants.js';

const PRELOAD = new URL('../watch/loop-delay.js', import.meta.url).href;
const POLL_MS = 5;
/** Of each body, behind one that warms up. */
const TIMES_OF_A_ROUND = 3;
const MOST_MS = 10;
const MOST_HUGE_MS = 40;

/** How long the event loop stands still for the heaviest request of each kind. */
export async function measureSteps({ plan, workshop, say }: Bench): Promise<Findings> {
  const file = join(await workshop.folder(), 'delay');
  const env = { NODE_OPTIONS: `--import=${PRELOAD}`, BENCH_LOOP_DELAY_FILE: file };
  const product = await startProduct(workshop, { env });
  const longest = createReader(product, file);
  const vault = await makeVaultTenant(product);
  const reactors = await makeReactorTenant(product);
  const { id } = JSON.parse(await call(product.port, vault.key, 'POST', '/tokens', JSON.stringify({ data: 'value' })));
  const rows: string[][] = [];
  const goals: Findings['goals'][number][] = [];
  const cases = [
    ...largeBodies(id).map((body) => ({ body, key: vault.key, most: MOST_MS })),
    ...hugeBodies().map((body) => ({ body, key: reactors.key, most: MOST_HUGE_MS })),
  ];
  for (const { body, key, most } of cases) {
    const steps: number[] = [];
    let answer = { status: 0, ms: 0 };
    for (let time = 0; time <= plan.rounds * TIMES_OF_A_ROUND; time += 1) {
      await longest();
      answer = await send(product, key, body);
      const step = await longest();
      if (time > 0) steps.push(step);
    }
    rows.push([body.name, `${answer.status}`, spread(steps, 1), median([answer.ms]).toFixed(0)]);
    goals.push(goalOf(`steps: ${body.name}, longest step in ms`, steps, { most }, 1));
    say(`${body.name}: ${spread(steps, 1)} ms`);
  }
  await product.stop();
  const head = ['request', 'status', 'longest step ms', 'whole request ms'];
  return { ...NOTHING, tables: [{ title: 'Longest step on the event loop', head, rows }], goals };
}

/** Asks the product how long its longest step was since it was asked before. */
function createReader({ pid }: Product, file: string): () => Promise<number> {
  let asked = 0;
  return async () => {
    asked += 1;
    process.kill(pid, 'SIGUSR2');
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      const [count, ms] = (await readFile(file, 'utf8').catch(() => '')).split(' ');
      if (Number(count) === asked) return Number(ms);
    }
  };
}

async function send({ port }: Product, key: string, { method, path, body }: LargeBody) {
  const startedMs = performance.now();
  const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json' };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: JSON.stringify(body) });
  await response.arrayBuffer();
  return { status: response.status, ms: performance.now() - startedMs };
}
