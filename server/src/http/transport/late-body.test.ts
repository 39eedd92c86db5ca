import assert from 'node:assert/strict';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const LATE_MS = 20_000;
const BODY = JSON.stringify({ type: 'card', data: { number: '4242424242424242' } });

/** A client can take half a minute for its body. Rights that were taken away meanwhile are gone. */
describe('a body that comes late', () => {
  const clock = createFakeClock(Date.UTC(2030, 0, 15, 12));
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp({ clock, env: { STRONGROOM_AUDIT: 'full' } });
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const manage = async (method: string, path: string, body?: object) => {
    const { status } = await app.call(method, `/applications/${path}`, { key: tenant.key, ...(body && { body }) });
    assert.ok(status < 300);
  };
  const tokens = async () => (await app.db.owner.query('SELECT FROM tokens')).rowCount;

  /** Sends the head, waits until the server waits for the body, lets `meanwhile` happen, and sends the body late. */
  async function sendLate(key: string, meanwhile: () => Promise<void>, more: Record<string, string> = {}) {
    const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json', 'Content-Length': BODY.length, ...more };
    const sent = request(`${app.baseUrl}/tokens`, { method: 'POST', headers, agent: false });
    sent.flushHeaders();
    const answered = new Promise<{ status: number | undefined; code: string }>((resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', async (response) => {
        resolve({ status: response.statusCode, code: JSON.parse(await text(response)).code });
      });
    });
    const waiting = () => /^strongroom_http_bodies_waiting 1$/m.test(app.metrics.render());
    await eventually('the body is waited for', waiting);
    await meanwhile();
    clock.advance(LATE_MS);
    sent.end(BODY);
    return answered;
  }

  for (const [type, more] of [
    ['private', {}],
    ['public', {}],
    ['private', { 'SVC-IDEMPOTENCY-KEY': 'late' }],
    ['public', { 'SVC-IDEMPOTENCY-KEY': 'late' }],
  ] as const) {
    const how = `${type} key${Object.keys(more).length > 0 ? ' and an idempotency key' : ''}`;
    const make = () => app.makeApplication(tenant.id, type, ['token:create', 'token:update']);

    it(`401 for a ${how} that was revoked meanwhile, and nothing is made`, async () => {
      const { id, key } = await make();
      const before = await tokens();
      assert.deepEqual(await sendLate(key, () => manage('POST', `${id}/regenerate`), more), {
        status: 401,
        code: 'invalid_api_key',
      });
      assert.equal(await tokens(), before);
    });

    it(`403 for a ${how} that lost its permission meanwhile, and nothing is made`, async () => {
      const { id, key } = await make();
      const before = await tokens();
      const narrow = () => manage('PUT', id, { name: 'A', permissions: ['token:update'] });
      assert.deepEqual(await sendLate(key, narrow, more), { status: 403, code: 'permission_denied' });
      assert.equal(await tokens(), before);
    });

    it(`403 access_denied for a ${how} whose rule on the container went meanwhile, and nothing is made`, async () => {
      const { id, key } = await make();
      const before = await tokens();
      const rules = [{ priority: 1, container: '/bank/', permissions: ['token:create'] }];
      assert.deepEqual(await sendLate(key, () => manage('PUT', id, { name: 'A', rules }), more), {
        status: 403,
        code: 'access_denied',
      });
      assert.equal(await tokens(), before);
    });

    it(`201 for a ${how} whose rights are as they were`, async () => {
      const { key } = await make();
      assert.equal((await sendLate(key, async () => {}, more)).status, 201);
    });
  }

  it('401 once the tenant was deleted meanwhile', async () => {
    const doomed = await app.makeTenant();
    const key = await app.makeKey(doomed.id, 'private', ['token:create']);
    const end = async () => {
      assert.equal((await app.call('DELETE', '/tenants/self', { key: doomed.key })).status, 204);
    };
    assert.deepEqual(await sendLate(key, end), { status: 401, code: 'invalid_api_key' });
  });

  it('the refusal has its entry under full auditing, like any other', async () => {
    const { id, key } = await app.makeApplication(tenant.id, 'private', ['token:create']);
    await sendLate(key, () => manage('PUT', id, { name: 'A', permissions: ['token:read'] }));
    const found = await app.db.owner.query(`SELECT FROM logs WHERE operation = 'denied' AND actor_id = $1`, [id]);
    assert.equal(found.rowCount, 1);
  });
});
