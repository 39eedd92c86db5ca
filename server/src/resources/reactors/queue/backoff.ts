/** How long to wait after each try that what kept a run from running spoiled: five tries in about two and a half minutes. */
export const RUN_DELAYS_MS: readonly number[] = [1_000, 5_000, 25_000, 125_000];
const SECONDS_BETWEEN_CALLBACKS = [5, 10, 30, 60, 120, 300, 600, 1_200, 2_400, 4_200];
/** The same for a callback: ten more after the first, over about two and a half hours. */
export const CALLBACK_DELAYS_MS: readonly number[] = SECONDS_BETWEEN_CALLBACKS.map((seconds) => seconds * 1_000);

/** When to try again after that many tries; undefined when there were enough. */
export function delayAfter(delaysMs: readonly number[], tries: number): number | undefined {
  return delaysMs[tries - 1];
}
