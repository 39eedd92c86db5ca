import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../kernel/errors.js';
import type { PlaceHolder, Places } from './places.js';
import { createPlaces } from './places.js';

describe('places', () => {
  const timers: (() => void)[] = [];
  const make = (max: number): Places =>
    createPlaces({
      max,
      after: (_ms, call) => {
        timers.push(call);
        return () => void timers.splice(timers.indexOf(call), 1);
      },
    });
  const holder = (): PlaceHolder => ({ hasPlace: false });
  function entered(places: Places, count: number): PlaceHolder[] {
    const holders = Array.from({ length: count }, holder);
    for (const each of holders) places.take(each);
    return holders;
  }

  it('are taken again at once while there are some, without a promise', () => {
    const places = make(2);
    const [first = assert.fail()] = entered(places, 2);
    places.leave(first);
    assert.equal(places.takeAgain(first), undefined);
    assert.deepEqual([places.taken(), first.hasPlace], [2, true]);
  });

  it('are given back once, however often one leaves', () => {
    const places = make(2);
    const [first = assert.fail()] = entered(places, 2);
    places.leave(first);
    places.leave(first);
    assert.equal(places.taken(), 1);
  });

  it('go to those who wait in the order of asking, and never past the bound', async () => {
    const places = make(2);
    const busy = entered(places, 2);
    const late = [holder(), holder()];
    const waits = late.map((each) => places.takeAgain(each));
    const [tooMany = assert.fail()] = entered(places, 1);
    places.leave(tooMany);
    assert.deepEqual([places.taken(), late.map(({ hasPlace }) => hasPlace)], [2, [false, false]]);
    places.leave(busy[0] ?? assert.fail());
    await waits[0];
    assert.deepEqual([places.taken(), late.map(({ hasPlace }) => hasPlace)], [2, [true, false]]);
    places.leave(busy[1] ?? assert.fail());
    await waits[1];
    assert.deepEqual([places.taken(), timers.length], [2, 0]);
  });

  it('503 for who has waited too long, who then holds nothing', async () => {
    const places = make(1);
    const [busy = assert.fail()] = entered(places, 1);
    const late = holder();
    const waiting = places.takeAgain(late);
    for (const turn of timers.splice(0)) turn();
    await assert.rejects(waiting ?? assert.fail(), (error) => error instanceof AppError && error.code === 'overloaded');
    places.leave(late);
    places.leave(busy);
    assert.deepEqual([places.taken(), late.hasPlace], [0, false]);
  });
});
