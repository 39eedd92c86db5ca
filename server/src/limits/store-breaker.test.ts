import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { createManualClock } from './rate-counter-suite.js';
import { StoreBreaker } from './store-breaker.js';

interface Store {
  close(): void;
  lose(error: unknown): void;
  isClosed: boolean;
}

/** A breaker whose attempts end when told, with timers and a clock turned by hand. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createManualClock();
  const attempts: { succeed(): Store; fail(): void }[] = [];
  const told: boolean[] = [];
  const breaker = new StoreBreaker<Store>({
    clock,
    onChange: (isUp) => void told.push(isUp),
    open: (onLost) =>
      new Promise((resolve, reject) => {
        const store: Store = {
          isClosed: false,
          close() {
            this.isClosed = true;
          },
          lose: onLost,
        };
        attempts.push({
          succeed: () => {
            resolve(store);
            return store;
          },
          fail: () => reject(new Error('not now')),
        });
      }),
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    t.mock.timers.tick(ms);
    await settled();
  };
  const latest = () => attempts.at(-1) ?? assert.fail('there was an attempt');
  return { breaker, attempts, told, pass, latest };
}

/** Promises that are due have run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('a breaker', () => {
  it('tries one attempt at a time, after pauses that grow from one to ten seconds', async (t) => {
    const { breaker, attempts, told, pass, latest } = setUp(t);
    for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
      const before = attempts.length;
      await pass(60_000);
      assert.equal(attempts.length, before, 'none while one is under way');
      latest().fail();
      await settled();
      await pass(pauseMs - 1);
      assert.equal(attempts.length, before, `not before ${pauseMs} ms`);
      await pass(1);
      assert.equal(attempts.length, before + 1);
    }
    assert.equal(breaker.current(), undefined);
    assert.deepEqual(told, [false]);
  });

  it('drops a store that fails, once, and begins with a short pause only if it had been well for long', async (t) => {
    const { breaker, attempts, told, pass, latest } = setUp(t);
    for (const [wellMs, pauseMs] of [
      [9_000, 1_000],
      [9_000, 2_000],
      [10_000, 1_000],
    ] as const) {
      const store = latest().succeed();
      await settled();
      assert.equal(breaker.current(), store);
      await pass(wellMs);
      const before = attempts.length;
      breaker.trip(store, new Error('slow'));
      breaker.trip(store, new Error('slow as well'));
      store.lose(new Error('gone'));
      assert.ok(store.isClosed && breaker.current() === undefined);
      await pass(pauseMs - 1);
      assert.equal(attempts.length, before);
      await pass(1);
      assert.equal(attempts.length, before + 1);
    }
    assert.deepEqual(told, [true, false, true, false, true, false]);
  });

  it('drops a store that tells of its end by itself', async (t) => {
    const { breaker, told, latest } = setUp(t);
    const store = latest().succeed();
    await settled();
    store.lose(new Error('gone'));
    assert.ok(store.isClosed && breaker.current() === undefined);
    assert.deepEqual(told, [true, false]);
  });

  it('does not take up a store that was lost before it was open', async (t) => {
    const { breaker, told, latest } = setUp(t);
    const store = latest().succeed();
    store.lose(new Error('gone'));
    await settled();
    assert.ok(store.isClosed && breaker.current() === undefined);
    assert.deepEqual(told, [false]);
  });

  it('closes a store that opens after its own end, and tries no more', async (t) => {
    const { breaker, attempts, told, pass, latest } = setUp(t);
    breaker.close();
    const store = latest().succeed();
    await pass(60_000);
    assert.ok(store.isClosed);
    assert.equal(attempts.length, 1);
    assert.deepEqual(told, []);
  });
});
