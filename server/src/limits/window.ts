/** Every limit looks at the last ten seconds. */
export const WINDOW_MS = 10_000;
export const SLICE_MS = 100;
export const WINDOW_SLICES = WINDOW_MS / SLICE_MS;

/**
 * A sliding window is a ring of counts, one for each slice of 100 ms: the slice that is running and the 99 before it.
 * Those are exactly the slices of which no part is ten seconds old yet. So whatever is counted happened within the last
 * ten seconds, and a client within its limit is never refused. What it costs: a request may be forgotten up to one slice
 * early, so going over is sure to be noticed only within 9.9 seconds.
 */

/** The number of the slice a moment belongs to. */
export function sliceAt(ms: number): number {
  return Math.floor(ms / SLICE_MS);
}

/**
 * Moves the ring that starts at `offset` on from slice `from` to slice `to`, forgetting what has left the window, and
 * returns what remains of `sum`.
 */
export function advance(ring: Uint16Array, offset: number, sum: number, from: number, to: number): number {
  if (sum === 0 || to <= from) return sum;
  if (to - from >= WINDOW_SLICES) {
    clear(ring, offset);
    return 0;
  }
  let left = sum;
  for (let slice = from + 1; slice <= to; slice += 1) {
    const at = offset + (slice % WINDOW_SLICES);
    left -= ring[at] ?? 0;
    ring[at] = 0;
  }
  return left;
}

/** Counts one request in a slice of a ring that has been moved on to it. A limit stays far below what a count holds. */
export function count(ring: Uint16Array, offset: number, slice: number): void {
  const at = offset + (slice % WINDOW_SLICES);
  ring[at] = (ring[at] ?? 0) + 1;
}

export function clear(ring: Uint16Array, offset: number): void {
  ring.fill(0, offset, offset + WINDOW_SLICES);
}
