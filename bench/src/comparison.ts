import type { Round } from './alternate.js';
import type { Bound } from './goals.js';
import { boundText, goalOf } from './goals.js';
import type { Goal, Table } from './page/results.js';
import { median, ratiosOf, spread } from './statistics.js';

/** A path of the product beside its baseline, measured in turns. */
export interface Comparison {
  readonly path: string;
  readonly baseline: string;
  readonly ours: readonly Round[];
  readonly below: readonly Round[] | undefined;
  /** What one request carries, where figures are about tokens. */
  readonly unit?: number;
  readonly goal?: Bound;
}

const HEAD = [
  'path',
  'baseline',
  'baseline/s',
  'product/s',
  'p50 ms',
  'p99 ms',
  'p99.9 ms',
  'baseline CPU µs',
  'API CPU µs',
  'PG CPU µs',
  'RSS MB',
  'load %',
  'ratio',
  'goal',
] as const;
const LOAD_BUSY = 0.9;

export function comparisonTable(title: string, comparisons: readonly Comparison[]): Table {
  return { title, head: HEAD, rows: comparisons.map(rowOf) };
}

export function comparisonGoals(comparisons: readonly Comparison[]): Goal[] {
  return comparisons.flatMap(({ path, baseline, ours, below, goal }) =>
    goal && below ? [goalOf(`${path}: ${baseline}`, ratios(ours, below), goal)] : [],
  );
}

/** A warning for every path whose load process had nothing left to give: its figure is a lower bound. */
export function loadNotes(comparisons: readonly Comparison[]): string[] {
  return comparisons
    .filter(({ ours, below = [] }) => [ours, below].some((rounds) => middle(rounds, 'loadShare') > LOAD_BUSY))
    .map(({ path, baseline }) => `${path} (${baseline}): the load process was busy; its rates are lower bounds.`);
}

function rowOf(comparison: Comparison): string[] {
  const { path, baseline, ours, below, unit = 1, goal } = comparison;
  const each = (name: keyof Round, rounds: readonly Round[]): string => (middle(rounds, name) / unit).toFixed(0);
  const rate = (rounds: readonly Round[]): string => (middle(rounds, 'perSecond') * unit).toFixed(0);
  const belowUs = below?.map(({ apiUs, databaseUs }) => (apiUs + databaseUs) / unit);
  return [
    path,
    baseline,
    below ? rate(below) : '',
    rate(ours),
    middle(ours, 'p50Ms').toFixed(1),
    middle(ours, 'p99Ms').toFixed(1),
    middle(ours, 'p999Ms').toFixed(1),
    belowUs ? median(belowUs).toFixed(0) : '',
    each('apiUs', ours),
    each('databaseUs', ours),
    Math.max(...ours.map(({ rssMb }) => rssMb)).toFixed(0),
    (100 * middle(ours, 'loadShare')).toFixed(0),
    below ? spread(ratios(ours, below), 2) : '',
    boundText(goal),
  ];
}

function ratios(ours: readonly Round[], below: readonly Round[]): number[] {
  const rates = (rounds: readonly Round[]): number[] => rounds.map(({ perSecond }) => perSecond);
  return ratiosOf(rates(ours), rates(below));
}

function middle(rounds: readonly Round[], name: keyof Round): number {
  return median(rounds.map((round) => round[name]));
}
