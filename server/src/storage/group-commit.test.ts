import assert from 'node:assert/strict';
import { test } from 'node:test';
import { at, createQueue, isOverloaded, isUnavailable, settle, WAIT_MAX_MS } from '../testing/group-commit-fixture.js';

test('changes of one turn share a transaction, in the order of their tenants, and each gets its own value', async () => {
  const { batches, submit } = createQueue();
  const answers = Promise.all(['c', 'a', 'b', 'a'].map(submit));
  await settle();
  assert.deepEqual(
    batches.map(({ tenants }) => tenants),
    [['a', 'a', 'b', 'c']],
  );
  at(batches, 0).commit();
  assert.deepEqual(await answers, ['c', 'a', 'b', 'a']);
});

test('changes of one tenant keep the order they came in', async () => {
  const ran: number[] = [];
  const { queue } = createQueue({
    runBatch: (members) => Promise.all(members.map(({ tenantId, work }) => work(handle(tenantId)))),
  });
  const answers = [3, 1, 2].map((n) =>
    queue.submit('a', async () => {
      ran.push(n);
      return n;
    }),
  );
  assert.deepEqual(await Promise.all(answers), [3, 1, 2]);
  assert.deepEqual(ran, [3, 1, 2]);
});

test('while every lane is busy the next batch gathers, no larger than its bound', async () => {
  const { batches, submit } = createQueue({ lanes: 2, batchMax: 2 });
  const answers = Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(submit));
  await settle();
  assert.deepEqual(
    batches.map(({ tenants }) => tenants),
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  );
  assert.notEqual(at(batches, 0).lane, at(batches, 1).lane);
  at(batches, 1).commit();
  await settle();
  assert.deepEqual(at(batches, 2).tenants, ['e', 'f']);
  assert.equal(at(batches, 2).lane, at(batches, 1).lane);
  for (const index of [0, 2]) at(batches, index).commit();
  await settle();
  at(batches, 3).commit();
  assert.equal((await answers).length, 7);
});

test('a full queue refuses the next change at once, and keeps the ones it has', async () => {
  const { queue, batches, submit } = createQueue({ queueMax: 2 });
  const first = submit('a');
  await settle();
  const waiting = [submit('b'), submit('c')];
  await assert.rejects(submit('d'), isOverloaded);
  assert.equal(queue.depth(), 3);
  at(batches, 0).commit();
  await settle();
  at(batches, 1).commit();
  assert.deepEqual(await Promise.all([first, ...waiting]), ['a', 'b', 'c']);
});

test('a change never waits for all that another tenant has queued: tenants are taken in turn', async () => {
  const { batches, submit } = createQueue({ batchMax: 3, queueMax: 100, queueOfTenantMax: 100 });
  const answers = Promise.all([...'aaaaaaaaab', ...'ac'].map(submit));
  await settle();
  for (let index = 0; index < batches.length; index += 1) {
    at(batches, index).commit();
    await settle();
  }
  assert.equal((await answers).length, 12);
  assert.deepEqual(
    batches.map(({ tenants }) => tenants.join('')),
    ['abc', 'aaa', 'aaa', 'aaa'],
  );
});

test('a batch is of one tenant where the database is distributed, and tenants are taken in turn', async () => {
  const { batches, submit } = createQueue({ batchMax: 3, queueMax: 100, queueOfTenantMax: 100, isByTenant: true });
  const answers = Promise.all([...'aaaabbca'].map(submit));
  await settle();
  for (let index = 0; index < batches.length; index += 1) {
    at(batches, index).commit();
    await settle();
  }
  assert.deepEqual(await answers, [...'aaaabbca']);
  assert.deepEqual(
    batches.map(({ tenants }) => tenants.join('')),
    ['aaa', 'bb', 'c', 'aa'],
  );
});

test('503 overloaded for the change of a tenant that has its share waiting, while another is taken', async () => {
  const { batches, submit } = createQueue({ queueOfTenantMax: 2 });
  const first = submit('a');
  await settle();
  const waiting = [submit('a'), submit('a')];
  await assert.rejects(submit('a'), isOverloaded);
  const other = submit('b');
  at(batches, 0).commit();
  await settle();
  at(batches, 1).commit();
  assert.deepEqual(await Promise.all([first, ...waiting, other]), ['a', 'a', 'a', 'b']);
});

test('a change that waited too long for a lane is refused unrun, and a younger one is not', async () => {
  const { clock, batches, submit } = createQueue();
  const first = submit('a');
  await settle();
  const tooOld = assert.rejects(submit('b'), isUnavailable);
  clock.advance(1);
  const oldEnough = submit('c');
  clock.advance(WAIT_MAX_MS);
  at(batches, 0).commit();
  await tooOld;
  await settle();
  assert.deepEqual(at(batches, 1).tenants, ['c']);
  at(batches, 1).commit();
  assert.deepEqual(await Promise.all([first, oldEnough]), ['a', 'c']);
});

test('no transaction is opened when everything in the queue waited too long', async () => {
  const { clock, batches, submit } = createQueue();
  const first = submit('a');
  await settle();
  const tooOld = assert.rejects(submit('b'), isUnavailable);
  clock.advance(WAIT_MAX_MS + 1);
  at(batches, 0).commit();
  await Promise.all([first, tooOld]);
  await settle();
  assert.equal(batches.length, 1);
});

test('the lane is free again after a batch that nobody was left for', async () => {
  const { clock, batches, submit } = createQueue();
  const first = submit('a');
  await settle();
  const tooOld = assert.rejects(submit('b'), isUnavailable);
  clock.advance(WAIT_MAX_MS + 1);
  at(batches, 0).commit();
  await Promise.all([first, tooOld]);
  await settle();
  for (const { tenants, commit } of batches) if (tenants.length === 0) commit();
  const next = submit('c');
  await settle();
  batches.at(-1)?.commit();
  assert.equal(await next, 'c');
});

test('drain waits for what runs and for what is queued, and refuses what comes later', async () => {
  const { queue, batches, submit } = createQueue({ batchMax: 1 });
  const answers = Promise.all(['a', 'b'].map(submit));
  await settle();
  let isDrained = false;
  const drained = queue.drain().then(() => {
    isDrained = true;
  });
  await assert.rejects(submit('c'), isUnavailable);
  at(batches, 0).commit();
  await settle();
  assert.equal(isDrained, false);
  at(batches, 1).fail(new Error('a failure is an answer too'));
  await assert.rejects(answers);
  await drained;
  assert.equal(batches.length, 2);
});

test('drain of an idle queue is over at once', async () => {
  await createQueue().queue.drain();
});

test('drain asked for twice answers both', async () => {
  const { queue, batches, submit } = createQueue();
  const answer = submit('a');
  await settle();
  let drained = 0;
  for (const drain of [queue.drain(), queue.drain()]) {
    void drain.then(() => {
      drained += 1;
    });
  }
  at(batches, 0).commit();
  await answer;
  await settle();
  assert.equal(drained, 2);
});

function handle(tenantId: string) {
  const refuse = () => Promise.reject(new Error('no database here'));
  return { kind: 'tenant', tenantId, lane: 0, run: refuse, gather: refuse } as const;
}
