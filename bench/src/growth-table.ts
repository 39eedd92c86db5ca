import type { Bound } from './goals.js';
import { boundText, goalOf } from './goals.js';
import type { Plot } from './page/plot.js';
import type { Goal, Table } from './page/results.js';
import type { Latencies } from './statistics.js';
import { median, ratiosOf, spread, summaryOf } from './statistics.js';

/** One request among ever more rows: latencies by size, each by round. */
export interface GrowthCurve {
  readonly name: string;
  readonly bySize: readonly (readonly Latencies[])[];
}

export const GROWTH_GOAL: Bound = { most: 1.3 };

export function growthTable(
  title: string,
  sizes: readonly number[],
  curves: readonly GrowthCurve[],
  goal: Bound = GROWTH_GOAL,
): Table {
  const head = ['request', ...sizes.flatMap((size) => [`p50 ms at ${power(size)}`, `p99 at ${power(size)}`])];
  return {
    title,
    head: [...head, 'largest / smallest', 'goal'],
    rows: curves.map((curve) => [
      curve.name,
      ...curve.bySize.flatMap((rounds) => [
        median(rounds.map(({ p50Ms }) => p50Ms)).toFixed(2),
        median(rounds.map(({ p99Ms }) => p99Ms)).toFixed(2),
      ]),
      spread(growthRatios(curve), 2),
      boundText(goal),
    ]),
  };
}

/** The worst of the curves decides. */
export function growthGoal(what: string, curves: readonly GrowthCurve[], goal: Bound = GROWTH_GOAL): Goal {
  const worst = [...curves].sort((a, b) => median(growthRatios(b)) - median(growthRatios(a)))[0];
  if (worst === undefined) throw new Error('assertion failed: there is a curve');
  return goalOf(`${what} (worst: ${worst.name})`, growthRatios(worst), goal);
}

export function growthPlot(
  name: string,
  title: string,
  xLabel: string,
  sizes: readonly number[],
  curves: readonly GrowthCurve[],
): Plot {
  return {
    name,
    title,
    x: { label: xLabel, scale: 'log' },
    y: { label: 'median ms of an answer', scale: 'log' },
    series: curves.map((curve) => ({
      name: curve.name,
      points: curve.bySize.map((rounds, place) => {
        const { mid, low, high } = summaryOf(rounds.map(({ p50Ms }) => p50Ms));
        return { x: sizes[place] ?? 0, y: mid, low, high };
      }),
    })),
  };
}

/** `10^6` for whole powers of ten, else the number. */
export function power(size: number): string {
  const exponent = Math.log10(size);
  return Number.isInteger(exponent) && exponent > 2 ? `10^${exponent}` : String(size);
}

function growthRatios({ bySize }: GrowthCurve): number[] {
  const p50 = (rounds: readonly Latencies[] = []): number[] => rounds.map(({ p50Ms }) => p50Ms);
  return ratiosOf(p50(bySize.at(-1)), p50(bySize[0]));
}
