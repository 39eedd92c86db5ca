/** How long to wait after each try that failed: nine tries over 24 hours. */
export const MAIL_DELAYS_MS: readonly number[] = [1, 5, 30, 60, 120, 240, 480, 504].map((minutes) => minutes * 60_000);
/** A server that says no for good is asked this often: some say so while they are being set up. */
export const REFUSED_TRIES_MAX = 3;
/** What lies here longer was queued while mail was off, or comes from a backup: the links in it are dead. */
export const MAIL_AGE_MAX_MS = 48 * 3_600_000;

/** When to try again after that many tries; undefined when there were enough. */
export function mailDelayAfter(tries: number, isFinal: boolean): number | undefined {
  return isFinal && tries >= REFUSED_TRIES_MAX ? undefined : MAIL_DELAYS_MS[tries - 1];
}
