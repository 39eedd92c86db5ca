import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ByteBudgetOptions, Share } from './byte-budget.js';
import { createByteBudget } from './byte-budget.js';
import { AppError } from './errors.js';

/** A budget whose time passes by hand. */
function budgetOf(options: Partial<ByteBudgetOptions> = {}) {
  const due: (() => void)[] = [];
  const budget = createByteBudget({
    bytesMax: 100,
    ownerBytesMax: 50,
    waitingMax: 4,
    ownerWaitingMax: 2,
    waitMaxMs: 1_000,
    after: (_ms, call) => {
      due.push(call);
      return () => void due.splice(due.indexOf(call), 1);
    },
    ...options,
  });
  return { budget, runOut: () => due.shift()?.(), pending: () => due.length };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const isOverloaded = (error: unknown): boolean => error instanceof AppError && error.code === 'overloaded';

describe('a budget of bytes', () => {
  it('one owner gets half of it, and waits for its own part while another is served', async () => {
    const { budget } = budgetOf();
    const first = await budget.take('a', 50);
    let isServed = false;
    const second = budget.take('a', 1).then((release) => {
      isServed = true;
      return release;
    });
    const other = await budget.take('b', 50);
    await settle();
    assert.deepEqual([isServed, budget.taken(), budget.waiting()], [false, 100, 1]);
    other();
    await settle();
    assert.equal(isServed, false, 'room of others is not its own');
    first();
    (await second)();
    assert.equal(budget.taken(), 0);
  });

  it('shares come in the order they were asked for; only so many small ones overtake a large one', async () => {
    const { budget } = budgetOf({ waitingMax: 20 });
    const holding = [await budget.take('a', 40), await budget.take('b', 40)];
    const order: string[] = [];
    const note = (name: string) => (share: Share) => {
      order.push(name);
      return share;
    };
    const large = budget.take('c', 45).then(note('large'));
    for (let times = 0; times < 8; times += 1) (await budget.take('d', 5))();
    const small = budget.take('d', 5).then(note('small'));
    await settle();
    assert.deepEqual(order, []);
    assert.equal(budget.open('e').needNow(5), false, 'nor does one that cannot wait');
    holding[0]?.();
    await Promise.all([large, small]);
    assert.deepEqual(order, ['large', 'small']);
  });

  it('a small share does not wait for a large one ahead of it that does not fit yet', async () => {
    const { budget } = budgetOf();
    const holding = [await budget.take('a', 50), await budget.take('b', 40), await budget.take('c', 10)];
    const large = budget.take('d', 45);
    const small = budget.take('e', 10);
    holding[2]?.();
    (await small)();
    assert.equal(budget.waiting(), 1);
    holding[0]?.();
    (await large)();
  });

  it('a share grows beyond what it was taken for, and what it asked for before counts', async () => {
    const { budget } = budgetOf();
    const share = await budget.take('a', 10);
    await share.need(20);
    assert.equal(budget.taken(), 30);
    await share.need(15);
    assert.equal(share.needNow(20), true);
    assert.deepEqual([budget.taken(), budget.shares()], [30, 1]);
    share();
    assert.deepEqual([budget.taken(), budget.shares()], [0, 0]);
    await share.need(20);
    assert.equal(budget.taken(), 0, 'over is over');
  });

  it('two shares that both need more do not hold on to what the other waits for', async () => {
    const { budget } = budgetOf();
    const first = await budget.take('a', 25);
    const second = await budget.take('a', 25);
    assert.equal(first.needNow(10), false);
    assert.equal(budget.taken(), 50, 'without waiting it stays as it was');
    const firstGrown = first.need(10);
    const secondGrown = second.need(10);
    await secondGrown;
    assert.deepEqual([budget.taken(), budget.waiting()], [35, 1]);
    second();
    await firstGrown;
    first();
    assert.equal(budget.taken(), 0);
  });

  it('a share that is given back while it waits takes nothing when its turn comes', async () => {
    const { budget } = budgetOf();
    const other = await budget.take('a', 50);
    const share = budget.open('a');
    const needed = share.need(10);
    share();
    other();
    await needed;
    assert.deepEqual([budget.taken(), budget.shares(), budget.waiting()], [0, 0, 0]);
  });

  it('503 after the longest wait, and whoever stood behind is served', async () => {
    const { budget, runOut, pending } = budgetOf();
    await budget.take('a', 40);
    await budget.take('b', 40);
    const large = budget.take('c', 45);
    const refused = assert.rejects(large, isOverloaded);
    for (let times = 0; times < 8; times += 1) (await budget.take('d', 5))();
    const small = budget.take('d', 5);
    assert.equal(budget.waiting(), 2);
    runOut();
    await refused;
    (await small)();
    assert.deepEqual([budget.waiting(), budget.taken(), pending()], [0, 80, 0]);
  });

  it('503 at once when too many wait, of one owner or of all', async () => {
    const { budget } = budgetOf();
    for (const owner of ['a', 'b']) await budget.take(owner, 50);
    for (const owner of ['a', 'a', 'b', 'b']) void budget.take(owner, 1);
    await assert.rejects(budget.take('c', 1), isOverloaded);
    const { budget: other } = budgetOf();
    await other.take('a', 50);
    for (let times = 0; times < 2; times += 1) void other.take('a', 1);
    await assert.rejects(other.take('a', 1), isOverloaded);
    assert.ok(await other.take('b', 1));
  });

  it('more than an owner may have is given as all it may have', async () => {
    const { budget } = budgetOf();
    const release = await budget.take('a', 1_000);
    assert.equal(budget.taken(), 50);
    release();
    release();
    assert.equal(budget.taken(), 0, 'giving back twice gives nothing');
  });
});
