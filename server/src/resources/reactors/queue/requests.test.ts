// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../../testing/eventually.js';
import type { TestApp } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { QueueTenant } from './queue-fixture.js';
import { queueTenant, USES } from './queue-fixture.js';

const NOBODY = '00000000-0000-4000-8000-000000000000';
const WAITS = 'module.exports = async () => new Promise((resolve) => setTimeout(resolve, 60_000));';
const ECHO = 'module.exports = async (req) => ({ raw: [req.args, req.request_id, req.attempt] });';

describe('POST /reactors/{id}/react-async', () => {
  let app: TestApp;
  let of: QueueTenant;
  before(async () => {
    // Of the two processes of a tenant one is for queued calls, so that one call can keep the others waiting.
    app = await startTestApp({ env: { STRONGROOM_REACTOR_INSTANCES_PER_TENANT_MAX: '2' } });
    of = await queueTenant(app);
  });
  after(() => app.close());

  const react = (id: string, more: object = {}, key = of.caller.key) =>
    app.call('POST', `/reactors/${id}/react-async`, { key, ...more });
  const resultFor = (key: string, id: string, requestId: string) =>
    app.call('GET', `/reactors/${id}/results/${requestId}`, { key });
  const cancel = (id: string, requestId: string) =>
    app.call('POST', `/reactors/${id}/requests/${requestId}/cancel`, { key: of.manager });
  const retry = (id: string, requestId: string) =>
    app.call('POST', `/reactors/${id}/requests/${requestId}/retry`, { key: of.manager });
  /** Takes the one place of the tenant; resolves with what gives it back. */
  async function block(): Promise<() => Promise<void>> {
    const { id } = await of.make(WAITS);
    const requestId = await of.ask(id, { timeout_ms: 60_000 });
    await eventually('it runs', async () => (await of.row(requestId))?.lease !== null);
    return async () => {
      await cancel(id, requestId);
    };
  }
  const entriesOf = async (id: string) =>
    (await of.get(`/logs?entity_id=${id}&include=details&size=100`)).json.data as Record<string, unknown>[];

  it('202 with an id; the result is the synchronous answer, and its log entry is the caller’s', async () => {
    const { json: token } = await app.call('POST', '/tokens', { key: of.caller.key, body: { data: 'secret value' } });
    const { id } = await of.make(ECHO);
    const asked = await react(id, {
      body: { args: { value: `{{ ${token.id} }}` }, timeoutMs: 10_000 },
      headers: { 'SVC-TRACE-ID': 'trace-of-the-call' },
    });
    assert.equal(asked.status, 202);
    assert.deepEqual(Object.keys(asked.json), ['asyncReactorRequestId']);
    const requestId = asked.json.asyncReactorRequestId;
    const ran = await of.result(id, requestId);
    assert.deepEqual([ran.status, ran.json], [200, { raw: [{ value: 'secret value' }, requestId, 1] }]);
    const [entry] = await entriesOf(id);
    assert.deepEqual(
      [entry?.message, entry?.actor_id, entry?.trace_id, entry?.entity_version],
      ['Reactor invoked', of.caller.id, 'trace-of-the-call', 1],
    );
    const row = await of.row(requestId);
    assert.deepEqual([row?.state, row?.timeout_ms, row?.attempt, row?.lease], ['done', 10_000, 1, null]);
    assert.ok(row?.sealed instanceof Buffer && !row.sealed.includes('secret'));
    assert.ok(!app.logLines.join('').includes('secret value'));
  });

  it('stores the arguments as they were sent, sealed, and never the value of a token', async () => {
    const { json: token } = await app.call('POST', '/tokens', { key: of.caller.key, body: { data: 'never stored' } });
    const { id } = await of.make(WAITS);
    const requestId = await of.ask(id, { args: { plain: 'as sent', value: `{{ ${token.id} }}` } });
    const stored = JSON.stringify(await of.row(requestId));
    assert.ok(!stored.includes('as sent') && !stored.includes(token.id));
    await app.call('POST', `/reactors/${id}/requests/${requestId}/cancel`, { key: of.manager });
  });

  it('the very same error for what code throws, and what it answers in its own words', async () => {
    const { id } = await of.make(
      `const { BadRequestError, CustomHttpResponseError } = require('strongroom-errors');
       module.exports = async ({ args }) => {
         if (args.custom) throw new CustomHttpResponseError(args.custom);
         throw new BadRequestError({ field: 'wrong' });
       };`,
    );
    const wrong = await of.result(id, await of.ask(id));
    assert.deepEqual(
      [wrong.status, wrong.json.code, wrong.json.detail, wrong.json.errors],
      [400, 'reactor_error', 'Bad Request', { field: ['wrong'] }],
    );
    const custom = { status: 418, headers: { 'X-Tea': 'green' }, body: { tea: true } };
    const own = await of.result(id, await of.ask(id, { args: { custom } }));
    assert.deepEqual([own.status, own.json, own.headers.get('x-tea')], [418, { tea: true }, 'green']);
    const entries = await entriesOf(id);
    assert.deepEqual(
      entries.slice(0, 2).map(({ message, outcome }) => [message, outcome]),
      [
        ['Reactor invocation failed', 'failure'],
        ['Reactor invocation failed', 'failure'],
      ],
    );
  });

  it('404 for a result until it is there, for an unknown one, and for everybody but the one who asked', async () => {
    const { id } = await of.make('module.exports = async () => ({ raw: 1 });');
    const { id: other } = await of.make(ECHO);
    const requestId = await of.ask(id);
    assert.equal((await of.result(id, requestId)).status, 200);
    const second = await app.makeKey(of.tenant.id, 'private', USES);
    const neighbour = await queueTenant(app);
    for (const [key, reactorId, asked] of [
      [second, id, requestId],
      [neighbour.caller.key, id, requestId],
      [of.caller.key, other, requestId],
      [of.caller.key, id, NOBODY],
      [of.caller.key, id, 'x'],
      [of.caller.key, NOBODY, requestId],
    ] as const) {
      const { status, json } = await resultFor(key, reactorId, asked);
      assert.deepEqual([status, json.code], [404, 'not_found']);
    }
    assert.equal((await resultFor(of.manager, id, requestId)).status, 403);
    const never = await of.make(WAITS);
    const running = await of.ask(never.id);
    assert.equal((await resultFor(of.caller.key, never.id, running)).status, 404);
    await app.call('POST', `/reactors/${never.id}/requests/${running}/cancel`, { key: of.manager });
  });

  it('a session has its own results, which its Application does not see', async () => {
    const publicKey = await app.makeKey(of.tenant.id, 'public', ['token:create']);
    const { json: session } = await app.call('POST', '/sessions', { key: publicKey });
    const body = { nonce: session.nonce, permissions: ['token:use'] };
    assert.equal((await app.call('POST', '/sessions/authorize', { key: of.caller.key, body })).status, 200);
    const { id } = await of.make(ECHO);
    const requestId = await of.ask(id, { args: 1 }, session.session_key);
    await eventually('it ran', async () => (await of.row(requestId))?.state === 'done');
    assert.equal((await resultFor(session.session_key, id, requestId)).json.raw[0], 1);
    assert.equal((await resultFor(of.caller.key, id, requestId)).status, 404);
  });

  it('refused at once: unknown Reactor, bad input, too large, no right', async () => {
    const { id } = await of.make(ECHO);
    const reader = await app.makeKey(of.tenant.id, 'private', ['token:read']);
    const neighbour = await queueTenant(app);
    for (const [answer, status, code] of [
      [await react(NOBODY, { body: {} }), 404, 'not_found'],
      [await react(id, { body: {} }, neighbour.caller.key), 404, 'not_found'],
      [await react(id, { body: [1] }), 400, 'validation_failed'],
      [await react(id, { body: { timeout_ms: 9_999 } }), 400, 'validation_failed'],
      [await react(id, { body: { args: 'x'.repeat(5_300_000) } }), 413, 'payload_too_large'],
      [await react(id, { body: {} }, reader), 403, 'permission_denied'],
      [await react(id, { body: {} }, of.manager), 403, 'permission_denied'],
      [await react(id, { body: {} }, 'wrong'), 401, 'invalid_api_key'],
    ] as const) {
      assert.deepEqual([answer.status, answer.json.code], [status, code]);
    }
    const { rows } = await app.db.owner.query('SELECT FROM reactor_requests WHERE reactor_id = $1', [id]);
    assert.equal(rows.length, 0);
  });

  it('once under an idempotency key, with the first id again; the same with a callback and no body', async () => {
    const { id } = await of.make(ECHO);
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'once' };
    const first = await react(id, { body: {}, headers });
    const again = await react(id, { body: {}, headers });
    assert.deepEqual([again.status, again.json], [202, first.json]);
    const send = () =>
      app.call('POST', `/reactors/${id}/react`, {
        key: of.caller.key,
        body: { callback_url: 'https://10.0.0.1/' },
        headers,
      });
    const sent = [await send(), await send()];
    assert.deepEqual(
      sent.map(({ status, text }) => [status, text]),
      [
        [202, ''],
        [202, ''],
      ],
    );
    const { rows } = await app.db.owner.query('SELECT FROM reactor_requests WHERE reactor_id = $1', [id]);
    assert.equal(rows.length, 2);
  });

  it('with the rights of the moment it runs: whoever lost them meanwhile gets a refusal, and nothing runs', async () => {
    const { json: token } = await app.call('POST', '/tokens', { key: of.caller.key, body: { data: 'x' } });
    const { id } = await of.make(ECHO);
    const admin = of.tenant.key;
    const permissions = (held: readonly string[]) => ({ key: admin, body: { name: 'n', permissions: held } });
    const doomed = await app.makeApplication(of.tenant.id, 'private', USES);
    const gone = await app.makeApplication(of.tenant.id, 'private', USES);
    const unblock = await block();
    const narrowed = await of.ask(id, { args: { value: `{{ ${token.id} }}` } }, doomed.key);
    const orphaned = await of.ask(id, {}, gone.key);
    assert.equal((await resultFor(doomed.key, id, narrowed)).status, 404);
    const put = (held: readonly string[]) => app.call('PUT', `/applications/${doomed.id}`, permissions(held));
    assert.equal((await put(['token:create'])).status, 200);
    assert.equal((await app.call('DELETE', `/applications/${gone.id}`, { key: admin })).status, 204);
    await unblock();
    for (const each of [narrowed, orphaned]) {
      await eventually('it is over', async () => (await of.row(each))?.state === 'done');
    }
    assert.equal((await put(USES)).status, 200);
    const refused = await resultFor(doomed.key, id, narrowed);
    assert.deepEqual([refused.status, refused.json.code], [403, 'permission_denied']);
    assert.deepEqual(
      (await entriesOf(id)).map(({ message, actor_id }) => [message, actor_id]).slice(0, 2),
      [gone.id, doomed.id].map((actor) => ['Reactor invocation failed', actor]),
    );
    assert.ok((await entriesOf(token.id)).every(({ operation }) => operation !== 'use'));
  });

  it('lists what waits, runs and failed, newest first and in pages, with nothing of what was asked', async () => {
    const { id } = await of.make(WAITS);
    const { id: other } = await of.make(ECHO);
    const running = await of.ask(id, { args: 'secret argument' });
    await eventually('it runs', async () => (await of.row(running))?.lease !== null);
    const waiting = await of.ask(id);
    await of.ask(other);
    const all = await of.get(`/reactors/${id}/requests`);
    assert.equal(all.status, 200);
    assert.deepEqual(
      all.json.data.map(({ id: each, state, attempt, has_callback }: Record<string, unknown>) => [
        ...[each, state, attempt, has_callback],
      ]),
      [
        [waiting, 'queued', 0, false],
        [running, 'running', 1, false],
      ],
    );
    assert.ok(all.json.data[0].next_try_at !== undefined && all.json.data[1].next_try_at === undefined);
    assert.ok(!all.text.includes('secret'));
    const page = (await of.get(`/reactors/${id}/requests?page=2&size=1`)).json;
    assert.deepEqual([page.pagination.total_items, page.data[0].id], [2, running]);
    assert.equal((await of.get(`/reactors/${NOBODY}/requests`)).status, 404);
    const neighbour = await queueTenant(app);
    assert.equal((await neighbour.get(`/reactors/${id}/requests`)).status, 404);
    assert.equal((await app.call('GET', `/reactors/${id}/requests`, { key: of.caller.key })).status, 403);
    for (const each of [waiting, running]) assert.equal((await cancel(id, each)).json.state, 'cancelled');
    assert.equal((await of.get(`/reactors/${id}/requests`)).json.pagination.total_items, 0);
  });

  it('cancels what waits and what runs: it ends, has no result, and a second time changes nothing', async () => {
    const { id } = await of.make(WAITS);
    const running = await of.ask(id, { timeout_ms: 60_000 });
    await eventually('it runs', async () => (await of.row(running))?.lease !== null);
    const waiting = await of.ask(id);
    for (const each of [waiting, running]) {
      const first = await cancel(id, each);
      assert.deepEqual([first.status, first.json.state, first.json.id], [200, 'cancelled', each]);
      const again = await cancel(id, each);
      assert.deepEqual([again.status, again.json], [200, first.json]);
      assert.equal((await resultFor(of.caller.key, id, each)).status, 404);
    }
    // The run ended at once, or the next would wait for its minute.
    const { id: next } = await of.make(ECHO);
    assert.equal((await of.result(next, await of.ask(next))).status, 200);
    assert.equal((await retry(id, waiting)).json.state, 'cancelled');
    const updates = (await entriesOf(id)).filter(({ message }) => message === 'Reactor updated');
    assert.equal(updates.length, 2);
    assert.equal((await cancel(id, NOBODY)).status, 404);
    const neighbour = await queueTenant(app);
    const foreign = { key: neighbour.manager };
    assert.equal((await app.call('POST', `/reactors/${id}/requests/${waiting}/cancel`, foreign)).status, 404);
  });

  it('503 where a tenant has too many waiting, and nothing is taken on; others are not affected', async () => {
    const full = await queueTenant(app);
    const { id } = await full.make(ECHO);
    await app.db.owner.query(
      `INSERT INTO reactor_requests (tenant_id, id, reactor_id, state, has_run, has_callback, actor_type, actor_id, timeout_ms,
         attempt, tries, due_at, created_at, version, bytes, sealed)
       SELECT $1, gen_random_uuid(), $2, 'queued', false, false, 'application', $3, 30000, 0, 0, '2999-01-01', now(), 1, 1, '\\x00'
       FROM generate_series(1, 10000)`,
      [full.tenant.id, id, full.caller.id],
    );
    const refused = await react(id, { body: {} }, full.caller.key);
    assert.deepEqual([refused.status, refused.json.code], [503, 'overloaded']);
    const { id: own } = await of.make(ECHO);
    assert.equal((await of.result(own, await of.ask(own))).status, 200);
  });

  it('a Reactor takes its requests with it', async () => {
    const { id } = await of.make(WAITS);
    const running = await of.ask(id, { timeout_ms: 60_000 });
    const waiting = await of.ask(id);
    assert.equal((await app.call('DELETE', `/reactors/${id}`, { key: of.manager })).status, 204);
    assert.deepEqual([await of.row(running), await of.row(waiting)], [undefined, undefined]);
  });
});
