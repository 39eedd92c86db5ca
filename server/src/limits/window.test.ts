import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { advance, clear, count, SLICE_MS, SLICES, sliceAt, WINDOW_MS } from './window.js';

test('the slices make up the window', () => {
  assert.equal(SLICES * SLICE_MS, WINDOW_MS);
  assert.equal(sliceAt(0), 0);
  assert.equal(sliceAt(99.999), 0);
  assert.equal(sliceAt(100), 1);
});

test('a ring holds the counts of the running slice and the 99 before it, and its sum is right', () => {
  const step = fc.record({ slices: fc.oneof(fc.nat(3), fc.nat(150)), requests: fc.nat(4) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), fc.nat(1_000_000), (steps, first) => {
      const ring = new Uint16Array(3 * SLICES);
      const counted: number[] = [];
      let slice = first;
      let sum = 0;
      for (const { slices, requests } of steps) {
        sum = advance(ring, SLICES, sum, slice, slice + slices);
        slice += slices;
        for (let sent = 0; sent < requests; sent += 1) {
          count(ring, SLICES, slice);
          counted.push(slice);
          sum += 1;
        }
        assert.equal(sum, counted.filter((each) => each > slice - SLICES).length);
        assert.equal(
          sum,
          ring.reduce((total, each) => total + each, 0),
        );
      }
      const neighbours = [...ring.subarray(0, SLICES), ...ring.subarray(2 * SLICES)];
      assert.ok(neighbours.every((each) => each === 0));
    }),
  );
});

test('a clock that stands still or steps back forgets nothing', () => {
  const ring = new Uint16Array(SLICES);
  count(ring, 0, 50);
  assert.equal(advance(ring, 0, 1, 50, 50), 1);
  assert.equal(advance(ring, 0, 1, 50, 49), 1);
  assert.equal(ring[50], 1);
});

test('clearing touches one ring alone', () => {
  const ring = new Uint16Array(3 * SLICES).fill(7);
  clear(ring, SLICES);
  assert.ok(ring.subarray(SLICES, 2 * SLICES).every((each) => each === 0));
  assert.ok([...ring.subarray(0, SLICES), ...ring.subarray(2 * SLICES)].every((each) => each === 7));
});
