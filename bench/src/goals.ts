import type { Goal } from './page/results.js';
import { spread, summaryOf } from './statistics.js';

/** What a figure has to reach, or must not pass. */
export type Bound = { readonly least: number } | { readonly most: number };

export function boundText(bound: Bound | undefined, digits = 2): string {
  if (bound === undefined) return '';
  return 'least' in bound ? `>= ${bound.least.toFixed(digits)}` : `<= ${bound.most.toFixed(digits)}`;
}

/** Judged by the middle of the rounds; the spread stands beside it. */
export function goalOf(what: string, values: readonly number[], bound: Bound, digits = 2): Goal {
  const { mid } = summaryOf(values);
  const isMet = 'least' in bound ? mid >= bound.least : mid <= bound.most;
  const measured = values.length === 1 ? mid.toFixed(digits) : spread(values, digits);
  return { what, wanted: boundText(bound, digits), measured, isMet };
}
