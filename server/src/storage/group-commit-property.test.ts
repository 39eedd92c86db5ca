import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFakeClock } from '../testing/fake-clock.js';
import { translateDriverFault } from './faults.js';
import type { Member, RunBatch } from './group-commit.js';
import { GroupCommit, MemberFailure } from './group-commit.js';
import type { TenantTx } from './scope.js';

const LANES = 2;
const BATCH_MAX = 4;
const QUEUE_MAX = 12;

interface Change {
  readonly tenant: number;
  /** How often its own work fails before it succeeds. */
  readonly failures: number;
  /** Turns of the event loop before the next change arrives. */
  readonly pauseTurns: number;
}

type StoreFault = 'none' | 'conflict' | 'down';

const change = fc.record({
  tenant: fc.nat({ max: 3 }),
  failures: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.constantFrom(1, 2, 9)),
  pauseTurns: fc.nat({ max: 2 }),
});
const storeFault: fc.Arbitrary<StoreFault> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<StoreFault>('none') },
  fc.constantFrom<StoreFault>('conflict', 'down'),
);

/** A store with transactions: what a batch did shows only if all of it succeeded and the commit did too. */
function createStore(faults: readonly StoreFault[], isBlaming = true) {
  const committed: number[] = [];
  const busyLanes = new Set<number>();
  let calls = 0;

  const runBatch: RunBatch = async (members, lane) => {
    assert.ok(!busyLanes.has(lane), 'a lane runs one batch at a time');
    busyLanes.add(lane);
    const fault = faults[calls % faults.length] ?? 'none';
    calls += 1;
    try {
      return await runTransaction(members, lane, fault);
    } finally {
      busyLanes.delete(lane);
    }
  };

  async function runTransaction(members: readonly Member[], lane: number, fault: StoreFault): Promise<unknown[]> {
    const outcomes = await Promise.allSettled(
      members.map(async ({ tenantId, work }) => {
        const unused = () => Promise.reject(new Error('unused'));
        const tx: TenantTx = { kind: 'tenant', tenantId, lane, run: unused, gather: unused };
        return (await work(tx)) as number; // Every change of this test gives back its own number.
      }),
    );
    const values = outcomes.map((outcome, index) => {
      if (outcome.status === 'fulfilled') return outcome.value;
      throw isBlaming ? new MemberFailure(index, outcome.reason) : outcome.reason;
    });
    await new Promise(setImmediate);
    if (fault === 'conflict')
      throw translateDriverFault(Object.assign(new Error(), { code: '40P01', severity: 'ERROR' }));
    if (fault === 'down') throw translateDriverFault(new Error('connection reset'));
    committed.push(...values);
    return values;
  }

  return { committed, runBatch };
}

async function acknowledge(changes: readonly Change[], runBatch: RunBatch): Promise<number[]> {
  const queue = new GroupCommit({
    runBatch,
    clock: createFakeClock(0),
    lanes: LANES,
    batchMax: BATCH_MAX,
    queueMax: QUEUE_MAX,
    queueOfTenantMax: QUEUE_MAX,
    waitMaxMs: 1_000,
  });
  const answers: Promise<number>[] = [];
  for (const [id, { tenant, failures, pauseTurns }] of changes.entries()) {
    let failuresLeft = failures;
    const answer = queue.submit(`tenant-${tenant}`, async () => {
      if (failuresLeft > 0) {
        failuresLeft -= 1;
        throw new Error(`change ${id} fails`);
      }
      return id;
    });
    answer.catch(() => {});
    answers.push(answer);
    for (let turn = 0; turn < pauseTurns; turn += 1) await new Promise(setImmediate);
  }
  await queue.drain();
  assert.equal(queue.depth(), 0);
  const settled = await Promise.allSettled(answers);
  return settled.flatMap((outcome, id) => {
    if (outcome.status === 'rejected') return [];
    assert.equal(outcome.value, id, 'a change is answered with its own value');
    return [id];
  });
}

test('whatever fails, every change is answered, and exactly the acknowledged ones are committed, once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 30 }),
      fc.array(storeFault, { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      async (changes, faults, isBlaming) => {
        const store = createStore(faults, isBlaming);
        const acknowledged = await acknowledge(changes, store.runBatch);
        assert.deepEqual(
          store.committed.toSorted((a, b) => a - b),
          acknowledged,
        );
      },
    ),
    { numRuns: 400 },
  );
});

test('a change that never fails by itself is acknowledged, whatever its neighbours do', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: QUEUE_MAX }),
      fc.boolean(),
      async (changes, isBlaming) => {
        const store = createStore(['none'], isBlaming);
        const acknowledged = new Set(await acknowledge(changes, store.runBatch));
        for (const [id, { failures }] of changes.entries()) {
          if (failures === 0) assert.ok(acknowledged.has(id), `change ${id} failed with a neighbour`);
        }
      },
    ),
    { numRuns: 200 },
  );
});
