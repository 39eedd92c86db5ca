import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyedLock } from './keyed-lock.js';

/** A piece of work that goes on until it is told to end. */
function piece() {
  let end: (error?: Error) => void = () => {};
  let hasBegun = false;
  const over = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  const work = (): Promise<void> => {
    hasBegun = true;
    return over;
  };
  return { work, end: (error?: Error) => end(error), hasBegun: () => hasBegun };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('work under one name goes one after another, in order; under another name side by side', async () => {
  const inTurn = createKeyedLock();
  const [first, second, stranger] = [piece(), piece(), piece()];
  const running = [inTurn('a', first.work), inTurn('a', second.work), inTurn('b', stranger.work)];
  await settle();
  assert.deepEqual(
    [first, second, stranger].map(({ hasBegun }) => hasBegun()),
    [true, false, true],
  );
  first.end();
  await settle();
  assert.ok(second.hasBegun());
  second.end();
  stranger.end();
  await Promise.all(running);
});

test('a failure is its own: whoever is next goes on', async () => {
  const inTurn = createKeyedLock();
  const [first, second] = [piece(), piece()];
  const failing = assert.rejects(inTurn('a', first.work), /broken/);
  const next = inTurn('a', async () => {
    await second.work();
    return 7;
  });
  first.end(new Error('broken'));
  second.end();
  await failing;
  assert.equal(await next, 7);
});
