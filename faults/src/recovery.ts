import type { Attempt, Journal } from './journal.js';

/** From the end of the fault on, so long may operations still fail. */
export const RECOVERY_MAX_MS = 30_000;
const POLL_MS = 50;
/** An operation that has no answer after so long is no sign of health. */
const ANSWER_MAX_MS = 2_000;

export interface Recovery {
  /** From the end of the fault to the end of the last operation that failed; 0 if none did. */
  readonly tookMs: number;
  readonly isInTime: boolean;
}

/** Waits until no operation begun after the fault has failed for `calmMs`. */
export async function untilCalm(journal: Journal, faultEndMs: number, calmMs: number): Promise<Recovery> {
  for (;;) {
    const nowMs = performance.now();
    const later = journal.operations.flatMap(({ attempts }) =>
      attempts.filter(({ startedMs }) => startedMs >= faultEndMs),
    );
    const lastBadMs = Math.max(
      faultEndMs,
      ...later.filter((attempt) => isBad(attempt, nowMs)).map(({ endedMs }) => endedMs || nowMs),
    );
    const tookMs = lastBadMs - faultEndMs;
    const hasSuccess = later.some(({ outcome, endedMs }) => outcome === 'acknowledged' && endedMs > lastBadMs);
    if (nowMs - lastBadMs >= calmMs && hasSuccess) return { tookMs, isInTime: tookMs <= RECOVERY_MAX_MS };
    if (nowMs - faultEndMs > RECOVERY_MAX_MS + calmMs + ANSWER_MAX_MS)
      return { tookMs: nowMs - faultEndMs, isInTime: false };
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** A client over its rate limit is no fault. */
function isBad({ outcome, note, startedMs }: Attempt, nowMs: number): boolean {
  if (outcome === 'pending') return nowMs - startedMs > ANSWER_MAX_MS;
  return outcome !== 'acknowledged' && !note.startsWith('429') && !note.includes('idempotency_in_flight');
}
