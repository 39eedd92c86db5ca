export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** The value that this share of an ascending list lies at or below. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const place = Math.ceil(sorted.length * share) - 1;
  return sorted[Math.min(sorted.length - 1, Math.max(0, place))] ?? 0;
}

/** The middle of the rounds and how far they were apart. */
export interface Summary {
  readonly mid: number;
  readonly low: number;
  readonly high: number;
}

export function summaryOf(values: readonly number[]): Summary {
  return { mid: median(values), low: Math.min(...values), high: Math.max(...values) };
}

/** `0.83 (0.80 to 0.86)`. */
export function spread(values: readonly number[], digits: number): string {
  const { mid, low, high } = summaryOf(values);
  return `${mid.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;
}

/** Each round against the same round of the other. */
export function ratiosOf(ours: readonly number[], baseline: readonly number[]): number[] {
  return ours.map((value, round) => value / (baseline[round] ?? Number.NaN));
}

export interface Latencies {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

export function latenciesOf(timesMs: readonly number[]): Latencies {
  const sorted = Float64Array.from(timesMs).sort();
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99), p999Ms: quantile(sorted, 0.999) };
}
