import type { Clock } from '../kernel/clock.js';
import { createAddressHash } from './address-hash.js';
import type { LimitRow } from './catalogue.js';
import { ALLOWED, type RateCounter, type Verdict } from './rate-counter.js';
import { createSlotTable, NO_SLOT } from './slot-table.js';
import { advance, clear, count, sliceAt, WINDOW_SLICES } from './window.js';

export const SLOTS_DEFAULT = 65_536;

export interface MemoryCounterOptions {
  readonly clock: Clock;
  /** Eight random bytes, new for each process. */
  readonly seed: Uint8Array;
  /** Pairs of client and limit remembered at once, a power of two. Each takes 222 bytes: 14 MiB unless told. */
  readonly slots?: number;
}

export interface MemoryCounter extends RateCounter {
  check(limitKey: string, rows: readonly LimitRow[]): Verdict;
}

/** Odd constants that spread the limits of one client over the table. */
const ROW_LOW = 0x9e3779b1;
const ROW_HIGH = 0x85ebca6b;

/** Counts in this process, in memory of fixed size, without timers. */
export function createMemoryCounter(options: MemoryCounterOptions): MemoryCounter {
  const { clock } = options;
  const hash = createAddressHash(options.seed);
  const { rings, sums, lastSlices, blockedUntilMs, find, claim } = createSlotTable(options.slots ?? SLOTS_DEFAULT);
  const hashed = new Int32Array(2);
  const startMs = clock.monotonicMs();

  function blockLeft(slot: number, nowMs: number): number {
    return slot === NO_SLOT ? 0 : Math.max(0, (blockedUntilMs[slot] ?? 0) - nowMs);
  }

  /** Counts one request, and returns how long the client stays blocked: 0 if it may go on. */
  function hit(row: LimitRow, tagLow: number, tagHigh: number, nowMs: number): number {
    const slice = sliceAt(nowMs);
    const found = find(tagLow, tagHigh);
    const left = blockLeft(found, nowMs);
    if (left > 0) return left;
    const slot = found === NO_SLOT ? claim(tagLow, tagHigh, nowMs, slice) : found;
    const offset = slot * WINDOW_SLICES;
    const sum = advance(rings, offset, sums[slot] ?? 0, lastSlices[slot] ?? 0, slice);
    lastSlices[slot] = slice;
    if (sum >= row.requests) {
      clear(rings, offset);
      sums[slot] = 0;
      blockedUntilMs[slot] = nowMs + row.blockMs;
      return row.blockMs;
    }
    count(rings, offset, slice);
    sums[slot] = sum + 1;
    return 0;
  }

  return {
    check(limitKey, rows) {
      const nowMs = clock.monotonicMs() - startMs;
      hash(limitKey, hashed);
      let longest: LimitRow | undefined;
      let retryAfterMs = 0;
      let isCounting = true;
      for (const row of rows) {
        const tagLow = (hashed[0] ?? 0) ^ Math.imul(row.ordinal + 1, ROW_LOW);
        const tagHigh = (hashed[1] ?? 0) ^ Math.imul(row.ordinal + 1, ROW_HIGH);
        const left = isCounting ? hit(row, tagLow, tagHigh, nowMs) : blockLeft(find(tagLow, tagHigh), nowMs);
        if (left > retryAfterMs) {
          longest = row;
          retryAfterMs = left;
        }
        // The first limit is the widest: what it refuses counts nowhere else, but a longer block there still shows.
        if (left > 0 && row === rows[0]) isCounting = false;
      }
      return longest === undefined ? ALLOWED : { isAllowed: false, row: longest, retryAfterMs };
    },
  };
}
