import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createFakeClock } from '../testing/fake-clock.js';
import { AppError } from './errors.js';
import { createPacedWork } from './paced-work.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function pacedWork(isContended: boolean) {
  const clock = createFakeClock(0);
  const pauses: { readonly ms: number; readonly end: (value?: unknown) => void }[] = [];
  const pause = (ms: number) => new Promise((end) => pauses.push({ ms, end }));
  const due = new Set<() => void>();
  const after = (_ms: number, call: () => void) => {
    due.add(call);
    return () => void due.delete(call);
  };
  const runOut = (): void => {
    for (const call of due) call();
  };
  return {
    clock,
    pauses,
    due,
    runOut,
    paced: createPacedWork({ clock, isContended: () => isContended, pause, after }),
  };
}

it('large work goes one piece at a time, and leaves others sixteen times as long as it took', async () => {
  const { clock, pauses, paced } = pacedWork(true);
  const begun: string[] = [];
  const piece = (name: string) =>
    paced.run('tenant', () => {
      begun.push(name);
      clock.advance(7);
    });
  const both = [piece('first'), piece('second')];
  await both[0];
  await settle();
  assert.deepEqual([begun, pauses.map(({ ms }) => ms)], [['first'], [112]]);
  pauses[0]?.end();
  await both[1];
  assert.deepEqual(begun, ['first', 'second']);
});

it('large work of one tenant does not wait for all that another has waiting', async () => {
  const { pauses, paced } = pacedWork(true);
  const done: string[] = [];
  const all = ['a', 'a', 'a', 'a', 'b'].map((name) => paced.run(name, () => done.push(name)));
  while (done.length < all.length) {
    await settle();
    pauses.shift()?.end();
  }
  assert.deepEqual(done, ['a', 'a', 'b', 'a', 'a']);
});

it('503 for large work whose turn does not come in time, and it is not done later', async () => {
  const { pauses, due, runOut, paced } = pacedWork(true);
  const done: string[] = [];
  await paced.run('a', () => done.push('first'));
  const late = assert.rejects(
    paced.run('a', () => done.push('late')),
    (error) => error instanceof AppError && error.code === 'overloaded',
  );
  runOut();
  await late;
  due.clear();
  const next = paced.run('a', () => done.push('next'));
  while (!done.includes('next')) {
    pauses.shift()?.end();
    await settle();
  }
  await next;
  assert.deepEqual([done, due.size], [['first', 'next'], 0]);
});

it('large work does not wait when nobody else wants to get on', async () => {
  const { clock, pauses, paced } = pacedWork(false);
  for (let pieces = 0; pieces < 3; pieces += 1) await paced.run('tenant', () => clock.advance(9));
  assert.equal(pauses.length, 0);
});

it('a piece that fails is its caller’s failure alone, and the next one runs', async () => {
  const { paced } = pacedWork(false);
  const failed = paced.run('tenant', () => {
    throw new Error('not there');
  });
  await assert.rejects(failed, /not there/);
  assert.equal(await paced.run('tenant', () => 21), 21);
});
