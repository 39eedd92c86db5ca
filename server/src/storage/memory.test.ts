import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createMemory } from './memory.js';

interface Row {
  readonly tenantId: string;
  readonly version: number;
}

/** A memory over rows that the test answers for by hand. */
function createFixture(options: { entriesMax?: number; bytesMax?: number } = {}) {
  let isTrusted = true;
  const memory = createMemory<Row>({
    entriesMax: options.entriesMax ?? 10,
    ...(options.bytesMax !== undefined && { bytesMax: options.bytesMax, bytesOf: ({ version }) => version }),
    tenantOf: ({ tenantId }) => tenantId,
    isTrusted: () => isTrusted,
  });
  const loads: { key: string; answer: (row: Row | undefined) => void; fail: (error: Error) => void }[] = [];
  const load = (key: string) => () =>
    new Promise<Row | undefined>((resolve, reject) => {
      loads.push({ key, answer: resolve, fail: reject });
    });
  return {
    memory,
    loads,
    find: (key: string) => memory.find(key, load(key)),
    remember: (key: string, row: Row) => memory.find(key, async () => row),
    trust(next: boolean) {
      isTrusted = next;
    },
  };
}

const row = (tenantId: string, version = 1): Row => ({ tenantId, version });

test('what was found once is answered from memory, at once', async () => {
  const { find, loads } = createFixture();
  const first = find('k');
  loads[0]?.answer(row('a'));
  assert.deepEqual(await first, row('a'));
  assert.deepEqual(find('k'), row('a'));
  assert.equal(loads.length, 1);
});

test('those who ask at the same time share one look-up', async () => {
  const { find, loads } = createFixture();
  const asked = [find('k'), find('k'), find('k')];
  loads[0]?.answer(row('a'));
  assert.deepEqual(await Promise.all(asked), [row('a'), row('a'), row('a')]);
  assert.equal(loads.length, 1);
});

test('what does not exist is not remembered, so guessing fills nothing', async () => {
  const { memory, remember } = createFixture();
  for (let guess = 0; guess < 100; guess += 1) await memory.find(`guess ${guess}`, async () => undefined);
  assert.equal(memory.size(), 0);
  assert.deepEqual(await remember('guess 1', row('a')), row('a'));
});

test('a look-up that fails is not remembered, and the next one asks again', async () => {
  const { find, loads } = createFixture();
  const failing = [find('k'), find('k')];
  loads[0]?.fail(new Error('down'));
  for (const answer of failing) await assert.rejects(Promise.resolve(answer), /down/);
  const next = find('k');
  loads[1]?.answer(row('a'));
  assert.deepEqual(await next, row('a'));
});

for (const how of ['forgetTenant', 'forgetAll'] as const) {
  test(`${how} during a look-up: it is answered but not remembered, and whoever asks after it does not share it`, async () => {
    const { memory, find, loads } = createFixture();
    const early = find('k');
    if (how === 'forgetAll') memory.forgetAll();
    else memory.forgetTenant('a');
    const late = find('k');
    assert.equal(loads.length, 2);
    loads[1]?.answer(row('a', 2));
    assert.deepEqual(await late, row('a', 2));
    loads[0]?.answer(row('a', 1));
    assert.deepEqual(await early, row('a', 1));
    assert.deepEqual(find('k'), row('a', 2), 'the older look-up did not come back over the newer');
  });
}

test('a tenant that is forgotten goes with every key of its own, and nobody else does', async () => {
  const { memory, find, remember, loads } = createFixture();
  for (const [key, tenant] of [
    ['1', 'a'],
    ['2', 'a'],
    ['3', 'b'],
  ] as const) {
    await remember(key, row(tenant));
  }
  memory.forgetTenant('a');
  assert.equal(memory.size(), 1);
  assert.deepEqual(find('3'), row('b'));
  assert.ok(find('1') instanceof Promise);
  assert.equal(loads.length, 1);
});

test('the memory is bounded: the one that was not used for longest goes', async () => {
  const { memory, find, remember } = createFixture({ entriesMax: 3 });
  for (const key of ['1', '2', '3']) await remember(key, row(key));
  find('1');
  await remember('4', row('4'));
  assert.equal(memory.size(), 3);
  assert.deepEqual(find('1'), row('1'));
  assert.ok(find('2') instanceof Promise);
});

