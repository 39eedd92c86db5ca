import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFairQueue } from './fair-queue.js';

function queueOf(tenants: string) {
  const queue = createFairQueue<{ tenantId: string; n: number }>();
  for (const [n, tenantId] of [...tenants].entries()) queue.push({ tenantId, n });
  return { queue, take: (max: number) => queue.take(max).map(({ tenantId, n }) => `${tenantId}${n}`) };
}

test('of many that wait one of each tenant is taken after another, whoever came first', () => {
  const { take } = queueOf('aaaaaabac');
  assert.deepEqual(take(4), ['a0', 'b6', 'c8', 'a1']);
  assert.deepEqual(take(4), ['a2', 'a3', 'a4', 'a5']);
  assert.deepEqual(take(4), ['a7']);
  assert.deepEqual(take(4), []);
});

test('a tenant that was served goes behind those that were not, also over several turns', () => {
  const { take } = queueOf('aaabbbccc');
  assert.deepEqual(take(2), ['a0', 'b3']);
  assert.deepEqual(take(2), ['c6', 'a1']);
  assert.deepEqual(take(2), ['b4', 'c7']);
});

test('all are taken when there is room for all, and a single tenant keeps its order', () => {
  assert.deepEqual(queueOf('bab').take(3), ['b0', 'b2', 'a1']);
  const { queue, take } = queueOf('aaaa');
  assert.deepEqual([queue.size(), queue.sizeOf('a'), queue.sizeOf('b')], [4, 4, 0]);
  assert.deepEqual(take(3), ['a0', 'a1', 'a2']);
  assert.deepEqual([queue.size(), queue.sizeOf('a')], [1, 1]);
});

test('those of one tenant alone are taken where that is asked for, and the next turn is another tenant’s', () => {
  const { queue } = queueOf('aaabac');
  const takeOfOne = (max: number) => queue.takeOfOne(max).map(({ tenantId, n }) => `${tenantId}${n}`);
  assert.deepEqual(takeOfOne(2), ['a0', 'a1']);
  assert.deepEqual(takeOfOne(2), ['b3']);
  assert.deepEqual([queue.size(), queue.sizeOf('a')], [3, 2]);
  assert.deepEqual(takeOfOne(2), ['c5']);
  assert.deepEqual(takeOfOne(5), ['a2', 'a4']);
  assert.deepEqual([takeOfOne(5), queue.size()], [[], 0]);
});

test('nothing is lost or taken twice, and no tenant gets a second before each had its first', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'd')), fc.integer({ min: 1, max: 9 }), (tenants, max) => {
      const { queue } = queueOf(tenants.join(''));
      const taken: number[] = [];
      while (queue.size() > 0) {
        const waiting = tenants.filter((_, n) => !taken.includes(n));
        const turn = queue.take(max);
        const counts = new Map<string, number>();
        for (const { tenantId, n } of turn) {
          counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
          taken.push(n);
        }
        const most = Math.max(...counts.values());
        for (const tenantId of new Set(waiting)) {
          const own = waiting.filter((each) => each === tenantId).length;
          assert.ok((counts.get(tenantId) ?? 0) >= Math.min(own, most - 1), 'shares differ by one at most');
        }
      }
      assert.deepEqual(
        [...taken].sort((a, b) => a - b),
        [...tenants.keys()],
      );
    }),
  );
});
