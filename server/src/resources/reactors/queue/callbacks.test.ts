// needs: engine

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../../testing/eventually.js';
import type { FakeClock } from '../../../testing/fake-clock.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { CallbackServer, Received } from './callback-server-fixture.js';
import { startCallbackServer } from './callback-server-fixture.js';
import type { QueueTenant } from './queue-fixture.js';
import { queueTenant, USES } from './queue-fixture.js';

const CODE = `const { AuthorizationError, CustomHttpResponseError } = require('strongroom-errors');
  let runs = 0;
  module.exports = async ({ args, request_id }) => {
    runs += 1;
    if (args.fail) throw new AuthorizationError('not you');
    if (args.custom) throw new CustomHttpResponseError(args.custom);
    return { raw: { request_id, runs, got: args } };
  };`;
/** Seconds between two deliveries, as they are specified. */
const DELAYS_S = [5, 10, 30, 60, 120, 300, 600, 1_200, 2_400, 4_200];

describe('the callback of a call', () => {
  let server: CallbackServer;
  let app: TestApp;
  let clock: FakeClock;
  let of: QueueTenant;
  let reactor: { readonly id: string; readonly callback_secret: string };
  before(async () => {
    server = await startCallbackServer();
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock, env: server.env });
    of = await queueTenant(app);
    reactor = await of.make(CODE);
  });
  after(async () => {
    await app.close();
    await server.close();
  });

  /** Takes on a call with this callback; resolves with the id of the request. */
  async function send(path: string, args: object = {}, key = of.caller.key): Promise<string> {
    const url = path.startsWith('/') ? server.url(path) : path;
    const body = { args, callback_url: url };
    const headers = { 'SVC-TRACE-ID': `trace-${path}` };
    const sent = await app.call('POST', `/reactors/${reactor.id}/react`, { key, body, headers });
    assert.deepEqual([sent.status, sent.text], [202, '']);
    const { rows } = await app.db.owner.query('SELECT id FROM reactor_requests WHERE trace_id = $1', [`trace-${path}`]);
    return rows[0].id;
  }
  async function settled(requestId: string, isSo: (row: Record<string, unknown>) => boolean) {
    let row: Record<string, unknown> = {};
    await eventually('it came to that', async () => {
      row = (await of.row(requestId)) ?? {};
      return isSo(row);
    });
    return row;
  }
  const isDone = ({ state }: Record<string, unknown>) => state === 'done';
  const putOff = (tries: number) => (row: Record<string, unknown>) =>
    row.state === 'delivering' && row.lease === null && row.tries === tries;

  function isSigned({ headers, body }: Received, secret: string): boolean {
    const [, seconds, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['svc-signature'])) ?? [];
    return mac === createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  }

  it('has the answer, the ids of trace and request, and a signature under the secret of now', async () => {
    const requestId = await send('/good', { a: 1 });
    await settled(requestId, isDone);
    const [got, ...more] = server.at('/good');
    assert.ok(got && more.length === 0);
    assert.deepEqual(JSON.parse(got.body), { raw: { request_id: requestId, runs: 1, got: { a: 1 } } });
    assert.deepEqual(
      [got.headers['content-type'], got.headers['svc-trace-id'], got.headers['svc-request-id']],
      ['application/json', 'trace-/good', requestId],
    );
    assert.ok(isSigned(got, reactor.callback_secret));
    assert.ok(!isSigned({ ...got, body: `${got.body} ` }, reactor.callback_secret));
    const fetched = await app.call('GET', `/reactors/${reactor.id}/results/${requestId}`, { key: of.caller.key });
    assert.deepEqual(fetched.json, JSON.parse(got.body));
    const renewed = await app.call('POST', `/reactors/${reactor.id}/callback-secret`, { key: of.manager });
    await settled(await send('/renewed'), isDone);
    const [signed] = server.at('/renewed');
    assert.ok(signed && isSigned(signed, renewed.json.callback_secret) && !isSigned(signed, reactor.callback_secret));
  });

  it('has the problem of a run that failed, the body of an answer in its own words, and 401 for who is gone', async () => {
    await settled(await send('/failed', { fail: true }), isDone);
    const problem = JSON.parse(server.at('/failed')[0]?.body ?? '');
    assert.deepEqual(
      [problem.status, problem.code, problem.detail, problem.errors, problem.trace_id],
      [403, 'reactor_error', 'Forbidden', { error: ['not you'] }, 'trace-/failed'],
    );
    await settled(await send('/custom', { custom: { status: 299, body: 'own words' } }), isDone);
    const [own] = server.at('/custom');
    assert.deepEqual([own?.body, own?.headers['content-type']], ['own words', 'text/plain; charset=utf-8']);
    const gone = await app.makeApplication(of.tenant.id, 'private', USES);
    const slow = await of.make(`module.exports = async () => new Promise((r) => setTimeout(r, 60000));`);
    // Four places for queued calls of a tenant.
    const blocking = await Promise.all([1, 2, 3, 4].map(() => of.ask(slow.id, { timeout_ms: 60_000 })));
    for (const each of blocking) await settled(each, ({ lease }) => lease !== null);
    const orphan = await send('/gone', {}, gone.key);
    assert.equal((await app.call('DELETE', `/applications/${gone.id}`, { key: of.tenant.key })).status, 204);
    for (const each of blocking) {
      await app.call('POST', `/reactors/${slow.id}/requests/${each}/cancel`, { key: of.manager });
    }
    await settled(orphan, isDone);
    const refusal = JSON.parse(server.at('/gone')[0]?.body ?? '');
    assert.deepEqual([refusal.status, refusal.code], [401, 'invalid_api_key']);
  });

  it('has the problem of a run that took longer than its timeout', async () => {
    const slow = await of.make('module.exports = async () => new Promise((r) => setTimeout(r, 60000));');
    const body = { callbackUrl: server.url('/late'), timeoutMs: 10_000 };
    const sent = await app.call('POST', `/reactors/${slow.id}/react`, { key: of.caller.key, body });
    assert.equal(sent.status, 202);
    await eventually('it is delivered', () => server.at('/late').length === 1);
    const problem = JSON.parse(server.at('/late')[0]?.body ?? '');
    assert.deepEqual([problem.status, problem.code], [408, 'reactor_timeout']);
  });

  it('is tried ten times more over two and a half hours, then failed; again when told to, without another run', async () => {
    server.answers.set('/down', (response) => response.writeHead(503).end('no'));
    const requestId = await send('/down');
    for (const [at, seconds] of DELAYS_S.entries()) {
      const row = await settled(requestId, putOff(at + 1));
      assert.deepEqual([row.failure_code, row.failure_status], ['callback_status', 503]);
      assert.equal((row.due_at as Date).getTime(), clock.nowMs() + seconds * 1_000);
      clock.advance(seconds * 1_000);
    }
    await settled(requestId, ({ state }) => state === 'failed');
    assert.equal(server.at('/down').length, 11);
    assert.equal(new Set(server.at('/down').map(({ body }) => body)).size, 1);
    assert.ok(server.at('/down').every(({ headers }) => headers['svc-request-id'] === requestId));
    assert.equal(new Set(server.at('/down').map(({ headers }) => headers['svc-signature'])).size, 11);
    const total = DELAYS_S.reduce((sum, seconds) => sum + seconds, 0);
    assert.ok(total > 2.4 * 3_600 && total < 2.6 * 3_600);
    const [listed] = (await of.get(`/reactors/${reactor.id}/requests`)).json.data;
    assert.deepEqual(
      [listed.id, listed.state, listed.error, listed.attempt, listed.has_callback],
      [requestId, 'failed', { code: 'callback_status', status: 503 }, 1, true],
    );
    server.answers.delete('/down');
    const retry = () => app.call('POST', `/reactors/${reactor.id}/requests/${requestId}/retry`, { key: of.manager });
    assert.deepEqual([(await retry()).status, (await retry()).status], [200, 200]);
    const row = await settled(requestId, isDone);
    assert.deepEqual([row.attempt, server.at('/down').length], [1, 12]);
    assert.equal((await retry()).json.state, 'done');
    const updates = (await of.get(`/logs?entity_id=${reactor.id}&size=100`)).json.data.filter(
      ({ message }: { message: string }) => message === 'Reactor updated',
    );
    assert.equal(updates.length, 2, 'one for the new secret, one for the first retry');
  });

  it('that hangs, resets, answers garbage or redirects is put off; one that answers without end is delivered', async () => {
    server.answers.set('/hangs', () => {});
    server.answers.set('/resets', (response) => response.socket?.destroy());
    server.answers.set('/garbage', (response) => response.socket?.end('not HTTP at all\r\n\r\n'));
    server.answers.set('/moved', (response) => response.writeHead(307, { Location: server.url('/elsewhere') }).end());
    server.answers.set('/endless', (response) => {
      const more = (): void => {
        if (!response.destroyed && response.write('x'.repeat(4_096))) setImmediate(more);
        else if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    server.answers.set('/stalls', (response) => response.write('x'));
    const paths = ['/hangs', '/resets', '/garbage', '/moved', '/endless', '/stalls'];
    const asked = new Map<string, string>();
    for (const path of paths) asked.set(path, await send(path));
    const codes: unknown[] = [];
    for (const path of ['/hangs', '/resets', '/garbage', '/moved']) {
      const row = await settled(asked.get(path) ?? '', putOff(1));
      codes.push([path, row.failure_code, row.failure_status]);
    }
    assert.deepEqual(codes, [
      ['/hangs', 'callback_timeout', null],
      ['/resets', 'callback_unreachable', null],
      ['/garbage', 'callback_bad_answer', null],
      ['/moved', 'callback_status', 307],
    ]);
    assert.equal(server.at('/elsewhere').length, 0);
    for (const path of ['/endless', '/stalls']) await settled(asked.get(path) ?? '', isDone);
    for (const path of paths) {
      const cancelled = await app.call('POST', `/reactors/${reactor.id}/requests/${asked.get(path)}/cancel`, {
        key: of.manager,
      });
      assert.equal(cancelled.status, 200);
    }
    const before = server.received.length;
    clock.advance(5_000);
    await settled(await send('/behind'), isDone);
    assert.equal(server.received.length, before + 1, 'what is cancelled is not delivered any more');
  });

  it('to an address inside is refused and recorded, and told to the operator', async () => {
    const inside = await send('https://10.0.0.1/inside');
    const other = await send(`https://localhost:${server.port}/inside`);
    for (const each of [inside, other]) {
      const row = await settled(each, putOff(1));
      assert.deepEqual([row.failure_code, row.failure_status], ['callback_refused', null]);
    }
    assert.ok(app.logLines.some((line) => line.includes('outbound_refused') && line.includes('10.0.0.1')));
    assert.equal(server.at('/inside').length, 0);
    const text = app.metrics.render();
    assert.match(text, /strongroom_reactor_callbacks_total\{outcome="delivered"\} [1-9]/);
    assert.match(text, /strongroom_reactor_callbacks_total\{outcome="failed"\} 1/);
    assert.match(text, /strongroom_reactor_requests_claimed_total\{step="queued"\} [1-9]/);
    const lines = app.logLines.join('\n');
    assert.ok(!lines.includes(reactor.callback_secret) && !lines.includes('own words'));
  });
});
