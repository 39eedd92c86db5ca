import type { CountedRun } from './figures.js';
import { bucketOf } from './histogram.js';

/** The names of the stored counters. They are a stored format: a name keeps its meaning. */
export const CALLS = 'calls';
export const COLD_STARTS = 'cold';
export const ERROR_PREFIX = 'error:';
export const DURATION_PREFIX = 'ms:';

const DAY_MS = 86_400_000;

/** The day in UTC, counted from 1970-01-01. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** `2030-01-31` */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** The counters that grow by one. A call whose code did not begin has no duration: how long it waited says nothing of the code. */
export function figuresOf({ durationMs, isCold, failure }: Omit<CountedRun, 'tenantId' | 'definitionId'>): string[] {
  return [
    CALLS,
    ...(failure === undefined ? [] : [`${ERROR_PREFIX}${failure}`]),
    ...(failure === 'not_run' ? [] : [`${DURATION_PREFIX}${bucketOf(durationMs)}`]),
    ...(isCold ? [COLD_STARTS] : []),
  ];
}