test('while it is not trusted everybody is answered by a look-up, and none is remembered', async () => {
  const { memory, find, remember, loads, trust } = createFixture();
  await remember('k', row('a', 1));
  trust(false);
  const asked = find('k');
  assert.ok(asked instanceof Promise);
  loads[0]?.answer(row('a', 2));
  assert.deepEqual(await asked, row('a', 2));
  memory.forgetAll();
  const again = find('k');
  loads[1]?.answer(row('a', 3));
  assert.deepEqual(await again, row('a', 3));
  assert.equal(memory.size(), 0);
});

test('a look-up that began in trust and ended without it is not remembered', async () => {
  const { memory, find, loads, trust } = createFixture();
  const asked = find('k');
  trust(false);
  loads[0]?.answer(row('a'));
  await asked;
  assert.equal(memory.size(), 0);
});

type Step = { readonly act: 'find' | 'change' | 'lose' | 'regain'; readonly key: number };

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.oneof(
    { weight: 6, arbitrary: fc.constant<Step['act']>('find') },
    { weight: 3, arbitrary: fc.constant<Step['act']>('change') },
    fc.constantFrom<Step['act']>('lose', 'regain'),
  ),
  key: fc.nat({ max: 5 }),
});

const ENTRIES_MAX = 4;
const tenantOfKey = (key: number): string => `tenant ${key % 2}`;

test('in any order of look-ups, changes and losses nobody is told a state older than the last change heard', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 60 }), async (scheduler, steps) => {
      const stored = new Map<number, number>();
      let isTrusted = true;
      const memory = createMemory<Row>({
        entriesMax: ENTRIES_MAX,
        tenantOf: ({ tenantId }) => tenantId,
        isTrusted: () => isTrusted,
      });

      function load(key: number): () => Promise<Row> {
        return async () => {
          await scheduler.schedule(Promise.resolve(), `read ${key}`);
          const found = { tenantId: tenantOfKey(key), version: stored.get(key) ?? 0 };
          await scheduler.schedule(Promise.resolve(), `answer ${key}`);
          return found;
        };
      }

      async function find(key: number): Promise<void> {
        const atLeast = stored.get(key) ?? 0;
        const found = await memory.find(String(key), load(key));
        assert.ok(found && found.version >= atLeast, `version ${found?.version} after ${atLeast}`);
        assert.equal(found.tenantId, tenantOfKey(key));
      }

      const finds: Promise<void>[] = [];
      for (const { act, key } of steps) {
        if (act === 'find') finds.push(find(key));
        if (act === 'change') {
          stored.set(key, (stored.get(key) ?? 0) + 1);
          memory.forgetTenant(tenantOfKey(key));
        }
        if (act === 'lose') isTrusted = false;
        if (act === 'regain') {
          memory.forgetAll();
          isTrusted = true;
        }
        assert.ok(memory.size() <= ENTRIES_MAX);
        if (scheduler.count() > 0 && key % 2 === 0) await scheduler.waitOne();
      }
      await scheduler.waitAll();
      await Promise.all(finds);
      assert.ok(memory.size() <= ENTRIES_MAX);
    }),
    { numRuns: 500 },
  );
});

test('values that differ in size are bounded by what they take together: the least recently used go, and their room comes back', async () => {
  const { memory, remember, find, loads } = createFixture({ bytesMax: 10 });
  for (const [key, bytes] of [
    ['a', 3],
    ['b', 3],
    ['c', 3],
  ] as const)
    await remember(key, row(key, bytes));
  assert.equal(memory.size(), 3);
  await find('a');
  await remember('d', row('d', 4));
  assert.equal(memory.size(), 3);
  assert.deepEqual([await find('a'), await find('d')], [row('a', 3), row('d', 4)]);
  assert.equal(loads.length, 0);
  await remember('huge', row('huge', 11));
  assert.equal(memory.size(), 0);
  await remember('e', row('e', 10));
  memory.forgetTenant('e');
  await remember('f', row('f', 10));
  assert.deepEqual(await find('f'), row('f', 10));
  memory.forgetAll();
  await remember('g', row('g', 10));
  assert.deepEqual(await find('g'), row('g', 10));
  assert.equal(loads.length, 0);
});
