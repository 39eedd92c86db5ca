import assert from 'node:assert/strict';
import { request as send } from 'node:http';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import { keptRows, putName, underKey, updatesOf } from '../../testing/keyed-puts.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const DAY_MS = 86_400_000;

describe('a request under an idempotency key', () => {
  let app: TestApp;
  let clock: FakeClock;
  let tenant: TestTenant;
  before(async () => {
    clock = createFakeClock(Date.UTC(2026, 10, 15));
    app = await startTestApp({ clock, env: { STRONGROOM_HEADER_PREFIXES: 'BT' } });
  });
  after(() => app.close());
  beforeEach(async () => {
    tenant = await app.makeTenant('Before');
  });

  const nameOf = async () => (await app.call('GET', '/tenants/self', { key: tenant.key })).json.name;

  it('200 again with the same bytes and a new trace id; no second effect and no second log entry', async () => {
    const first = await putName(app, tenant.key, 'First', 'k');
    assert.equal((await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'Since' } })).status, 200);
    const again = await putName(app, tenant.key, 'First', 'k');
    assert.deepEqual([again.status, again.text], [200, first.text]);
    assert.equal(again.headers.get('content-type'), 'application/json');
    assert.notEqual(again.headers.get('svc-trace-id'), first.headers.get('svc-trace-id'));
    assert.equal(await nameOf(), 'Since');
    assert.equal(await updatesOf(app, tenant), 2);
  });

  it('200 with the first answer for another body, one that is no JSON, one too large, and none', async () => {
    const first = await putName(app, tenant.key, 'First', 'k');
    const options = { key: tenant.key, headers: underKey('k') };
    for (const input of [{ body: { name: 'Other' } }, { raw: '{' }, { raw: 'x'.repeat(1_100_000) }, {}]) {
      const again = await app.call('PUT', '/tenants/self', { ...options, ...input });
      assert.deepEqual([again.status, again.text], [200, first.text]);
    }
    assert.equal(await nameOf(), 'First');
  });

  it('400 for a key that is empty, too long, not visible ASCII or sent twice, and nothing changes', async () => {
    for (const key of ['', 'k'.repeat(201), 'a b', 'a\tb', 'ä']) {
      const { status, json } = await putName(app, tenant.key, 'Refused', key);
      assert.deepEqual([status, json.code], [400, 'malformed_request'], key);
    }
    const twice = await new Promise<number | undefined>((resolve, reject) => {
      const headers = {
        'SVC-API-KEY': tenant.key,
        'Content-Type': 'application/json',
        'SVC-IDEMPOTENCY-KEY': ['a', 'a'],
      };
      const sent = send(`${app.baseUrl}/tenants/self`, { method: 'PUT', headers, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.on('error', reject);
      sent.end('{"name":"Refused"}');
    });
    assert.equal(twice, 400);
    assert.equal(await nameOf(), 'Before');
  });

  it('200 for every key of 1 to 200 visible ASCII characters', async () => {
    const visible = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).join('');
    for (const key of ['!', '~', visible, 'k'.repeat(200)]) {
      assert.equal((await putName(app, tenant.key, 'N', key)).status, 200);
      assert.equal((await putName(app, tenant.key, 'N', key)).status, 200);
    }
    assert.equal(await updatesOf(app, tenant), 4);
  });

  it('401 and 403 come before anything is replayed or said about the key', async () => {
    await putName(app, tenant.key, 'First', 'k');
    assert.equal((await putName(app, 'wrong', 'First', 'k')).status, 401);
    assert.equal((await putName(app, 'wrong', 'First', 'a b')).status, 401);
    const reader = await app.makeKey(tenant.id, 'management', ['tenant:read']);
    assert.equal((await putName(app, reader, 'First', 'k')).status, 403);
    assert.equal((await putName(app, reader, 'First', 'a b')).status, 403);
  });

  it('is ignored on GET, HEAD and DELETE, also when it is no key at all', async () => {
    for (const method of ['GET', 'HEAD']) {
      for (const key of ['k', 'a b', '']) {
        const answer = await app.call(method, '/tenants/self', { key: tenant.key, headers: underKey(key) });
        assert.equal(answer.status, 200);
      }
    }
    assert.deepEqual(await keptRows(app, tenant.id), []);
    const gone = await app.call('DELETE', '/tenants/self', { key: tenant.key, headers: underKey('a b') });
    assert.equal(gone.status, 204);
  });

  it('counts the same under any prefix, with a trailing slash and with any query', async () => {
    await putName(app, tenant.key, 'First', 'k');
    for (const path of ['/tenants/self/', '/tenants/self?x=1', '/tenants/self/?']) {
      assert.equal((await putName(app, tenant.key, 'Other', 'k', path)).json.name, 'First');
    }
    const headers = { 'bt-idempotency-key': 'k' };
    const other = await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'Other' }, headers });
    assert.equal(other.json.name, 'First');
    const both = { 'BT-IDEMPOTENCY-KEY': 'other', 'SVC-IDEMPOTENCY-KEY': 'k' };
    const strongest = await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'X' }, headers: both });
    assert.equal(strongest.json.name, 'First');
  });

  it('is a key of its own for another application, another tenant, and in another spelling', async () => {
    await putName(app, tenant.key, 'First', 'k');
    const second = await app.makeKey(tenant.id, 'management', ['tenant:update']);
    assert.equal((await putName(app, second, 'Second', 'k')).json.name, 'Second');
    assert.equal((await putName(app, tenant.key, 'Third', 'K')).json.name, 'Third');
    const other = await app.makeTenant();
    assert.equal((await putName(app, other.key, 'Fourth', 'k')).json.name, 'Fourth');
    assert.equal(await nameOf(), 'Third');
    assert.equal((await putName(app, tenant.key, 'X', 'k')).json.name, 'First', 'and the first is still there');
  });

  it('400 is not stored: the mended request is done under the same key', async () => {
    assert.equal((await putName(app, tenant.key, ' ', 'k')).status, 400);
    assert.deepEqual(await keptRows(app, tenant.id), []);
    assert.equal((await putName(app, tenant.key, 'Mended', 'k')).status, 200);
    assert.equal(await nameOf(), 'Mended');
  });

  it('replays for 24 hours and not a millisecond longer; then the key starts anew, whoever sweeps or not', async () => {
    await putName(app, tenant.key, 'First', 'k');
    clock.advance(DAY_MS - 1);
    assert.equal((await putName(app, tenant.key, 'Second', 'k')).json.name, 'First');
    clock.advance(1);
    assert.equal((await keptRows(app, tenant.id)).length, 1, 'the old row is still there');
    assert.equal((await putName(app, tenant.key, 'Second', 'k')).json.name, 'Second');
    assert.equal((await putName(app, tenant.key, 'Third', 'k')).json.name, 'Second');
    assert.equal((await keptRows(app, tenant.id)).length, 1);
    assert.equal(await updatesOf(app, tenant), 2);
  });

  it('401 once the tenant is deleted, and its stored answers cannot be opened', async () => {
    await putName(app, tenant.key, 'First', 'k');
    assert.equal((await app.call('DELETE', '/tenants/self', { key: tenant.key })).status, 204);
    assert.equal((await putName(app, tenant.key, 'First', 'k')).status, 401);
    await assert.rejects(async () => app.keyStore.keyring.forTenant(tenant.id), { name: 'IntegrityError' });
  });

  it('401 for a tenant that lost its keys between the two looks', async () => {
    await app.call('GET', '/tenants/self', { key: tenant.key });
    await app.db.owner.query('DELETE FROM tenant_keys WHERE tenant_id = $1', [tenant.id]);
    assert.equal((await putName(app, tenant.key, 'First', 'k')).status, 401);
    assert.equal(await updatesOf(app, tenant), 0);
  });

  it('stores nothing that shows the key, the path, the caller or the answer', async () => {
    await putName(app, tenant.key, 'Plaintext', 'visible-key');
    const other = await app.makeTenant();
    await putName(app, other.key, 'Plaintext', 'visible-key');
    const [own] = await keptRows(app, tenant.id);
    const [others] = await keptRows(app, other.id);
    assert.ok(own && others);
    for (const word of ['Plaintext', 'visible-key', 'tenants', tenant.id]) {
      assert.ok(!own.sealed.includes(word) && !own.id.includes(word));
    }
    assert.notDeepEqual(own.id, others.id);
  });

  it('503 for a stored answer that was altered, moved or given another status, and nothing changes', async () => {
    await putName(app, tenant.key, 'First', 'k');
    const [row] = await keptRows(app, tenant.id);
    assert.ok(row);
    const bent = Buffer.from(row.sealed);
    bent.writeUInt8(bent.readUInt8(40) ^ 1, 40);
    const set = (column: string, value: unknown) =>
      app.db.owner.query(`UPDATE idempotency_keys SET ${column} = $2 WHERE tenant_id = $1`, [tenant.id, value]);
    await set('sealed', bent);
    assert.equal((await putName(app, tenant.key, 'Other', 'k')).status, 503);
    await set('sealed', row.sealed);
    await set('status', 201);
    assert.equal((await putName(app, tenant.key, 'Other', 'k')).status, 503);
    await set('status', 200);
    assert.equal((await putName(app, tenant.key, 'Other', 'k')).status, 200);
    await putName(app, tenant.key, 'Second', 'k2');
    const [a, b] = await keptRows(app, tenant.id);
    await app.db.owner.query('UPDATE idempotency_keys SET sealed = $3 WHERE tenant_id = $1 AND id = $2', [
      tenant.id,
      a?.id,
      b?.sealed,
    ]);
    const statuses = [await putName(app, tenant.key, 'X', 'k'), await putName(app, tenant.key, 'X', 'k2')];
    assert.deepEqual(statuses.map(({ status }) => status).sort(), [200, 503]);
    assert.equal(await updatesOf(app, tenant), 2);
  });
});
