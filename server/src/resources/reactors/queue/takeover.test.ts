import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { findEngine } from '@strongroom/engine/paths.js';
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

describe('requests of a process that ends', { skip: findEngine() ? false : 'the engine does not run here' }, () => {
  let first: TestApp;
  let clock: FakeClock;
  let of: QueueTenant;
  const others: TestApp[] = [];
  before(async () => {
    clock = createFakeClock(Date.now());
    first = await startTestApp({ clock });
    of = await queueTenant(first);
  });
  after(async () => {
    for (const app of others) await app.close();
    await first.close();
  });

  async function startBeside(): Promise<TestApp> {
    const app = await startTestApp({ clock, beside: { db: first.db, rootKey: rootKeyOf(first) } });
    others.push(app);
    return app;
  }
  async function end(app: TestApp): Promise<void> {
    others.splice(others.indexOf(app), 1);
    await app.close();
  }
  const isRunning = async (requestId: string) => (await of.row(requestId))?.lease !== null;
  const askAt = async (app: TestApp, id: string, body: object = {}): Promise<string> => {
    const { status, json } = await app.call('POST', `/reactors/${id}/react-async`, { key: of.caller.key, body });
    assert.equal(status, 202);
    return json.asyncReactorRequestId;
  };

  it('run again elsewhere once their lease is over, and not before: same id, next attempt, one result', async () => {
    const { id } = await of.make(SECOND);
    const requestId = await of.ask(id, { timeout_ms: 60_000 });
    await eventually('it runs', () => isRunning(requestId));
    // As a process leaves it behind that was killed.
    const lease = randomUUID();
    const untilMs = clock.nowMs() + 20_000;
    await first.db.owner.query('UPDATE reactor_requests SET lease = $2, due_at = $3 WHERE id = $1', [
      ...[requestId, lease, new Date(untilMs)],
    ]);
    const second = await startBeside();
    const { id: other } = await of.make('module.exports = async () => ({ raw: 1 });');
    clock.advance(19_999);
    assert.equal((await of.result(other, await askAt(second, other))).status, 200);
    assert.deepEqual([(await of.row(requestId))?.lease, (await of.row(requestId))?.attempt], [lease, 1]);
    clock.advance(1);
    const ran = await of.result(id, requestId);
    assert.deepEqual([ran.status, ran.json], [200, { raw: [requestId, 2] }]);
    const entries = (await of.get(`/logs?entity_id=${id}&size=100`)).json.data.map(
      ({ message }: { message: string }) => message,
    );
    assert.equal(entries.filter((message: string) => message === 'Reactor invoked').length, 1);
    await end(second);
  });

  it('are given back when it is told to end, and run elsewhere at once', async () => {
    const { id } = await of.make(SECOND);
    const second = await startTestApp({ clock, beside: { db: first.db, rootKey: rootKeyOf(first) } });
    // All places of the first one are taken, so that the second one has to.
    const { id: slow } = await of.make('module.exports = async () => new Promise((r) => setTimeout(r, 60000));');
    const asked = await Promise.all(Array.from({ length: 8 }, () => of.ask(slow, { timeout_ms: 60_000 })));
    await Promise.all(asked.map((each) => eventually('it runs', () => isRunning(each))));
    await second.close();
    const states = await Promise.all(asked.map((each) => of.row(each)));
    const given = states.filter((row) => row?.lease === null || row?.attempt === 2);
    assert.ok(given.length > 0, 'the second one had some, and they are due or run again');
    for (const each of asked) {
      await first.call('POST', `/reactors/${slow}/requests/${each}/cancel`, { key: of.manager });
    }
    const third = await startBeside();
    const requestId = await askAt(third, id, { timeout_ms: 60_000 });
    await eventually('it runs', () => isRunning(requestId));
    const begunMs = performance.now();
    await Promise.all([end(third), giveBackOfFirst(requestId)]);
    const ran = await of.result(id, requestId);
    assert.deepEqual(ran.json.raw[0], requestId);
    assert.ok(ran.json.raw[1] >= 2);
    assert.ok(performance.now() - begunMs < 30_000, 'it did not wait for the first run to end');
  });

  /** Whichever process has it, it loses it as by a shutdown. */
  async function giveBackOfFirst(requestId: string): Promise<void> {
    await first.db.owner.query(
      'UPDATE reactor_requests SET lease = NULL, due_at = $2 WHERE id = $1 AND attempt = 1 AND ended_at IS NULL',
      [requestId, new Date(clock.nowMs())],
    );
  }

  it('are shared by several processes, and each runs once', async () => {
    const second = await startBeside();
    const { id } = await of.make('module.exports = async (req) => ({ raw: req.attempt });');
    const asked = await Promise.all(Array.from({ length: 24 }, (_, at) => askAt(at % 2 === 0 ? first : second, id)));
    for (const each of asked) assert.deepEqual((await of.result(id, each)).json, { raw: 1 });
    const { json } = await of.get(`/logs?entity_id=${id}&size=100`);
    const invoked = json.data.filter(({ message }: { message: string }) => message === 'Reactor invoked');
    assert.equal(invoked.length, asked.length);
    await end(second);
  });

  it('are ended by a cancel on another process before their time, which is logged', async () => {
    const { id } = await of.make('module.exports = async () => new Promise((r) => setTimeout(r, 200000));');
    const requestId = await of.ask(id, { timeout_ms: 210_000 });
    await eventually('it runs', () => isRunning(requestId));
    const second = await startBeside();
    const cancelled = await second.call('POST', `/reactors/${id}/requests/${requestId}/cancel`, { key: of.manager });
    assert.equal(cancelled.json.state, 'cancelled');
    await eventually('the run ended', async () => {
      const { json } = await of.get(`/logs?entity_id=${id}&size=100`);
      return json.data.some(({ message }: { message: string }) => message === 'Reactor invocation failed');
    });
    assert.equal((await of.row(requestId))?.state, 'cancelled');
    await end(second);
  });

  it('are failed after five that brought it down, with what they were asked; told to, they run', async () => {
    const { id } = await of.make('module.exports = async (req) => ({ raw: [req.args, req.attempt] });');
    const left = async (requestId: string, tries: number) =>
      first.db.owner.query(
        `UPDATE reactor_requests SET state = 'queued', lease = gen_random_uuid(), tries = $2, attempt = $2, due_at = $3
         WHERE id = $1`,
        [requestId, tries, new Date(clock.nowMs())],
      );
    const held = await of.make(SECOND);
    const requestId = await of.ask(held.id, { args: 'kept', timeout_ms: 60_000 });
    await eventually('it runs', () => isRunning(requestId));
    await left(requestId, 5);
    const failed = await of.result(held.id, requestId);
    assert.deepEqual([failed.status, failed.json.code], [500, 'internal_error']);
    const [listed] = (await of.get(`/reactors/${held.id}/requests`)).json.data;
    assert.deepEqual(
      [listed.state, listed.attempt, listed.error],
      ['failed', 6, { code: 'internal_error', status: 500 }],
    );
    const path = `/reactors/${held.id}/requests/${requestId}/retry`;
    assert.equal((await first.call('POST', path, { key: of.manager })).json.state, 'queued');
    const ran = await of.result(held.id, requestId);
    assert.deepEqual(ran.json, { raw: [requestId, 7] });
    assert.equal((await of.result(id, await of.ask(id))).json.raw[1], 1);
  });

  it('a result is kept for a day and one that failed for a week, to the millisecond; then the sweep removes them', async () => {
    const { id } = await of.make('module.exports = async () => ({ raw: 1 });');
    const [done, failed] = [await of.ask(id), await of.ask(id)];
    for (const each of [done, failed]) assert.equal((await of.result(id, each)).status, 200);
    await first.db.owner.query(
      "UPDATE reactor_requests SET state = 'failed', expires_at = expires_at + interval '6 days' WHERE id = $1",
      [failed],
    );
    const read = (each: string) => first.call('GET', `/reactors/${id}/results/${each}`, { key: of.caller.key });
    clock.advance(DAY_MS - 1);
    const endedMs = ((await of.row(done))?.ended_at as Date).getTime();
    clock.advance(endedMs + DAY_MS - 1 - clock.nowMs());
    assert.equal((await read(done)).status, 200);
    await sweepReactorRequests(first.database, clock.nowMs());
    assert.ok(await of.row(done));
    clock.advance(1);
    assert.equal((await read(done)).status, 404);
    assert.ok((await sweepReactorRequests(first.database, clock.nowMs())) >= 1);
    assert.equal(await of.row(done), undefined);
    assert.ok(await of.row(failed));
    clock.advance(7 * DAY_MS);
    while ((await sweepReactorRequests(first.database, clock.nowMs())) > 0);
    assert.equal(await of.row(failed), undefined);
  });
});
