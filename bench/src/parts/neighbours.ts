import { goalOf } from '../goals.js';
import type { LoadResult } from '../load/closed.js';
import type { Second } from '../load/open.js';
import { runLoad, runOpenLoad, runRefusableLoad } from '../load/run.js';
import { LARGE_BODIES } from '../neighbours/bodies.js';
import type { NeighbourCase, Stream, Streams } from '../neighbours/case.js';
import { SEARCHES_WITHOUT_INDEX } from '../neighbours/searches.js';
import { CREATES_WITH_A_TAKEN_ID } from '../neighbours/taken-ids.js';
import type { Findings } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { median, ratiosOf, spread } from '../statistics.js';
import { makeVaultTenant } from '../tenants.js';
import { costOf } from '../watch/cost.js';

const CASES: readonly NeighbourCase[] = [SEARCHES_WITHOUT_INDEX, CREATES_WITH_A_TAKEN_ID, ...LARGE_BODIES];
/** Long enough for what the hostile tenant does to be under way on all its connections. */
const LEAD_MS = 1_000;

/** What one tenant keeps of its rate while another does its worst, each case on a product of its own. */
export async function measureNeighbours(bench: Bench): Promise<Findings> {
  const rows: string[][] = [];
  const goals: Findings['goals'][number][] = [];
  for (const each of CASES) {
    const { alone, beside, answers, rssMb } = await measureCase(bench, each);
    const kept = ratiosOf(rates(beside), rates(alone));
    goals.push(goalOf(`neighbours: ${each.name}, rate kept`, kept, each.wanted));
    rows.push([each.name, ...figuresOf(alone), ...figuresOf(beside), spread(kept, 2), rssMb.toFixed(0), answers]);
    bench.say(`${each.name}: keeps ${spread(kept, 2)}`);
  }
  const side = (name: string) => [`${name}/s`, `${name} p50 ms`, `${name} p99 ms`];
  return {
    ...NOTHING,
    tables: [
      {
        title: 'A tenant alone, and beside another that does its worst',
        head: ['what', ...side('alone'), ...side('beside'), 'rate kept', 'RSS MB', 'answers to the other'],
        rows,
      },
    ],
    goals,
  };
}

interface Measured {
  readonly alone: readonly LoadResult[];
  readonly beside: readonly LoadResult[];
  /** Most resident memory of the API in any round. */
  readonly rssMb: number;
  /** What the hostile tenant was answered in the last round. */
  readonly answers: string;
}

async function measureCase({ plan, workshop }: Bench, { prepare }: NeighbourCase): Promise<Measured> {
  const product = await startProduct(workshop);
  const [neighbour, hostile] = [await makeVaultTenant(product), await makeVaultTenant(product)];
  const streams = await prepare({ product, neighbour, hostile, isQuick: plan.isQuick });
  const alone: LoadResult[] = [];
  const beside: LoadResult[] = [];
  let answers = '';
  let rssMb = 0;
  for (let round = 0; round <= plan.rounds; round += 1) {
    const quiet = await runLoad(workshop, { port: product.port, ...streams.neighbour, seconds: plan.seconds });
    const both = () => runBoth(workshop, product, streams, plan.seconds);
    const { result: loud, cost } = await costOf(product.watched, both);
    answers = loud.answers;
    rssMb = Math.max(rssMb, cost.rssMb);
    // The first round only warms up.
    if (round === 0) continue;
    alone.push(quiet);
    beside.push(loud.neighbour);
  }
  await product.stop();
  return { alone, beside, answers, rssMb };
}

async function runBoth(
  workshop: Bench['workshop'],
  { port }: Product,
  { neighbour, hostile }: Streams,
  seconds: number,
): Promise<{ readonly neighbour: LoadResult; readonly answers: string }> {
  const flood = runFlood(workshop, port, hostile, seconds + (2 * LEAD_MS) / 1_000);
  await new Promise((resolve) => setTimeout(resolve, LEAD_MS));
  const result = await runLoad(workshop, { port, ...neighbour, seconds });
  return { neighbour: result, answers: await flood };
}

/** Gives what it was answered. */
async function runFlood(
  workshop: Bench['workshop'],
  port: number,
  { perSecond, ...stream }: Stream,
  seconds: number,
): Promise<string> {
  if (perSecond === undefined) return answersOf(await runRefusableLoad(workshop, { port, ...stream, seconds }));
  const { seconds: tallies } = await runOpenLoad(workshop, { port, ...stream, phases: [{ seconds, perSecond }] });
  const sum = (pick: (second: Second) => number) => tallies.reduce((total, second) => total + pick(second), 0);
  const offered = sum((second) => second.offered);
  return `${offered - sum(({ unsent, lost }) => unsent + lost)} of ${offered} offered`;
}

function rates(results: readonly LoadResult[]): number[] {
  return results.map(({ perSecond }) => perSecond);
}

function figuresOf(results: readonly LoadResult[]): string[] {
  return [
    spread(rates(results), 0),
    median(results.map(({ p50Ms }) => p50Ms)).toFixed(1),
    median(results.map(({ p99Ms }) => p99Ms)).toFixed(1),
  ];
}

function answersOf({ requests, refused, perSecond }: LoadResult): string {
  const others = Object.entries(refused).map(([status, count]) => `, ${count} × ${status}`);
  return `${requests} (${perSecond.toFixed(0)}/s)${others.join('')}`;
}
