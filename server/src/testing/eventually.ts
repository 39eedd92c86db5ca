import assert from 'node:assert/strict';
import { setTimeout as rest } from 'node:timers/promises';

const REST_MS = 10;
/** A machine that stood still did so for what is awaited as well: no step counts for more. */
const STEP_MAX_MS = 1_000;
/** Bounds a hang, not the speed of a machine that others use too. */
export const HANGS_MS = 300_000;
/** For what another process has to be started for, its database made, and more of that beside it. */
export const START_HANGS_MS = 300_000;
/**
 * A process that was not told of a change finds out by itself after the ten seconds between two echoes: who hears of it in less
 * was told.
 */
export const BEFORE_ECHO_MS = 9_000;

/** Asks until the answer is yes. Fails with what was awaited once nobody can believe in it any more. */
export async function eventually(
  what: string | (() => string),
  isSo: () => boolean | Promise<boolean>,
  withinMs = HANGS_MS,
): Promise<void> {
  let waitedMs = 0;
  for (let askedAtMs = performance.now(); !(await isSo()); ) {
    assert.ok(waitedMs < withinMs, `not within ${withinMs} ms: ${typeof what === 'string' ? what : what()}`);
    await rest(REST_MS);
    const nowMs = performance.now();
    waitedMs += Math.min(nowMs - askedAtMs, STEP_MAX_MS);
    askedAtMs = nowMs;
  }
}
