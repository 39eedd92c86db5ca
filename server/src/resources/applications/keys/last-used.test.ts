import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../../testing/eventually.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../../testing/test-app.js';

const START_MS = Date.UTC(2030, 0, 15, 12, 34, 56, 789);
const HOUR_MS = 3_600_000;
const [NOON, ONE] = ['2030-01-15T12:00:00.000+00:00', '2030-01-15T13:00:00.000+00:00'];
const WITHIN_MS = 30_000;

describe('the last use of a key', () => {
  const clock = createFakeClock(START_MS);
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const make = () => app.makeApplication(tenant.id, 'private', ['token:read', 'token:create']);
  const use = async (key: string, through = app) => (await through.call('GET', '/permissions', { key })).status;
  const keysOf = async (id: string) => (await app.call('GET', `/applications/${id}/keys`, { key: tenant.key })).json;
  const lastUsed = async (id: string): Promise<string | undefined> => (await keysOf(id))[0].last_used_at;
  const shown = (id: string, at: string) =>
    eventually(`${at} is shown`, async () => (await lastUsed(id)) === at, WITHIN_MS);

  /** Changes whenever the row is written. */
  async function versionOf(applicationId: string): Promise<string> {
    const { rows } = await app.db.owner.query<{ version: string }>(
      'SELECT string_agg(xmin::text, $2) AS version FROM api_keys WHERE application_id = $1',
      [applicationId, ' '],
    );
    return rows[0]?.version ?? '';
  }

  it('200: absent before the first use, then the hour of the last one, in the list and alone', async () => {
    const { id, key } = await make();
    const [unused] = await keysOf(id);
    assert.deepEqual(Object.keys(unused).sort(), ['created_at', 'id']);
    assert.equal(await use(key), 200);
    await shown(id, NOON);
    const one = await app.call('GET', `/applications/${id}/keys/${unused.id}`, { key: tenant.key });
    assert.deepEqual(one.json, { ...unused, last_used_at: NOON });
    clock.advance(HOUR_MS);
    assert.equal(await use(key), 200);
    await shown(id, ONE);
  });

  it('counts a request that was refused with 403: whoever holds the key has used it', async () => {
    const { id, key } = await make();
    assert.equal((await app.call('GET', '/logs', { key })).status, 403);
    await eventually('the refused request is shown', async () => (await lastUsed(id)) !== undefined, WITHIN_MS);
  });

  it('is written once an hour by all processes together, and by a stop', async () => {
    const { id, key } = await make();
    const beside = { db: app.db, rootKey: rootKeyOf(app) };
    const second = await startTestApp({ clock, beside });
    assert.equal(await use(key, second), 200);
    await second.close();
    assert.ok(await lastUsed(id), 'the stop has written it');
    const written = await versionOf(id);
    const third = await startTestApp({ clock, beside });
    for (let asked = 0; asked < 50; asked += 1) assert.deepEqual([await use(key), await use(key, third)], [200, 200]);
    await third.close();
    assert.equal(await versionOf(id), written, 'what is stored already is not written again');
    clock.advance(HOUR_MS);
    const fourth = await startTestApp({ clock, beside });
    await Promise.all([use(key), use(key, fourth)]);
    await fourth.close();
    const hour = new Date(Math.floor(clock.nowMs() / HOUR_MS) * HOUR_MS).toISOString().replace('Z', '+00:00');
    await shown(id, hour);
    assert.notEqual(await versionOf(id), written);
  });

  it('is not that of a session the key authorized, and shows to no other tenant', async () => {
    const shop = await app.makeKey(tenant.id, 'public', ['token:create']);
    const backend = await make();
    const { json: session } = await app.call('POST', '/sessions', { key: shop });
    const expires_at = new Date(clock.nowMs() + 3 * HOUR_MS).toISOString();
    const body = { nonce: session.nonce, permissions: ['token:read'], expires_at };
    assert.equal((await app.call('POST', '/sessions/authorize', { key: backend.key, body })).status, 200);
    await eventually('the authorizing is shown', async () => (await lastUsed(backend.id)) !== undefined, WITHIN_MS);
    const written = await versionOf(backend.id);
    clock.advance(HOUR_MS);
    const other = await app.makeTenant();
    assert.equal(await use(session.session_key), 200);
    const path = `/applications/${backend.id}/keys`;
    assert.equal((await app.call('GET', path, { key: other.key })).status, 404);
    const marker = await make();
    assert.equal(await use(marker.key), 200);
    await eventually('a later use is written', async () => (await lastUsed(marker.id)) !== undefined, WITHIN_MS);
    assert.equal(await versionOf(backend.id), written);
  });

  it('is under no seal: the key goes on working, and verifies, whatever stands there', async () => {
    const { id, key } = await make();
    await app.db.owner.query(`UPDATE api_keys SET last_used_at = '1999-01-01' WHERE application_id = $1`, [id]);
    assert.equal(await use(key), 200);
    assert.equal((await app.call('POST', `/applications/${id}/regenerate`, { key: tenant.key })).status, 200);
  });
});
