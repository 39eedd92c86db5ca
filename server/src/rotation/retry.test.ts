import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storageUnavailable } from '../kernel/errors.js';
import { createBatches } from './retry.js';

test('a batch that is too large for the bounds gets smaller until it is not, and the next ones begin there', async () => {
  const inBatches = createBatches(async () => {}, 500);
  const asked: number[] = [];
  const act = async (rows: number): Promise<number> => {
    asked.push(rows);
    if (rows > 100) throw storageUnavailable(new Error('canceling statement due to statement timeout'));
    return rows;
  };
  assert.equal(await inBatches(act), 62);
  assert.equal(await inBatches(act), 62);
  assert.deepEqual(asked, [500, 250, 125, 62, 62]);
});

test('a store that is out of reach for long makes batches small, never empty', async () => {
  const inBatches = createBatches(async () => {}, 500);
  let left = 20;
  const rows = await inBatches(async (given) => {
    left -= 1;
    if (left > 0) throw storageUnavailable(new Error('gone'));
    return given;
  });
  assert.equal(rows, 16);
});
