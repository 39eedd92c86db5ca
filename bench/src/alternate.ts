import type { LoadResult } from './load/closed.js';
import type { Cost, Watched } from './watch/cost.js';
import { costOf } from './watch/cost.js';

/** One of those that are compared. */
export interface Side {
  /** What a round needs before it is measured. */
  readonly prepare?: (round: number) => Promise<void>;
  readonly run: (round: number) => Promise<LoadResult>;
  readonly watched: Watched;
  /** Load and work are one process where the bare driver is measured: its time is the work's. */
  readonly isOwnLoad?: boolean;
}

export interface Round {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Processor time a request, in microseconds. */
  readonly apiUs: number;
  readonly databaseUs: number;
  /** How much of one core the load took. Near 1 the load is what was measured. */
  readonly loadShare: number;
  readonly rssMb: number;
}

/** Turn by turn, so that whatever else the machine does falls on every side. Round 0 only warms up. */
export async function alternate(rounds: number, sides: readonly Side[]): Promise<Round[][]> {
  const found: Round[][] = sides.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [place, side] of sides.entries()) {
      await side.prepare?.(round);
      const { result, cost } = await costOf(side.watched, () => side.run(round));
      if (round > 0) found[place]?.push(roundOf(result, cost, side.isOwnLoad ?? false));
    }
  }
  return found;
}

function roundOf(result: LoadResult, cost: Cost, isOwnLoad: boolean): Round {
  const { perSecond, p50Ms, p99Ms, p999Ms, requests } = result;
  const us = (seconds: number): number => (seconds / requests) * 1e6;
  return {
    perSecond,
    p50Ms,
    p99Ms,
    p999Ms,
    apiUs: us(isOwnLoad ? result.cpuSeconds : cost.apiSeconds),
    databaseUs: us(cost.databaseSeconds),
    loadShare: isOwnLoad ? 0 : result.cpuSeconds / result.seconds,
    rssMb: cost.rssMb,
  };
}
