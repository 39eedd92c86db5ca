import assert from 'node:assert/strict';
import type { ClientRequest } from 'node:http';
import { request } from 'node:http';
import { after, afterEach, before, describe, it } from 'node:test';
import type { TestApp } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';

const IN_FLIGHT_MAX = 3;
const DEADLINE_MS = 5_000;
const BODY = '{"name":"held"}';

interface Held {
  readonly sent: ClientRequest;
  readonly status: Promise<number>;
}

describe('more requests than the server works on at once', () => {
  let app: TestApp;
  let key: string;
  let tenantId: string;
  before(async () => {
    app = await startTestApp({ env: { STRONGROOM_REQUESTS_IN_FLIGHT_MAX: String(IN_FLIGHT_MAX) } });
    ({ key, id: tenantId } = await app.makeTenant('Before'));
  });
  after(() => app.close());
  afterEach(() => until(0));

  const inFlight = (): number =>
    Number(/^strongroom_http_requests_in_flight (\d+)$/m.exec(app.metrics.render())?.[1] ?? Number.NaN);

  async function until(count: number): Promise<void> {
    const deadlineMs = performance.now() + DEADLINE_MS;
    while (inFlight() !== count) {
      assert.ok(performance.now() < deadlineMs, `${inFlight()} requests are in flight instead of ${count}`);
      await new Promise(setImmediate);
    }
  }

  /** A request whose body is kept back, so that it stays in flight until it is let go. */
  function hold(): Held {
    const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json', 'Content-Length': BODY.length };
    const sent = request({ port: app.port, method: 'PUT', path: '/tenants/self', headers, agent: false });
    sent.flushHeaders();
    const status = new Promise<number>((resolve) => {
      sent.once('error', () => resolve(0));
      sent.once('response', (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
      });
    });
    return { sent, status };
  }

  it('503 with Retry-After: 1 for the one too many, nothing is done, and the others end well', async () => {
    const held = Array.from({ length: IN_FLIGHT_MAX }, hold);
    await until(IN_FLIGHT_MAX);
    const { status, headers, json } = await app.call('DELETE', '/tenants/self', { key });
    assert.equal(status, 503);
    assert.equal(json.code, 'overloaded');
    assert.equal(headers.get('retry-after'), '1');
    assert.equal(headers.get('svc-trace-id'), json.trace_id);
    assert.equal((await app.call('GET', '/healthz')).status, 200, 'a busy process is alive');
    for (const { sent } of held) sent.end(BODY);
    assert.deepEqual(await Promise.all(held.map((one) => one.status)), [200, 200, 200]);
    const { json: tenant } = await app.call('GET', '/tenants/self', { key });
    assert.deepEqual([tenant.id, tenant.name], [tenantId, 'held']);
  });

  it('200 again as soon as one of them is done', async () => {
    const [first, ...others] = Array.from({ length: IN_FLIGHT_MAX }, hold);
    await until(IN_FLIGHT_MAX);
    assert.equal((await app.call('GET', '/permissions', { key })).status, 503);
    first?.sent.end(BODY);
    assert.equal(await first?.status, 200);
    await until(IN_FLIGHT_MAX - 1);
    assert.equal((await app.call('GET', '/permissions', { key })).status, 200);
    for (const { sent } of others) sent.end(BODY);
    await Promise.all(others.map((one) => one.status));
  });

  it('200 again after clients that hung up in the middle: their places are not lost', async () => {
    const held = Array.from({ length: IN_FLIGHT_MAX }, hold);
    await until(IN_FLIGHT_MAX);
    for (const { sent } of held) sent.destroy();
    await until(0);
    assert.equal((await app.call('GET', '/permissions', { key })).status, 200);
  });

  it('503 answers free their places at once, however many there are', async () => {
    const held = Array.from({ length: IN_FLIGHT_MAX }, hold);
    await until(IN_FLIGHT_MAX);
    const refused = await Promise.all(Array.from({ length: 50 }, () => app.call('GET', '/permissions', { key })));
    assert.ok(refused.every(({ status }) => status === 503));
    await until(IN_FLIGHT_MAX);
    for (const { sent } of held) sent.end(BODY);
    await Promise.all(held.map((one) => one.status));
  });
});
