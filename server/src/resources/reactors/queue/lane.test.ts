import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CALLBACK_DELAYS_MS, delayAfter, RUN_DELAYS_MS } from './backoff.js';
import { allot } from './lane.js';

describe('places for queued calls', () => {
  const given = (room: Readonly<Record<string, number>>, free: number) => [
    ...allot(new Map(Object.entries(room)), free),
  ];

  it('go to the tenants in turn, one each before anybody has a second', () => {
    assert.deepEqual(given({ a: 4, b: 4, c: 4 }, 4), [
      ['a', 2],
      ['b', 1],
      ['c', 1],
    ]);
    assert.deepEqual(given({ a: 4, b: 4, c: 4 }, 2), [
      ['a', 1],
      ['b', 1],
    ]);
  });

  it('are never more than there are, nor more of a tenant than it may have', () => {
    assert.deepEqual(given({ a: 2, b: 0, c: -1, d: 1 }, 16), [
      ['a', 2],
      ['d', 1],
    ]);
    assert.deepEqual(given({ a: 2 }, 0), []);
    assert.deepEqual(given({}, 3), []);
  });
});

describe('what is tried again', () => {
  it('a run five times, a callback eleven times, each time after a longer rest', () => {
    for (const [delays, tries] of [
      [RUN_DELAYS_MS, 5],
      [CALLBACK_DELAYS_MS, 11],
    ] as const) {
      assert.equal(delayAfter(delays, tries), undefined);
      assert.notEqual(delayAfter(delays, tries - 1), undefined);
      assert.deepEqual(
        [...delays].sort((a, b) => a - b),
        delays,
      );
    }
  });
});
