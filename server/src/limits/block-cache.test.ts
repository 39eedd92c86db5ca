import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBlockCache } from './block-cache.js';
import { LIMITS } from './catalogue.js';

test('a block is known until its end, for its client and limit alone', () => {
  const blocks = createBlockCache(10);
  blocks.add('a', LIMITS.global, 500);
  assert.equal(blocks.left('a', LIMITS.global, 100), 400);
  assert.equal(blocks.left('a', LIMITS.tokensList, 100), 0);
  assert.equal(blocks.left('b', LIMITS.global, 100), 0);
  assert.equal(blocks.left('a', LIMITS.global, 500), 0);
});

test('of more blocks than there is room for the first to come is forgotten, and other limits keep theirs', () => {
  const blocks = createBlockCache(3);
  blocks.add('other', LIMITS.portal, 1_000);
  for (const client of ['a', 'b', 'a', 'c', 'd']) blocks.add(client, LIMITS.global, 1_000);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((client) => blocks.left(client, LIMITS.global, 0)),
    [1_000, 0, 1_000, 1_000],
  );
  assert.equal(blocks.left('other', LIMITS.portal, 0), 1_000);
});

test('with no room nothing is remembered', () => {
  const blocks = createBlockCache(0);
  blocks.add('a', LIMITS.global, 1_000);
  assert.equal(blocks.left('a', LIMITS.global, 0), 0);
});
