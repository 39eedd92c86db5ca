import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { advance, clear, count, SLICE_MS, sliceAt, WINDOW_MS, WINDOW_SLICES } from './window.js';

test('the slices make up the window', () => {
  assert.equal(WINDOW_SLICES * SLICE_MS, WINDOW_MS);
  assert.equal(sliceAt(0), 0);
  assert.equal(sliceAt(99.999), 0);
  assert.equal(sliceAt(100), 1);
});

test('a ring holds the counts of the running slice and the 99 before it, and its sum is right', () => {
  const step = fc.record({ slices: fc.oneof(fc.nat(3), fc.nat(150)), requests: fc.nat(4) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), fc.nat(1_000_000), (steps, first) => {
      const ring = new Uint16Array(3 * WINDOW_SLICES);
      const counted: number[] = [];
      let slice = first;
      let sum = 0;
      for (const { slices, requests } of steps) {
        sum = advance(ring, WINDOW_SLICES, sum, slice, slice + slices);
        slice += slices;
        for (let sent = 0; sent < requests; sent += 1) {
          count(ring, WINDOW_SLICES, slice);
          counted.push(slice);
          sum += 1;
        }
        assert.equal(sum, counted.filter((each) => each > slice - WINDOW_SLICES).length);
        assert.equal(
          sum,
          ring.reduce((total, each) => total + each, 0),
        );
      }
      const neighbours = [...ring.subarray(0, WINDOW_SLICES), ...ring.subarray(2 * WINDOW_SLICES)];
      assert.ok(neighbours.every((each) => each === 0));
    }),
  );
});

test('a clock that stands still or steps back forgets nothing', () => {
  const ring = new Uint16Array(WINDOW_SLICES);
  count(ring, 0, 50);
  assert.equal(advance(ring, 0, 1, 50, 50), 1);
  assert.equal(advance(ring, 0, 1, 50, 49), 1);
  assert.equal(ring[50], 1);
});

test('clearing touches one ring alone', () => {
  const ring = new Uint16Array(3 * WINDOW_SLICES).fill(7);
  clear(ring, WINDOW_SLICES);
  assert.ok(ring.subarray(WINDOW_SLICES, 2 * WINDOW_SLICES).every((each) => each === 0));
  assert.ok([...ring.subarray(0, WINDOW_SLICES), ...ring.subarray(2 * WINDOW_SLICES)].every((each) => each === 7));
});
