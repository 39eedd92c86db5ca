import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUCKETS_MAX, bucketsOf, DAY_MS } from './buckets.js';

const NOON_MS = Date.UTC(2030, 0, 31, 12, 34, 56, 789);
const MINUTE_MS = 60_000;

describe('the buckets of a span', () => {
  it('are at most 60, begin at a multiple of their length and cover the span with less than a bucket to spare', () => {
    for (const lengthMs of [
      1,
      MINUTE_MS,
      59 * MINUTE_MS,
      61 * MINUTE_MS,
      DAY_MS,
      7 * DAY_MS,
      61 * DAY_MS,
      400 * DAY_MS,
    ]) {
      for (const least of [0, DAY_MS]) {
        const span = { startMs: NOON_MS - lengthMs, endMs: NOON_MS };
        const buckets = bucketsOf(span, least);
        const { startMs, endMs, count, first } = buckets;
        assert.ok(count >= 1 && count <= BUCKETS_MAX, `${lengthMs}: ${count}`);
        assert.ok(buckets.lengthMs >= least);
        assert.equal(startMs, first * buckets.lengthMs);
        assert.equal(endMs, startMs + count * buckets.lengthMs);
        assert.ok(startMs <= span.startMs && startMs > span.startMs - buckets.lengthMs, `${lengthMs}: start`);
        assert.ok(endMs >= span.endMs && endMs < span.endMs + buckets.lengthMs, `${lengthMs}: end`);
      }
    }
  });

  it('are the shortest that fit', () => {
    const lengthOf = (spanMs: number) => bucketsOf({ startMs: 0, endMs: spanMs }).lengthMs;
    assert.equal(lengthOf(60 * MINUTE_MS), MINUTE_MS);
    assert.equal(lengthOf(60 * MINUTE_MS + 1), 5 * MINUTE_MS);
    assert.equal(lengthOf(DAY_MS), 30 * MINUTE_MS);
    assert.equal(lengthOf(31 * DAY_MS), DAY_MS);
    assert.equal(lengthOf(61 * DAY_MS), 2 * DAY_MS);
  });

  it('of a span that ends before it begins are none', () => {
    assert.equal(bucketsOf({ startMs: NOON_MS, endMs: 0 }).count, 0);
  });
});
