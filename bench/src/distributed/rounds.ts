import { runLoad } from '../load/run.js';
import type { Bench } from '../plan.js';
import { isPostgres, readProcesses, treeOf } from '../watch/process-tree.js';
import type { Arrangement } from './arrangement.js';

/** What one round found, with the processor time a request of each server apart. */
export interface DistributedRound {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly apiUs: number;
  readonly serversUs: readonly number[];
  readonly loadShare: number;
}

export interface DistributedSide {
  readonly arrangement: Arrangement;
  readonly requests: readonly string[];
}

const US_PER_TICK = 10_000;

/** Turn by turn, so that whatever else the machine does falls on all of them. Round 0 only warms up. */
export async function inTurns(
  { plan, workshop }: Bench,
  sides: readonly DistributedSide[],
  connections: number,
): Promise<DistributedRound[][]> {
  const found: DistributedRound[][] = sides.map(() => []);
  for (let round = 0; round <= plan.rounds; round += 1) {
    for (const [place, { arrangement, requests }] of sides.entries()) {
      const { port } = arrangement.product;
      const before = await ticksOf(arrangement);
      const result = await runLoad(workshop, { port, requests, connections, seconds: plan.seconds });
      const after = await ticksOf(arrangement);
      const [apiUs = 0, ...serversUs] = after.map(
        (ticks, process) => ((ticks - (before[process] ?? 0)) * US_PER_TICK) / result.requests,
      );
      const { perSecond, p50Ms, cpuSeconds, seconds } = result;
      if (round > 0) found[place]?.push({ perSecond, p50Ms, apiUs, serversUs, loadShare: cpuSeconds / seconds });
    }
  }
  return found;
}

/** Milliseconds of processor time a second while nobody asks for anything: of the API, then of each server. */
export async function idleCost(arrangement: Arrangement, seconds: number): Promise<number[]> {
  const before = await ticksOf(arrangement);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const after = await ticksOf(arrangement);
  return after.map((ticks, process) => ((ticks - (before[process] ?? 0)) * US_PER_TICK) / seconds / 1_000);
}

/** Of the API, then of each server. */
async function ticksOf({ product, servers }: Arrangement): Promise<number[]> {
  const rows = await readProcesses();
  const sum = (chosen: typeof rows): number => chosen.reduce((total, { ticks }) => total + ticks, 0);
  return [
    sum(treeOf(rows, product.pid).filter((row) => !isPostgres(row))),
    ...servers.map((server) => sum(treeOf(rows, server.pid()).filter(isPostgres))),
  ];
}
