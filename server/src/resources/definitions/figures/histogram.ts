/**
 * Durations by buckets whose bounds grow by the fourth root of two, from 1 ms to more than four minutes: what is read from
 * them is wrong by less than a fifth, whatever the durations are.
 */
const BUCKETS_PER_DOUBLING = 4;
const DOUBLINGS = 18;
export const LAST_BUCKET = BUCKETS_PER_DOUBLING * DOUBLINGS;

/** Bucket n holds what is at most its bound and more than that of the one before; the last also whatever is longer. */
export function bucketOf(durationMs: number): number {
  const exact = Math.ceil(BUCKETS_PER_DOUBLING * Math.log2(durationMs));
  return Math.min(Math.max(exact, 0), LAST_BUCKET);
}

export function boundsOf(bucket: number): { readonly aboveMs: number; readonly upToMs: number } {
  const boundOf = (at: number) => 2 ** (at / BUCKETS_PER_DOUBLING);
  return { aboveMs: bucket === 0 ? 0 : boundOf(bucket - 1), upToMs: boundOf(bucket) };
}

/**
 * The duration that this part of all does not exceed, in milliseconds with one decimal; undefined where there is none. It is in
 * the bucket of the exact one, at the place that an even spread over the bucket gives it.
 */
export function percentileOf(counts: ReadonlyMap<number, number>, part: number): number | undefined {
  const buckets = [...counts].sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  const rank = Math.ceil(total * part);
  let before = 0;
  for (const [bucket, count] of buckets) {
    if (before + count >= rank && count > 0) {
      const { aboveMs, upToMs } = boundsOf(bucket);
      return Math.round((aboveMs + ((upToMs - aboveMs) * (rank - before)) / count) * 10) / 10;
    }
    before += count;
  }
  return undefined;
}
