import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../kernel/errors.js';
import {
  at,
  conflict,
  createQueue,
  isUnavailable,
  outage,
  settle,
  WAIT_MAX_MS,
} from '../testing/group-commit-fixture.js';
import { translateDriverFault } from './faults.js';
import { MemberFailure } from './group-commit.js';
import { Unwritten } from './unwritten.js';

test('a batch goes again without the member that failed, which then runs alone, and only that member fails', async () => {
  const { batches, submit } = createQueue();
  const wrong = new Error('the second one is wrong');
  const answers = Promise.allSettled(['a', 'b', 'c'].map(submit));
  await settle();
  at(batches, 0).fail(new MemberFailure(1, wrong));
  await settle();
  at(batches, 1).commit();
  await settle();
  at(batches, 2).fail(new MemberFailure(0, wrong));
  assert.deepEqual(await answers, [
    { status: 'fulfilled', value: 'a' },
    { status: 'rejected', reason: wrong },
    { status: 'fulfilled', value: 'c' },
  ]);
  assert.deepEqual(
    batches.map(({ tenants }) => tenants),
    [['a', 'b', 'c'], ['a', 'c'], ['b']],
  );
});

test('a member that failed with others and succeeds alone is acknowledged', async () => {
  const { batches, submit } = createQueue();
  const answers = Promise.all(['a', 'b'].map(submit));
  await settle();
  at(batches, 0).fail(new MemberFailure(0, conflict()));
  for (const index of [1, 2]) {
    await settle();
    at(batches, index).commit();
  }
  assert.deepEqual(await answers, ['a', 'b']);
});

test('a batch with one failing member after another ends up one by one, so its attempts are bounded', async () => {
  const { batches, submit } = createQueue();
  const wrong = new Error('wrong');
  const answers = Promise.allSettled(['a', 'b', 'c', 'd', 'e', 'f'].map(submit));
  for (let index = 0; index < 12; index += 1) {
    await settle();
    batches[index]?.fail(new MemberFailure(0, wrong));
  }
  for (const answer of await answers) assert.deepEqual(answer, { status: 'rejected', reason: wrong });
  assert.ok(batches.length <= 4 + 6, `${batches.length} transactions for six changes`);
});

test('a lost store, seen by one member first, fails the whole batch at once', async () => {
  const { batches, submit } = createQueue();
  const down = outage();
  const answers = Promise.allSettled(['a', 'b'].map(submit));
  await settle();
  at(batches, 0).fail(new MemberFailure(1, down));
  for (const answer of await answers) assert.deepEqual(answer, { status: 'rejected', reason: down });
  await settle();
  assert.equal(batches.length, 1);
});

test('a batch that fails without anybody to blame runs again one by one, and only the wrong member fails', async () => {
  const { batches, submit } = createQueue();
  const wrong = new Error('the second one is wrong');
  const answers = Promise.allSettled(['a', 'b', 'c'].map(submit));
  await settle();
  at(batches, 0).fail(wrong);
  await settle();
  at(batches, 1).commit();
  await settle();
  at(batches, 2).fail(wrong);
  await settle();
  at(batches, 3).commit();
  assert.deepEqual(await answers, [
    { status: 'fulfilled', value: 'a' },
    { status: 'rejected', reason: wrong },
    { status: 'fulfilled', value: 'c' },
  ]);
  assert.deepEqual(
    batches.map(({ tenants }) => tenants),
    [['a', 'b', 'c'], ['a'], ['b'], ['c']],
  );
});

test('a batch that fails by a shared statement goes again by tenant, and only the wrong one pays for it', async () => {
  const { batches, submit } = createQueue();
  const wrong = new Error('one of b is wrong');
  const answers = Promise.allSettled(['a', 'b', 'a', 'b', 'c', 'a'].map(submit));
  await settle();
  at(batches, 0).fail(wrong);
  await settle();
  at(batches, 1).commit();
  await settle();
  at(batches, 2).fail(wrong);
  await settle();
  at(batches, 3).fail(wrong);
  for (const index of [4, 5]) {
    await settle();
    at(batches, index).commit();
  }
  assert.deepEqual(
    (await answers).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled', 'fulfilled'],
  );
  assert.deepEqual(
    batches.map(({ tenants }) => tenants.join('')),
    ['aaabbc', 'aaa', 'bb', 'b', 'b', 'c'],
  );
});

