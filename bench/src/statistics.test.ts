import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { goalOf } from './goals.js';
import { latenciesOf, median, quantile, ratiosOf, spread, summaryOf } from './statistics.js';

describe('the statistics of a run', () => {
  it('the median of an even number of rounds lies between the two in the middle', () => {
    assert.equal(median([4, 1, 3, 2]), 2.5);
    assert.equal(median([9, 1, 5]), 5);
  });

  it('a quantile is a value that was measured, and the last one at most', () => {
    const sorted = Array.from({ length: 1_000 }, (_, n) => n + 1);
    assert.equal(quantile(sorted, 0.5), 500);
    assert.equal(quantile(sorted, 0.99), 990);
    assert.equal(quantile(sorted, 0.999), 999);
    assert.equal(quantile(sorted, 1), 1_000);
    assert.equal(quantile([7], 0.001), 7);
    assert.equal(quantile([], 0.5), 0);
  });

  it('latencies do not depend on the order of the answers, nor on digits sorted as text', () => {
    const { p50Ms, p99Ms } = latenciesOf([100, 9, 20]);
    assert.equal(p50Ms, 20);
    assert.equal(p99Ms, 100);
  });

  it('a ratio compares a round with the same round of the baseline', () => {
    assert.deepEqual(ratiosOf([10, 30], [20, 30]), [0.5, 1]);
  });

  it('a spread names the middle and both ends', () => {
    assert.equal(spread([0.86, 0.8, 0.83], 2), '0.83 (0.80 to 0.86)');
    assert.deepEqual(summaryOf([3, 1, 2]), { mid: 2, low: 1, high: 3 });
  });

  it('a goal is judged by the middle of the rounds, at the bound as reached', () => {
    assert.equal(goalOf('x', [0.7, 0.8, 0.9], { least: 0.8 }).isMet, true);
    assert.equal(goalOf('x', [0.7, 0.79, 0.9], { least: 0.8 }).isMet, false);
    assert.equal(goalOf('x', [1.31], { most: 1.3 }).isMet, false);
    assert.deepEqual(goalOf('x', [1.2], { most: 1.3 }), {
      what: 'x',
      wanted: '<= 1.30',
      measured: '1.20',
      isMet: true,
    });
  });
});
