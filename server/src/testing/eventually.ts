import assert from 'node:assert/strict';
import { setTimeout as rest } from 'node:timers/promises';

const REST_MS = 10;

/** Asks until the answer is yes. Fails with what was awaited once the deadline has passed. */
export async function eventually(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = 5_000,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadlineMs, `not within ${withinMs} ms: ${what}`);
    await rest(REST_MS);
  }
}
