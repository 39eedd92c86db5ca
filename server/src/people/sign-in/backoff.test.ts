import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FailedTries } from './backoff.js';
import {
  ACCOUNT_BACKOFF,
  ADDRESS_BACKOFF,
  delayAfterFailures,
  FAILURES_FORGOTTEN_MS,
  isForgotten,
  waitBeforeTry,
  withFailure,
} from './backoff.js';

const secondsAfter = (count: number, backoff = ACCOUNT_BACKOFF) => delayAfterFailures(backoff, count) / 1_000;

describe('the wait after failed sign-ins', () => {
  it('is nothing four times, then doubles from a second to 15 minutes', () => {
    const table = [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900];
    assert.deepEqual(
      table.map((_, count) => secondsAfter(count)),
      table,
    );
    assert.equal(secondsAfter(1_000_000), 900);
  });

  it('of an address begins after twenty failures', () => {
    const table: [number, number][] = [
      [20, 0],
      [21, 1],
      [22, 2],
      [31, 900],
    ];
    for (const [count, seconds] of table) assert.equal(secondsAfter(count, ADDRESS_BACKOFF), seconds);
  });

  it('begins and ends with what the rule says, where it says so', () => {
    const backoff = { freeFailures: 0, firstDelayMs: 60_000, delayMaxMs: 3_600_000 };
    const table = [0, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600];
    assert.deepEqual(
      table.map((_, count) => secondsAfter(count, backoff)),
      table,
    );
  });

  it('runs from the last failure', () => {
    const tries = { count: 7, lastMs: 100_000 };
    const waits = [100_000, 101_500, 103_999, 104_000, 200_000].map((now) =>
      waitBeforeTry(ACCOUNT_BACKOFF, tries, now),
    );
    assert.deepEqual(waits, [4_000, 2_500, 1, 0, 0]);
    assert.equal(waitBeforeTry(ACCOUNT_BACKOFF, undefined, 5), 0);
  });

  it('gets no longer when the clock is set back', () => {
    assert.equal(waitBeforeTry(ACCOUNT_BACKOFF, { count: 5, lastMs: 1_000_000 }, 0), 1_000);
  });

  it('counts failures in a row, and forgets them after a day without one', () => {
    let tries: FailedTries | undefined;
    for (let count = 1; count <= 30; count += 1) tries = withFailure(tries, count * 1_000_000);
    assert.deepEqual(tries, { count: 30, lastMs: 30_000_000 });
    const dayLater = 30_000_000 + FAILURES_FORGOTTEN_MS;
    assert.deepEqual(withFailure(tries, dayLater - 1), { count: 31, lastMs: dayLater - 1 });
    assert.deepEqual(withFailure(tries, dayLater), { count: 1, lastMs: dayLater });
    assert.deepEqual(
      [dayLater - 1, dayLater].map((now) => isForgotten({ count: 30, lastMs: 30_000_000 }, now)),
      [false, true],
    );
    assert.equal(waitBeforeTry(ACCOUNT_BACKOFF, { count: 30, lastMs: 30_000_000 }, dayLater), 0);
  });
});
