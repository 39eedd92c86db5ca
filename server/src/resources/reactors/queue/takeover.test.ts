// needs: engine

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../../testing/eventually.js';
import type { FakeClock } from '../../../testing/fake-clock.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp } from '../../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../../testing/test-app.js';
import type { QueueTenant } from './queue-fixture.js';
import { queueTenant } from './queue-fixture.js';
import { sweepReactorRequests } from './sweep.js';

/** Waits on its first attempt, and answers on every other. */
const SECOND = `module.exports = async (req) => {
  if (req.attempt === 1) await new Promise((resolve) => setTimeout(resolve, 60000));
  return { raw: [req.request_id, req.attempt] };
};`;
const DAY_MS = 86_400_000;

describe('requests of a process that ends', () => {
  /** Keeps the database, takes calls of the API and runs no code. */
  let keeper: TestApp;
  let clock: FakeClock;
  let of: QueueTenant;
  const runners: TestApp[] = [];
  before(async () => {
    clock = createFakeClock(Date.now());
    keeper = await startTestApp({ clock, env: { STRONGROOM_REACTORS: 'off' } });
    of = await queueTenant(keeper);
    const { id } = await of.make(SECOND);
    assert.equal((await keeper.call('POST', `/reactors/${id}/react`, { key: of.caller.key })).status, 503);
    const refused = await keeper.call('POST', `/reactors/${id}/react-async`, { key: of.caller.key });
    assert.deepEqual([refused.status, refused.json.code], [503, 'reactors_unavailable']);
  });
  after(async () => {
    for (const app of runners) await app.close();
    await keeper.close();
  });

  async function startRunner(): Promise<TestApp> {
    const app = await startTestApp({ clock, beside: { db: keeper.db, rootKey: rootKeyOf(keeper) } });
    runners.push(app);
    return app;
  }
  async function end(app: TestApp): Promise<void> {
    runners.splice(runners.indexOf(app), 1);
    await app.close();
  }
  const isRunning = async (requestId: string) => (await of.row(requestId))?.lease !== null;
  async function ask(app: TestApp, id: string, body: object = {}): Promise<string> {
    const { status, json } = await app.call('POST', `/reactors/${id}/react-async`, { key: of.caller.key, body });
    assert.equal(status, 202);
    return json.asyncReactorRequestId;
  }
  const messagesOf = async (id: string): Promise<string[]> =>
    (await of.get(`/logs?entity_id=${id}&size=100`)).json.data.map(({ message }: { message: string }) => message);

  it('run again elsewhere once their lease is over, and not before: same id, next attempt, one result', async () => {
    const { id } = await of.make(SECOND);
    const killed = await startRunner();
    const requestId = await ask(killed, id, { timeout_ms: 60_000 });
    await eventually('it runs', () => isRunning(requestId));
    // As a process leaves it behind that was killed: it has a name that nobody answers to.
    const lease = randomUUID();
    await keeper.db.owner.query('UPDATE reactor_requests SET lease = $2, due_at = $3 WHERE id = $1', [
      ...[requestId, lease, new Date(clock.nowMs() + 20_000)],
    ]);
    await end(killed);
    const second = await startRunner();
    const { id: other } = await of.make('module.exports = async () => ({ raw: 1 });');
    clock.advance(19_999);
    assert.equal((await of.result(other, await ask(second, other))).status, 200);
    const row = await of.row(requestId);
    assert.deepEqual([row?.lease, row?.attempt], [lease, 1]);
    clock.advance(1);
    const ran = await of.result(id, requestId);
    assert.deepEqual([ran.status, ran.json], [200, { raw: [requestId, 2] }]);
    assert.equal((await messagesOf(id)).filter((message) => message === 'Reactor invoked').length, 1);
    await end(second);
  });

  it('are given back when it is told to end, and run elsewhere at once', async () => {
    const { id } = await of.make(SECOND);
    const ending = await startRunner();
    const requestId = await ask(ending, id, { timeout_ms: 60_000 });
    await eventually('it runs', () => isRunning(requestId));
    await end(ending);
    const row = await of.row(requestId);
    assert.deepEqual([row?.state, row?.lease, row?.attempt, row?.tries], ['queued', null, 1, 0]);
    assert.deepEqual(row?.due_at, new Date(clock.nowMs()));
    const second = await startRunner();
    assert.deepEqual((await of.result(id, requestId)).json, { raw: [requestId, 2] });
    await end(second);
  });

  it('are shared by several processes, and each runs once', async () => {
    const both = [await startRunner(), await startRunner()] as const;
    const { id } = await of.make('module.exports = async (req) => ({ raw: req.attempt });');
    const asked = await Promise.all(Array.from({ length: 24 }, (_, at) => ask(both[at % 2 === 0 ? 0 : 1], id)));
    for (const each of asked) assert.deepEqual((await of.result(id, each)).json, { raw: 1 });
    assert.equal((await messagesOf(id)).filter((message) => message === 'Reactor invoked').length, asked.length);
    for (const app of both) await end(app);
  });

  it('are ended by a cancel on another process before their time, which is logged', async () => {
    const { id } = await of.make('module.exports = async () => new Promise((r) => setTimeout(r, 200000));');
    const runner = await startRunner();
    const requestId = await ask(runner, id, { timeout_ms: 210_000 });
    await eventually('it runs', () => isRunning(requestId));
    const cancelled = await keeper.call('POST', `/reactors/${id}/requests/${requestId}/cancel`, { key: of.manager });
    assert.equal(cancelled.json.state, 'cancelled');
    await eventually('the run ended', async () => (await messagesOf(id)).includes('Reactor invocation failed'));
    assert.equal((await of.row(requestId))?.state, 'cancelled');
    await end(runner);
  });

  it('are failed after five that brought it down, with what they were asked; told to, they run', async () => {
    const { id } = await of.make(SECOND);
    const runner = await startRunner();
    const requestId = await ask(runner, id, { args: 'kept', timeout_ms: 60_000 });
    await eventually('it runs', () => isRunning(requestId));
    await end(runner);
    await keeper.db.owner.query('UPDATE reactor_requests SET lease = gen_random_uuid(), tries = 5 WHERE id = $1', [
      requestId,
    ]);
    const second = await startRunner();
    const failed = await of.result(id, requestId);
    assert.deepEqual([failed.status, failed.json.code], [500, 'internal_error']);
    const [listed] = (await of.get(`/reactors/${id}/requests`)).json.data;
    assert.deepEqual(
      [listed.state, listed.attempt, listed.error],
      ['failed', 2, { code: 'internal_error', status: 500 }],
    );
    const path = `/reactors/${id}/requests/${requestId}/retry`;
    const retried = await second.call('POST', path, { key: of.manager });
    assert.deepEqual([retried.status, retried.json.state], [200, 'queued']);
    assert.deepEqual((await of.result(id, requestId)).json, { raw: [requestId, 3] });
    await end(second);
  });

  it('a result is kept for a day and one that failed for a week, to the millisecond; then the sweep removes them', async () => {
    const { id } = await of.make('module.exports = async () => ({ raw: 1 });');
    const runner = await startRunner();
    const [done, failed] = [await ask(runner, id), await ask(runner, id)];
    for (const each of [done, failed]) assert.equal((await of.result(id, each)).status, 200);
    await end(runner);
    await keeper.db.owner.query(
      "UPDATE reactor_requests SET state = 'failed', expires_at = expires_at + interval '6 days' WHERE id = $1",
      [failed],
    );
    const read = (each: string) => keeper.call('GET', `/reactors/${id}/results/${each}`, { key: of.caller.key });
    const sweep = () => sweepReactorRequests(keeper.database, clock.nowMs());
    clock.advance(DAY_MS - 1);
    assert.equal((await read(done)).status, 200);
    await sweep();
    assert.ok(await of.row(done));
    clock.advance(1);
    assert.equal((await read(done)).status, 404);
    assert.equal((await read(failed)).status, 404);
    assert.ok((await sweep()) >= 1);
    assert.deepEqual([await of.row(done), typeof (await of.row(failed))], [undefined, 'object']);
    clock.advance(6 * DAY_MS);
    assert.ok((await sweep()) >= 1);
    assert.equal(await of.row(failed), undefined);
  });
});
