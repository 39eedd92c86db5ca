const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** A page has no room for more. */
export const BUCKETS_MAX = 60;
/** How long a bucket can be. The longest make 60 of the longest span. */
const LENGTHS_MS = [
  ...[1, 5, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7].map((days) => days * DAY_MS),
];

/** A span of time; the end does not belong to it. */
export interface TimeSpan {
  readonly startMs: number;
  readonly endMs: number;
}

/** Buckets one behind the other, numbered from 1970 on, so that the same moment is in the same bucket whatever is asked for. */
export interface Buckets extends TimeSpan {
  readonly lengthMs: number;
  readonly first: number;
  readonly count: number;
}

/** The shortest of which a span takes no more than fit, at least as long as told. They cover all of it, and perhaps more. */
export function bucketsOf(span: TimeSpan, leastMs = 0): Buckets {
  const lengths = LENGTHS_MS.filter((lengthMs) => lengthMs >= leastMs).map((lengthMs) => inLengths(span, lengthMs));
  const fitting = lengths.find(({ count }) => count <= BUCKETS_MAX);
  if (!fitting) throw new Error('assertion failed: a span is no longer than what is kept');
  return fitting;
}

function inLengths({ startMs, endMs }: TimeSpan, lengthMs: number): Buckets {
  const first = Math.floor(startMs / lengthMs);
  const count = Math.max(Math.ceil(endMs / lengthMs) - first, 0);
  return { lengthMs, first, count, startMs: first * lengthMs, endMs: (first + count) * lengthMs };
}
