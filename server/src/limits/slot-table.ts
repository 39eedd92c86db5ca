import { assert } from '../kernel/assert.js';
import { clear, WINDOW_SLICES } from './window.js';

/** One window and one block for each slot, as columns. Slot `n` owns the slices from `n * SLICES` on. */
export interface SlotTable {
  readonly rings: Uint16Array;
  readonly sums: Uint16Array;
  readonly lastSlices: Uint32Array;
  readonly blockedUntilMs: Float64Array;
  /** The slot of a tag, or `NO_SLOT`. */
  find(tagLow: number, tagHigh: number): number;
  /** A cleared slot for a tag that has none, taken from the least important tag. */
  claim(tagLow: number, tagHigh: number, nowMs: number, nowSlice: number): number;
}

export const NO_SLOT = -1;

const WAYS = 8;
const SLOTS_MAX = 2 ** 22;
const SUM_WEIGHT = 2 ** 32;
const BLOCKED_COST = 2 ** 52;

/**
 * A table that never grows. A tag may live in the eight slots of its set alone, so finding it takes one look at a cache
 * line, and when all eight are taken one is forgotten. Forgetting only ever favours a client, so the choice is about
 * attackers: first a window that has run empty, then the fewest requests, of equal ones the longest untouched. A client
 * close to its limit thus outlasts a flood of addresses that ask once. A block goes only when all eight are blocks, the
 * soonest to end first. To shake off its own block, a client would have to earn eight more of them in the same set,
 * without knowing which addresses share one.
 */
export function createSlotTable(slots: number): SlotTable {
  const isPowerOfTwo = Number.isInteger(Math.log2(slots));
  assert(isPowerOfTwo && slots >= WAYS && slots <= SLOTS_MAX, `slots are a power of two from ${WAYS} to ${SLOTS_MAX}`);
  const setMask = slots / WAYS - 1;
  const tagsLow = new Int32Array(slots);
  const tagsHigh = new Int32Array(slots);
  const rings = new Uint16Array(slots * WINDOW_SLICES);
  const sums = new Uint16Array(slots);
  const lastSlices = new Uint32Array(slots);
  const blockedUntilMs = new Float64Array(slots);

  function find(tagLow: number, tagHigh: number): number {
    const first = (tagLow & setMask) * WAYS;
    for (let slot = first; slot < first + WAYS; slot += 1) {
      if (tagsLow[slot] === tagLow && tagsHigh[slot] === tagHigh) return slot;
    }
    return NO_SLOT;
  }

  /** A slot never used has counted nothing, and so costs nothing. */
  function costOf(slot: number, nowMs: number, nowSlice: number): number {
    const blockedUntil = blockedUntilMs[slot] ?? 0;
    if (blockedUntil > nowMs) return BLOCKED_COST + blockedUntil;
    const lastSlice = lastSlices[slot] ?? 0;
    return nowSlice - lastSlice >= WINDOW_SLICES ? 0 : (sums[slot] ?? 0) * SUM_WEIGHT + lastSlice;
  }

  function claim(tagLow: number, tagHigh: number, nowMs: number, nowSlice: number): number {
    const first = (tagLow & setMask) * WAYS;
    let victim = first;
    let cost = costOf(first, nowMs, nowSlice);
    for (let slot = first + 1; slot < first + WAYS && cost > 0; slot += 1) {
      const candidate = costOf(slot, nowMs, nowSlice);
      if (candidate >= cost) continue;
      victim = slot;
      cost = candidate;
    }
    if ((sums[victim] ?? 0) > 0) clear(rings, victim * WINDOW_SLICES);
    tagsLow[victim] = tagLow;
    tagsHigh[victim] = tagHigh;
    sums[victim] = 0;
    lastSlices[victim] = nowSlice;
    blockedUntilMs[victim] = 0;
    return victim;
  }

  return { rings, sums, lastSlices, blockedUntilMs, find, claim };
}
