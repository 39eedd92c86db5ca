import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { CallOptions } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const START_MS = Date.UTC(2030, 0, 15, 12);
const ONE = { name: 'One', destination_url: 'https://one.example', request_transform: { code: 'one' } };
const TWO = { name: 'Two', destination_url: 'https://two.example', response_transform: { code: 'two' } };

describe('versions of proxies', () => {
  const clock = createFakeClock(START_MS);
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const call = (method: string, path: string, options: CallOptions = {}) =>
    app.call(method, path, { key: tenant.key, ...options });
  const made = async (body: object) => (await call('POST', '/proxies', { body })).json;

  it('200 with what it was before, newest first: number, maker, moment, destination and transforms', async () => {
    const maker = (await call('GET', '/applications/key')).json.id;
    const { id } = await made({ ...ONE, configuration: { A: 'secret' } });
    assert.deepEqual((await call('GET', `/proxies/${id}/versions`)).json, []);
    clock.advance(1000);
    await call('PUT', `/proxies/${id}`, { body: TWO });
    clock.advance(1000);
    await call('PATCH', `/proxies/${id}`, { body: { name: 'Three' } });
    const { status, json } = await call('GET', `/proxies/${id}/versions`);
    const [{ name: _, ...two }, { name: __, ...one }] = [TWO, ONE];
    assert.equal(status, 200);
    assert.deepEqual(json, [
      { version: 2, created_by: maker, created_at: '2030-01-15T12:00:01.000+00:00', ...two },
      { version: 1, created_by: maker, created_at: '2030-01-15T12:00:00.000+00:00', ...one },
    ]);
  });

  it('the last 20 are kept', async () => {
    const { id } = await made(ONE);
    for (let n = 2; n <= 24; n += 1) await call('PATCH', `/proxies/${id}`, { body: { name: `n${n}` } });
    const { json } = await call('GET', `/proxies/${id}/versions`);
    assert.deepEqual(
      json.map(({ version }: { version: number }) => version),
      Array.from({ length: 20 }, (_, n) => 23 - n),
    );
    assert.equal((await call('POST', `/proxies/${id}/versions/3/restore`)).status, 404);
  });

  it('200 for restore: everything as it was but the key, also one that was made since; one entry', async () => {
    const { id: application_id } = await app.makeApplication(tenant.id, 'private', ['token:use']);
    const first = { ...ONE, configuration: { A: 'a' }, require_auth: false, application_id, request_reactor_id: 'r' };
    const { id, key: firstKey } = await made(first);
    await call('PUT', `/proxies/${id}`, { body: TWO });
    clock.advance(1);
    const { key } = (await call('POST', `/proxies/${id}/regenerate`)).json;
    clock.advance(1);
    const { status, json } = await call('POST', `/proxies/${id}/versions/1/restore`);
    assert.equal(status, 200);
    const { id: _, tenant_id, state, created_at, created_by, modified_at, modified_by, ...said } = json;
    assert.deepEqual(said, { ...first, key });
    assert.notEqual(key, firstKey);
    assert.deepEqual((await call('GET', `/proxies/${id}`)).json, json);
    const found = await app.db.owner.query(
      `SELECT message FROM logs WHERE entity_id = $1 AND operation = 'update' ORDER BY created_at, id`,
      [id],
    );
    assert.deepEqual(
      found.rows.map(({ message }) => message),
      ['Proxy updated', 'Proxy updated', 'Proxy restored'],
    );
  });

  it('404 for a version there is not, however it is written, and for a neighbour', async () => {
    const { id } = await made(ONE);
    await call('PATCH', `/proxies/${id}`, { body: { name: 'two' } });
    for (const version of ['2', '0', '-1', '1.0', '01', 'x', '99999999999999999999']) {
      const { status, json } = await call('POST', `/proxies/${id}/versions/${version}/restore`);
      assert.deepEqual([status, json.code], [404, 'not_found'], version);
    }
    const { key } = await app.makeTenant();
    assert.equal((await call('POST', `/proxies/${id}/versions/1/restore`, { key })).status, 404);
    assert.equal((await call('GET', `/proxies/${id}/versions`, { key })).status, 404);
  });
});
