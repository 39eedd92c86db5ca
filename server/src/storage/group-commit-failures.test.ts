import assert from 'node:assert/strict';
import { test } from 'node:test';
import { at, conflict, createQueue, isUnavailable, outage, settle } from '../testing/group-commit-fixture.js';
import { MemberFailure } from './group-commit.js';

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
