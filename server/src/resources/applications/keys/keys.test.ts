import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { CallOptions } from '../../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../../testing/test-app.js';

const START_MS = Date.UTC(2030, 0, 15, 12);

type Key = { id: string; created_at: string; expires_at: string; last_used_at?: string };

describe('keys of an application', () => {
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
  const make = () => app.makeApplication(tenant.id, 'private', ['token:read']);
  const regenerate = (id: string, body?: object) =>
    call('POST', `/applications/${id}/regenerate`, { ...(body && { body }) });
  const statusOf = async (key: string) => (await app.call('GET', '/permissions', { key })).status;
  /** Without their last use, which is written behind the requests. */
  const keysOf = async (id: string) =>
    (await call('GET', `/applications/${id}/keys`)).json.map(({ last_used_at: _, ...key }: Key) => key);

  async function messagesOf(id: string): Promise<string[]> {
    const found = await app.db.owner.query(
      `SELECT operation || ': ' || message AS said FROM logs WHERE entity_id = $1 AND operation <> 'create'
       ORDER BY created_at, id`,
      [id],
    );
    return found.rows.map(({ said }) => said);
  }

  it('200 for regenerate: the application with a new key; the earlier ones answer 401 at once', async () => {
    const { id, key } = await make();
    const further = (await call('POST', `/applications/${id}/keys`)).json.key;
    assert.deepEqual([await statusOf(key), await statusOf(further)], [200, 200]);
    clock.advance(1);
    const { status, json } = await regenerate(id);
    assert.equal(status, 200);
    assert.match(json.key, /^key_pvt_/);
    assert.deepEqual([json.id, json.permissions], [id, ['token:read']]);
    assert.deepEqual([await statusOf(key), await statusOf(further), await statusOf(json.key)], [401, 401, 200]);
    assert.equal((await keysOf(id)).length, 1);
    assert.deepEqual((await messagesOf(id)).at(-1), 'regenerate: Application key regenerated');
  });

  it('200 for regenerate with every kind of empty body', async () => {
    const { id } = await make();
    for (const options of [
      {},
      { raw: '' },
      { raw: '', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
      { body: {} },
      { body: { overlap_seconds: null, unknown: 1 } },
    ]) {
      assert.equal(
        (await call('POST', `/applications/${id}/regenerate`, options)).status,
        200,
        JSON.stringify(options),
      );
      await call('DELETE', `/applications/${id}/keys/${(await keysOf(id))[0].id}`);
      assert.equal((await call('POST', `/applications/${id}/keys`, options)).status, 201, JSON.stringify(options));
    }
  });

  it('200 during an overlap with the earlier keys, and 401 from the very millisecond it ends', async () => {
    const { id, key } = await make();
    assert.equal(await statusOf(key), 200);
    clock.advance(1);
    const { json } = await regenerate(id, { overlap_seconds: 60 });
    const [fresh, old] = await keysOf(id);
    assert.deepEqual([fresh.expires_at, Date.parse(old.expires_at)], [undefined, clock.nowMs() + 60_000]);
    clock.advance(59_999);
    assert.deepEqual([await statusOf(key), await statusOf(json.key)], [200, 200]);
    clock.advance(1);
    assert.deepEqual([await statusOf(key), await statusOf(json.key)], [401, 200]);
    assert.deepEqual(await keysOf(id), [fresh]);
    assert.equal((await call('GET', `/applications/${id}/keys/${old.id}`)).status, 404);
    assert.equal((await call('DELETE', `/applications/${id}/keys/${old.id}`)).status, 404);
  });

  it('an overlap never lengthens an earlier one', async () => {
    const { id, key } = await make();
    await regenerate(id, { overlap_seconds: 10 });
    await regenerate(id, { overlap_seconds: 604_800 });
    clock.advance(10_000);
    assert.equal(await statusOf(key), 401);
  });

  it('201 with a further key that works beside the first; it is listed and read without the key', async () => {
    const { id, key } = await make();
    clock.advance(1);
    const { status, json } = await call('POST', `/applications/${id}/keys`);
    assert.equal(status, 201);
    assert.deepEqual(Object.keys(json).sort(), ['created_at', 'created_by', 'id', 'key']);
    assert.deepEqual([await statusOf(key), await statusOf(json.key)], [200, 200]);
    const listed = await keysOf(id);
    const { key: _, ...shown } = json;
    assert.deepEqual(listed[0], shown);
    assert.deepEqual(
      Object.keys(listed[1]).sort(),
      ['created_at', 'id'],
      'the operator made it, so there is nobody to name',
    );
    assert.deepEqual((await call('GET', `/applications/${id}/keys/${json.id.toUpperCase()}`)).json, shown);
    assert.deepEqual(await messagesOf(id), ['key_create: Application key added']);
  });

  it('200 with only the keys named by id, in any case; what is no id of theirs names none; 400 for what is no text', async () => {
    const [{ id }, other] = [await make(), await make()];
    for (let made = 0; made < 2; made += 1) {
      clock.advance(1);
      await call('POST', `/applications/${id}/keys`);
    }
    const ids = (await keysOf(id)).map((key: { id: string }) => key.id);
    const named = async (query: string) =>
      (await call('GET', `/applications/${id}/keys?${query}`)).json.map((key: { id: string }) => key.id);
    assert.deepEqual(await named(`id=${ids[2]}&id=${ids[0].toUpperCase()}`), [ids[0], ids[2]]);
    assert.deepEqual(await named(`id=${ids[1]}`), [ids[1]]);
    assert.deepEqual(await named(`id=${(await keysOf(other.id))[0].id}&id=nonsense`), []);
    assert.deepEqual(await named('id='), ids);
    const wrong = await call('GET', `/applications/${id}/keys?id=%00`);
    assert.deepEqual([wrong.status, Object.keys(wrong.json.errors)], [400, ['id[0]']]);
    assert.equal((await call('GET', `/applications/${tenant.id}/keys?id=${ids[0]}`)).status, 404);
  });

  it('200 with the names of the keys that work on GET, list and PUT of an Application, newest first', async () => {
    const { id, key } = await make();
    clock.advance(1);
    const { key: _, ...further } = (await call('POST', `/applications/${id}/keys`)).json;
    const body = { name: 'N', permissions: ['token:read'] };
    const told = async () => {
      const list = (await call('GET', `/applications?id=${id}`)).json.data;
      const alone = (await call('GET', `/applications/${id}`)).json;
      const updated = (await call('PUT', `/applications/${id}`, { body })).json;
      const own = (await app.call('GET', '/applications/key', { key })).json;
      return [list[0].keys, alone.keys, updated.keys, own.keys];
    };
    const [first] = (await keysOf(id)).slice(-1);
    const names = [further, { id: first.id, created_at: first.created_at }];
    assert.deepEqual(await told(), Array(4).fill(names));
    await regenerate(id, { overlap_seconds: 60 });
    clock.advance(59_999);
    assert.equal((await told())[0].length, 3);
    clock.advance(1);
    const [fresh] = await keysOf(id);
    assert.deepEqual((await told()).slice(0, 3), Array(3).fill([fresh]));
    await call('DELETE', `/applications/${id}/keys/${fresh.id}`);
    assert.deepEqual((await told()).slice(0, 3), Array(3).fill([]));
    const { json } = await call('POST', '/applications', { body: { ...body, type: 'private' } });
    assert.deepEqual(
      [json.keys, (await regenerate(id)).json.keys],
      [undefined, undefined],
      'these show the key itself',
    );
  });

  it('204 for revoking: 401 at once, the others go on, and the last one may go too', async () => {
    const { id, key } = await make();
    const { json } = await call('POST', `/applications/${id}/keys`);
    assert.equal(await statusOf(json.key), 200);
    clock.advance(1);
    const revoked = await call('DELETE', `/applications/${id}/keys/${json.id}`);
    assert.deepEqual([revoked.status, revoked.text], [204, '']);
    assert.deepEqual([await statusOf(json.key), await statusOf(key)], [401, 200]);
    const [last] = await keysOf(id);
    assert.equal((await call('DELETE', `/applications/${id}/keys/${last.id}`)).status, 204);
    assert.deepEqual([await statusOf(key), await keysOf(id)], [401, []]);
    assert.equal((await call('GET', `/applications/${id}`)).status, 200);
    assert.equal((await messagesOf(id)).filter((said) => said === 'key_delete: Application key revoked').length, 2);
  });

  it('400 for an eleventh key, by ten at once too, and for an overlap that would leave eleven', async () => {
    const { id } = await make();
    const answers = await Promise.all(Array.from({ length: 15 }, () => call('POST', `/applications/${id}/keys`)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(9).fill(201), ...Array(6).fill(400)]);
    assert.equal((await keysOf(id)).length, 10);
    const overlapping = await regenerate(id, { overlap_seconds: 1 });
    assert.deepEqual([overlapping.status, Object.keys(overlapping.json.errors)], [400, ['overlap_seconds']]);
    assert.equal((await regenerate(id)).status, 200);
    assert.equal((await keysOf(id)).length, 1);
  });

  it('a key past its overlap does not count among the ten', async () => {
    const { id } = await make();
    for (let turn = 0; turn < 9; turn += 1) await regenerate(id, { overlap_seconds: 1 });
    assert.equal((await call('POST', `/applications/${id}/keys`)).status, 400);
    clock.advance(1_000);
    assert.equal((await call('POST', `/applications/${id}/keys`)).status, 201);
    const rows = await app.db.owner.query('SELECT FROM api_keys WHERE application_id = $1', [id]);
    assert.equal(rows.rowCount, 2, 'what has ended is cleared away');
  });

  it('404 for keys of another application, of none, and for what is no id', async () => {
    const [mine, other] = [await make(), await make()];
    const [key] = await keysOf(other.id);
    const unknown = '4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10';
    for (const path of [
      `${mine.id}/keys/${key.id}`,
      `${mine.id}/keys/x`,
      `${unknown}/keys/${key.id}`,
      `x/keys/${key.id}`,
    ]) {
      for (const method of ['GET', 'DELETE'])
        assert.equal((await call(method, `/applications/${path}`)).status, 404, path);
    }
    for (const [method, path] of [
      ['GET', 'keys'],
      ['POST', 'keys'],
      ['POST', 'regenerate'],
    ] as const) {
      for (const id of [unknown, 'x']) assert.equal((await call(method, `/applications/${id}/${path}`)).status, 404);
    }
    assert.equal(await statusOf(other.key), 200);
  });

  it('of twenty regenerates at once, on two processes, exactly one key works afterwards', async () => {
    const second = await startTestApp({ clock, beside: { db: app.db, rootKey: rootKeyOf(app) } });
    try {
      const { id } = await make();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, turn) =>
          (turn % 2 ? app : second).call('POST', `/applications/${id}/regenerate`, { key: tenant.key }),
        ),
      );
      assert.ok(answers.every(({ status }) => status === 200));
      const rows = await app.db.owner.query('SELECT FROM api_keys WHERE application_id = $1', [id]);
      assert.equal(rows.rowCount, 1);
      const statuses = await Promise.all(answers.map(({ json }) => statusOf(json.key)));
      assert.equal(statuses.filter((status) => status === 200).length, 1);
    } finally {
      await second.close();
    }
  });

  it('503 and a security line when a key was planted in the database: an overlap does not make it good', async () => {
    const { id } = await make();
    await app.db.owner.query(
      `INSERT INTO api_keys (hash, tenant_id, application_id, id, mac, created_at)
       SELECT '\\x00', tenant_id, application_id, gen_random_uuid(), mac, created_at FROM api_keys WHERE application_id = $1`,
      [id],
    );
    const answer = await regenerate(id, { overlap_seconds: 60 });
    assert.deepEqual([answer.status, answer.json.code], [503, 'storage_unavailable']);
    const planted = await app.db.owner.query(`SELECT expires_at FROM api_keys WHERE hash = '\\x00'`);
    assert.equal(planted.rows[0].expires_at, null);
    assert.ok(app.logLines.some((line) => line.includes('integrity_fault') && line.includes(id)));
    assert.equal((await regenerate(id)).status, 200, 'without an overlap it goes with the others');
  });
});
