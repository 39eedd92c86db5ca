/** Failures in a row of one account or of one address. */
export interface FailedTries {
  readonly count: number;
  readonly lastMs: number;
}

export interface Backoff {
  /** So many failures cost nothing: people mistype. */
  readonly freeFailures: number;
  /** The first wait, which doubles; a second unless it is said. */
  readonly firstDelayMs?: number;
  /** The longest one; 15 minutes unless it is said. */
  readonly delayMaxMs?: number;
}

/** One user. */
export const ACCOUNT_BACKOFF: Backoff = { freeFailures: 4 };
/** One client address. Many people share one behind a proxy, so more of them may mistype. */
export const ADDRESS_BACKOFF: Backoff = { freeFailures: 20 };

const FIRST_DELAY_MS = 1_000;
const DELAY_MAX_MS = 15 * 60_000;
export const FAILURES_FORGOTTEN_MS = 24 * 3_600_000;

/** How long after its last failure the next try has to wait: nothing at first, then 1, 2, 4 … seconds up to 15 minutes. */
export function delayAfterFailures(backoff: Backoff, count: number): number {
  const { freeFailures, firstDelayMs = FIRST_DELAY_MS, delayMaxMs = DELAY_MAX_MS } = backoff;
  if (count <= freeFailures) return 0;
  return Math.min(delayMaxMs, firstDelayMs * 2 ** (count - freeFailures - 1));
}

/** How long from now the next try has to wait; 0 when it may come. */
export function waitBeforeTry(backoff: Backoff, tries: FailedTries | undefined, nowMs: number): number {
  if (tries === undefined || isForgotten(tries, nowMs)) return 0;
  const delayMs = delayAfterFailures(backoff, tries.count);
  // A clock that was set back must not lengthen the wait.
  return Math.min(delayMs, Math.max(0, tries.lastMs + delayMs - nowMs));
}

/** The tries with one more failure. A success removes them. */
export function withFailure(tries: FailedTries | undefined, nowMs: number): FailedTries {
  const count = tries === undefined || isForgotten(tries, nowMs) ? 0 : tries.count;
  return { count: count + 1, lastMs: nowMs };
}

/** Whether the tries count no more, so that their row can go. */
export function isForgotten({ lastMs }: FailedTries, nowMs: number): boolean {
  return nowMs - lastMs >= FAILURES_FORGOTTEN_MS;
}
