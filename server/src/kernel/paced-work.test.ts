import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createFakeClock } from '../testing/fake-clock.js';
import { createPacedWork } from './paced-work.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function pacedWork(isContended: boolean) {
  const clock = createFakeClock(0);
  const pauses: { readonly ms: number; readonly end: (value?: unknown) => void }[] = [];
  const pause = (ms: number) => new Promise((end) => pauses.push({ ms, end }));
  return { clock, pauses, paced: createPacedWork({ clock, isContended: () => isContended, pause }) };
}

it('large work goes one piece at a time, and leaves others three times as long as it took', async () => {
  const { clock, pauses, paced } = pacedWork(true);
  const begun: string[] = [];
  const piece = (name: string) =>
    paced.run(
      () => begun.push(name),
      () => clock.advance(7),
    );
  const both = [piece('first'), piece('second')];
  await both[0];
  await settle();
  assert.deepEqual([begun, pauses.map(({ ms }) => ms)], [['first'], [21]]);
  pauses[0]?.end();
  await both[1];
  assert.deepEqual(begun, ['first', 'second']);
});

it('large work does not wait when nobody else wants to get on', async () => {
  const { clock, pauses, paced } = pacedWork(false);
  for (let pieces = 0; pieces < 3; pieces += 1) await paced.run(Promise.resolve.bind(Promise), () => clock.advance(9));
  assert.equal(pauses.length, 0);
});

it('a piece that fails is its caller’s failure alone, and the next one runs', async () => {
  const { paced } = pacedWork(false);
  await assert.rejects(
    paced.run(
      () => Promise.reject(new Error('not there')),
      () => {},
    ),
    /not there/,
  );
  assert.equal(
    await paced.run(
      () => 20,
      (value) => value + 1,
    ),
    21,
  );
});
