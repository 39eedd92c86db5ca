import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAIL_DELAYS_MS, mailDelayAfter } from './backoff.js';

const minutesAfter = (tries: number, isFinal = false) => {
  const delayMs = mailDelayAfter(tries, isFinal);
  return delayMs === undefined ? undefined : delayMs / 60_000;
};

describe('a mail that did not leave', () => {
  it('is tried again after 1, 5, 30 minutes and so on, for 24 hours in all', () => {
    const table = [1, 5, 30, 60, 120, 240, 480, 504, undefined, undefined];
    assert.deepEqual(
      table.map((_, at) => minutesAfter(at + 1)),
      table,
    );
    assert.equal(
      MAIL_DELAYS_MS.reduce((sum, ms) => sum + ms, 0),
      24 * 3_600_000,
    );
  });

  it('is tried three times where the server refuses it for good', () => {
    assert.deepEqual(
      [1, 2, 3].map((tries) => minutesAfter(tries, true)),
      [1, 5, undefined],
    );
  });
});