test('a change that was refused before it wrote anything is told so, and its batch commits with the others', async () => {
  const refusal = new AppError('not_found', 'There is no such thing.');
  const { queue, batches, submit } = createQueue({
    runBatch: (members) => {
      batches.push({ tenants: members.map(({ tenantId }) => tenantId), lane: 0, commit: () => {}, fail: () => {} });
      return Promise.resolve(members.map(({ tenantId }) => (tenantId === 'b' ? new Unwritten(refusal) : tenantId)));
    },
  });
  assert.deepEqual(await Promise.allSettled(['a', 'b', 'c'].map(submit)), [
    { status: 'fulfilled', value: 'a' },
    { status: 'rejected', reason: refusal },
    { status: 'fulfilled', value: 'c' },
  ]);
  await assert.rejects(submit('b'), refusal);
  assert.equal(batches.length, 2);
  assert.equal(queue.depth(), 0);
});

test('a conflict is tried again and not reported', async () => {
  const { batches, submit } = createQueue();
  const answer = submit('a');
  for (const attempt of [0, 1]) {
    await settle();
    at(batches, attempt).fail(conflict());
  }
  await settle();
  at(batches, 2).commit();
  assert.equal(await answer, 'a');
});

test('a conflict that does not end is reported after three attempts', async () => {
  const { batches, submit } = createQueue();
  const refused = assert.rejects(submit('a'), isUnavailable);
  for (const attempt of [0, 1, 2]) {
    await settle();
    at(batches, attempt).fail(conflict());
  }
  await refused;
  await settle();
  assert.equal(batches.length, 3);
});

test('a batch with a conflict runs again one by one', async () => {
  const { batches, submit } = createQueue();
  const answers = Promise.all(['a', 'b'].map(submit));
  await settle();
  at(batches, 0).fail(conflict());
  for (const index of [1, 2]) {
    await settle();
    at(batches, index).commit();
  }
  assert.deepEqual(await answers, ['a', 'b']);
});

test('a store that is not available fails the whole batch at once, and nothing runs again', async () => {
  const { queue, batches, submit } = createQueue();
  const down = outage();
  const answers = Promise.allSettled(['a', 'b', 'c'].map(submit));
  await settle();
  at(batches, 0).fail(down);
  for (const answer of await answers) assert.deepEqual(answer, { status: 'rejected', reason: down });
  await settle();
  assert.equal(batches.length, 1);
  assert.equal(queue.depth(), 0);
});

test('503 for all at once when the store goes down while a batch runs one by one: nobody waits for the others to find out', async () => {
  const { batches, submit } = createQueue();
  const answers = Promise.allSettled(['a', 'b', 'c', 'd'].map(submit));
  await settle();
  at(batches, 0).fail(conflict());
  await settle();
  at(batches, 1).fail(outage());
  for (const answer of await answers) assert.ok(answer.status === 'rejected' && isUnavailable(answer.reason));
  assert.equal(batches.length, 2);
});

test('503 instead of another attempt for a member whose time to begin is over', async () => {
  const { batches, clock, submit } = createQueue();
  const answers = Promise.allSettled(['a', 'b', 'c'].map(submit));
  await settle();
  at(batches, 0).fail(conflict());
  await settle();
  clock.advance(WAIT_MAX_MS + 1);
  at(batches, 1).commit();
  const [first, ...others] = await answers;
  assert.deepEqual(first, { status: 'fulfilled', value: 'a' });
  for (const answer of others) assert.ok(answer.status === 'rejected' && isUnavailable(answer.reason));
  assert.equal(batches.length, 2);
});

test('503 for the whole batch when the server ended a session it heard nothing on, and nothing runs again', async () => {
  const { batches, submit } = createQueue();
  const answers = Promise.allSettled(['a', 'b'].map(submit));
  await settle();
  const ended = Object.assign(new Error('idle in transaction'), { code: '25P03', severity: 'FATAL' });
  at(batches, 0).fail(translateDriverFault(ended));
  for (const answer of await answers) assert.ok(answer.status === 'rejected' && isUnavailable(answer.reason));
  assert.equal(batches.length, 1);
});
