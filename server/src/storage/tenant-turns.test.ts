import assert from 'node:assert/strict';
import { afterEach, describe, it, mock } from 'node:test';
import { createFakeClock } from '../testing/fake-clock.js';
import { isOverloaded } from '../testing/group-commit-fixture.js';
import { TenantTurns } from './tenant-turns.js';

const WAIT_MAX_MS = 5_000;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Pieces of work that end when the test says so. */
function createPlaces(options: { placesMax?: number; placesOfTenantMax?: number; waitingOfTenantMax?: number } = {}) {
  const clock = createFakeClock(0);
  const turns = new TenantTurns({
    clock,
    placesMax: 3,
    placesOfTenantMax: 2,
    placesOfSlowMax: 1,
    slowMs: 100,
    slowForMs: 5_000,
    waitingOfTenantMax: 10,
    waitMaxMs: WAIT_MAX_MS,
    ...options,
  });
  const running: { readonly name: string; end(): void; fail(): void }[] = [];
  const run = (name: string) =>
    turns.run(
      name.charAt(0),
      () =>
        new Promise<string>((resolve, reject) => {
          const over = (finish: () => void) => () => {
            running.splice(running.indexOf(piece), 1);
            finish();
          };
          const piece = { name, end: over(() => resolve(name)), fail: over(() => reject(new Error(name))) };
          running.push(piece);
        }),
    );
  const names = () => running.map(({ name }) => name);
  const end = async (name: string, how: 'end' | 'fail' = 'end') => {
    const piece = running.find((each) => each.name === name);
    assert.ok(piece, `${name} is under way`);
    piece[how]();
    await turn();
  };
  return { clock, run, names, end };
}

describe('the turns of tenants', () => {
  afterEach(() => mock.timers.reset());

  it('one tenant holds its share at most, and another finds a place beside it', async () => {
    const { run, names, end } = createPlaces();
    const answers = ['a1', 'a2', 'a3', 'b1'].map(run);
    assert.deepEqual(names(), ['a1', 'a2', 'b1'], 'without waiting for anything');
    await end('b1');
    assert.deepEqual(names(), ['a1', 'a2'], 'a free place is not the tenant’s who has its share');
    await end('a1');
    assert.deepEqual(names(), ['a2', 'a3']);
    await end('a2');
    await end('a3');
    assert.deepEqual(await Promise.all(answers), ['a1', 'a2', 'a3', 'b1']);
  });

  it('where all places are taken tenants are served in turn, and each in the order it asked', async () => {
    const { run, names, end } = createPlaces({ placesMax: 1, placesOfTenantMax: 1 });
    const answers = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(run);
    const served: string[] = [];
    for (let [next] = names(); next !== undefined; [next] = names()) {
      served.push(next);
      await end(next);
    }
    assert.deepEqual(served, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
    await Promise.all(answers);
  });

  it('a tenant whose work took long has fewer places, until that is a while ago', async () => {
    const { clock, run, names, end } = createPlaces();
    const answers = ['a1', 'a2', 'a3', 'a4', 'b1'].map(run);
    clock.advance(100);
    await end('b1');
    await end('a1');
    assert.deepEqual(names(), ['a2'], 'it keeps what it holds and gets no more');
    answers.push(run('b2'), run('b3'));
    assert.deepEqual(names(), ['a2', 'b2'], 'so did the other take long');
    await end('a2');
    assert.deepEqual(names(), ['b2', 'a3']);
    clock.advance(99);
    await end('b2');
    await end('a3');
    assert.deepEqual(names(), ['b3', 'a4'], 'still remembered');
    clock.advance(5_000);
    await end('b3');
    await end('a4');
    for (const name of ['c1', 'a5', 'a6']) answers.push(run(name));
    assert.deepEqual(names(), ['c1', 'a5'], 'those that just ended took long again');
    clock.advance(1);
    await end('c1');
    await end('a5');
    clock.advance(5_000);
    assert.deepEqual(names(), ['a6']);
    for (const name of names()) await end(name);
    await Promise.all(answers);
  });

  it('what fails gives its place back', async () => {
    const { run, names, end } = createPlaces({ placesMax: 1, placesOfTenantMax: 1 });
    const failed = assert.rejects(run('a1'), /a1/);
    const next = run('a2');
    await end('a1', 'fail');
    await failed;
    assert.deepEqual(names(), ['a2']);
    await end('a2');
    assert.equal(await next, 'a2');
  });

  it('503 overloaded at once past the bound on those of a tenant that wait; another tenant is not refused', async () => {
    const { run, names, end } = createPlaces({ placesMax: 1, placesOfTenantMax: 1, waitingOfTenantMax: 1 });
    const answers = [run('a1'), run('a2')];
    await assert.rejects(run('a3'), isOverloaded);
    const other = run('b1');
    await end('a1');
    await end('a2');
    await end('b1');
    assert.deepEqual(await Promise.all([...answers, other]), ['a1', 'a2', 'b1']);
    assert.deepEqual(names(), []);
  });

  it('503 overloaded for what waited too long, which never runs and leaves its place in the queue', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { run, names, end } = createPlaces({ placesMax: 1, placesOfTenantMax: 1, waitingOfTenantMax: 1 });
    const first = run('a1');
    const late = assert.rejects(run('a2'), isOverloaded);
    mock.timers.tick(WAIT_MAX_MS);
    await late;
    const later = run('a3');
    await end('a1');
    assert.deepEqual(names(), ['a3']);
    await end('a3');
    mock.timers.tick(WAIT_MAX_MS);
    assert.deepEqual(await Promise.all([first, later]), ['a1', 'a3']);
  });
});
