import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, afterEach, before, describe, it } from 'node:test';
import type pg from 'pg';
import { connectAs } from '../../testing/empty-database.js';
import { eventually } from '../../testing/eventually.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const IN_FLIGHT_MAX = 3;

interface Held {
  readonly status: Promise<number>;
  hangUp(): void;
  letGo(): Promise<void>;
}

describe('more requests than the server works on at once', () => {
  let app: TestApp;
  let key: string;
  let tenants: TestTenant[];
  const lockers: pg.Client[] = [];
  before(async () => {
    app = await startTestApp({ env: { STRONGROOM_REQUESTS_IN_FLIGHT_MAX: String(IN_FLIGHT_MAX) } });
    tenants = [];
    for (let made = 0; made < IN_FLIGHT_MAX; made += 1) {
      tenants.push(await app.makeTenant('Before'));
      lockers.push(await connectAs(app.db.ownerTarget));
    }
    key = tenants[0]?.key ?? '';
    // From here on every key is remembered, so that nothing but the changes below takes a place for long.
    for (const tenant of tenants) await app.call('GET', '/permissions', { key: tenant.key });
  });
  after(async () => {
    await Promise.all(lockers.map((locker) => locker.end()));
    await app.close();
  });
  afterEach(() => until(0));

  const inFlight = (): number =>
    Number(/^strongroom_http_requests_in_flight (\d+)$/m.exec(app.metrics.render())?.[1] ?? Number.NaN);
  const until = (count: number) => eventually(`${count} requests are in flight`, async () => inFlight() === count);

  /** A change of a tenant whose row somebody else has locked: it stays in flight until it is let go. */
  async function hold({ id, key: own }: TestTenant, locker: pg.Client): Promise<Held> {
    await locker.query('BEGIN');
    await locker.query('SELECT 1 FROM tenants WHERE id = $1 FOR UPDATE', [id]);
    const abort = new AbortController();
    const status = fetch(`${app.baseUrl}/tenants/self`, {
      method: 'PUT',
      headers: { 'SVC-API-KEY': own, 'Content-Type': 'application/json' },
      body: '{"name":"held"}',
      signal: abort.signal,
    }).then(
      (response) => response.status,
      () => 0,
    );
    return { status, hangUp: () => abort.abort(), letGo: async () => void (await locker.query('ROLLBACK')) };
  }

  async function holdAll(): Promise<Held[]> {
    const held: Held[] = [];
    for (const [index, tenant] of tenants.entries()) held.push(await hold(tenant, lockers[index] ?? assert.fail()));
    await until(IN_FLIGHT_MAX);
    return held;
  }

  it('503 with Retry-After: 1 for the one too many, nothing is done, and the others end well', async () => {
    const held = await holdAll();
    const { status, headers, json } = await app.call('DELETE', '/tenants/self', { key });
    assert.equal(status, 503);
    assert.equal(json.code, 'overloaded');
    assert.equal(headers.get('retry-after'), '1');
    assert.equal(headers.get('svc-trace-id'), json.trace_id);
    assert.equal((await app.call('GET', '/healthz')).status, 200, 'a busy process is alive');
    for (const one of held) await one.letGo();
    assert.deepEqual(await Promise.all(held.map((one) => one.status)), [200, 200, 200]);
    assert.equal((await app.call('GET', '/tenants/self', { key })).json.name, 'held');
  });

  it('503 keeps the connection, throws the small body away and leaves no story in the log', async () => {
    const held = await holdAll();
    app.logLines.length = 0;
    const { status, headers } = await app.call('PUT', '/tenants/self', { key, body: { name: 'too much' } });
    assert.deepEqual([status, headers.get('connection')], [503, 'keep-alive']);
    assert.equal(app.logLines.filter((line) => line.includes('request failed')).length, 0);
    for (const one of held) await one.letGo();
    await Promise.all(held.map((one) => one.status));
  });

  it('200 again as soon as one of them is done', async () => {
    const [first, ...others] = await holdAll();
    assert.equal((await app.call('GET', '/permissions', { key })).status, 503);
    await first?.letGo();
    assert.equal(await first?.status, 200);
    await until(IN_FLIGHT_MAX - 1);
    assert.equal((await app.call('GET', '/permissions', { key })).status, 200);
    for (const one of others) await one.letGo();
    await Promise.all(others.map((one) => one.status));
  });

  it('200 again after clients that hung up in the middle: their places are not lost', async () => {
    const held = await holdAll();
    for (const one of held) one.hangUp();
    for (const one of held) await one.letGo();
    await until(0);
    assert.equal((await app.call('GET', '/permissions', { key })).status, 200);
  });

  it('400 for a bad body that comes when every place is taken, once one is free, and nothing begins before', async () => {
    const waiting = () => /^strongroom_http_bodies_waiting 1$/m.test(app.metrics.render());
    const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json', 'Content-Length': 2 };
    const late = request(`${app.baseUrl}/tenants/self`, { method: 'PUT', headers, agent: false });
    const answered = once(late, 'response');
    late.flushHeaders();
    await eventually('its body is waited for', waiting);
    const held = await holdAll();
    late.end('{}');
    assert.equal((await app.call('GET', '/permissions', { key })).status, 503, 'whoever comes now is told so');
    assert.deepEqual([inFlight(), waiting()], [IN_FLIGHT_MAX, true]);
    for (const one of held) await one.letGo();
    const [response] = await answered;
    response.resume();
    assert.equal(response.statusCode, 400, 'its body was read then');
    await Promise.all(held.map((one) => one.status));
  });

  it('503 answers free their places at once, however many there are', async () => {
    const held = await holdAll();
    const refused = await Promise.all(Array.from({ length: 50 }, () => app.call('GET', '/permissions', { key })));
    assert.ok(refused.every(({ status }) => status === 503));
    await until(IN_FLIGHT_MAX);
    for (const one of held) await one.letGo();
    await Promise.all(held.map((one) => one.status));
  });
});
