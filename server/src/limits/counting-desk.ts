import type { LimitRow } from './catalogue.js';
import type { MemoryCounter } from './memory-counter.js';
import { WINDOW_MS } from './window.js';

/** One request to be counted, as it travels between processes: the client, then ordinal, requests and blockMs a limit. */
export type CountAsk = readonly [limitKey: string, ...limits: number[]];

/** 0 for a request that may go on; else which of its limits refuses, and for how many milliseconds. */
export type CountAnswer = 0 | readonly [limit: number, retryAfterMs: number];

const NUMBERS_PER_LIMIT = 3;

export function askFor(limitKey: string, rows: readonly LimitRow[]): CountAsk {
  return [limitKey, ...rows.flatMap(({ ordinal, requests, blockMs }) => [ordinal, requests, blockMs])];
}

/** The one counter of several processes: answers a batch in the order it was asked. */
export function answerAsks(counter: MemoryCounter, asks: readonly CountAsk[]): CountAnswer[] {
  return asks.map(([limitKey, ...limits]) => {
    const rows = rowsOf(limits);
    const verdict = counter.check(limitKey, rows);
    return verdict.isAllowed ? 0 : [rows.indexOf(verdict.row), verdict.retryAfterMs];
  });
}

/** A counter looks at these three numbers alone; the rest of a row is for people. */
function rowsOf(limits: readonly number[]): LimitRow[] {
  const rows: LimitRow[] = [];
  for (let at = 0; at < limits.length; at += NUMBERS_PER_LIMIT) {
    const [ordinal = 0, requests = 0, blockMs = 0] = limits.slice(at, at + NUMBERS_PER_LIMIT);
    rows.push({ name: 'global', label: '', windowMs: WINDOW_MS, ordinal, requests, blockMs });
  }
  return rows;
}
