import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { boundsOf, bucketOf, LAST_BUCKET, percentileOf } from './histogram.js';

const LONGEST_MS = boundsOf(LAST_BUCKET).upToMs;
/** Short ones and long ones alike. */
const duration = fc.double({ min: 0, max: Math.log2(LONGEST_MS), noNaN: true }).map((exponent) => 2 ** exponent - 1);

function histogramOf(durations: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const ms of durations) counts.set(bucketOf(ms), (counts.get(bucketOf(ms)) ?? 0) + 1);
  return counts;
}

describe('durations by buckets', () => {
  it('give every percentile within the width of the bucket of the exact one', () => {
    fc.assert(
      fc.property(
        fc.array(duration, { minLength: 1, maxLength: 300 }),
        fc.constantFrom(0.5, 0.99),
        (durations, part) => {
          const exact = [...durations].sort((a, b) => a - b)[Math.ceil(durations.length * part) - 1] ?? Number.NaN;
          const { aboveMs, upToMs } = boundsOf(bucketOf(exact));
          const told = percentileOf(histogramOf(durations), part) ?? Number.NaN;
          // It is told with one decimal.
          assert.ok(Math.abs(told - exact) <= upToMs - aboveMs + 0.05, `${told} for ${exact}`);
          assert.ok(upToMs / aboveMs < 1.2 || upToMs <= 1);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('hold every duration within their bounds; what is too short or too long is in the first and the last', () => {
    fc.assert(
      fc.property(duration, (ms) => {
        const { aboveMs, upToMs } = boundsOf(bucketOf(ms));
        assert.ok(ms <= upToMs * (1 + 1e-9) && (ms >= aboveMs * (1 - 1e-9) || bucketOf(ms) === 0));
      }),
    );
    assert.deepEqual([0, 1, 2, 1e9].map(bucketOf), [0, 0, 4, LAST_BUCKET]);
  });

  it('of none there is no percentile', () => {
    assert.equal(percentileOf(new Map(), 0.5), undefined);
    assert.equal(percentileOf(new Map([[3, 0]]), 0.99), undefined);
  });
});
