import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { keyVersionOf } from '../../crypto/aead.js';
import { openKeyStore } from '../../crypto/key-store.js';
import { systemClock } from '../../kernel/clock.js';
import { TABLES } from '../../resources.js';
import { rotateTenants } from '../../rotation/rotate-tenants.js';
import { createFakeTime } from '../../rotation/rotation-fixture.js';
import { verifyKeys } from '../../rotation/verify.js';
import type { Database } from '../../storage/database.js';
import { createDatabase } from '../../storage/database.js';
import { eventually } from '../../testing/eventually.js';
import type { CallOptions } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';

async function* only(tenantId: string): AsyncGenerator<string> {
  yield tenantId;
}

describe('sealed reactors', () => {
  let app: TestApp;
  let database: Database;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp();
    database = createDatabase({ target: app.db.target, isDistributed: app.db.isDistributed, clock: systemClock });
    tenant = await app.makeTenant();
  });
  after(async () => {
    await database.close();
    await app.close();
  });

  const call = (method: string, path: string, options: CallOptions = {}) =>
    app.call(method, path, { key: tenant.key, ...options });
  const sql = (text: string, values: unknown[] = []) => app.db.owner.query(text, values);

  /** A Reactor at its third version. */
  async function made(more: object = {}): Promise<string> {
    const { id } = (await call('POST', '/reactors', { body: { name: 'R', code: 'one', ...more } })).json;
    for (const code of ['two', 'three']) await call('PATCH', `/reactors/${id}`, { body: { code } });
    return id;
  }

  async function faults(): Promise<string[]> {
    const { keyStore } = await openKeyStore(database, { value: rootKeyOf(app), isProduction: false });
    const found: string[] = [];
    const options = { database, keyStore, tables: TABLES, wait: createFakeTime().wait, onProgress: () => {} };
    await verifyKeys({ ...options, onFault: ({ table, id }) => found.push(`${table} ${id}`) }, only(tenant.id));
    return found;
  }

  /** Alters rows, looks, and puts them back. */
  async function altered(id: string, statements: readonly string[], look: () => Promise<void>): Promise<void> {
    const rows = (await sql('SELECT * FROM reactors WHERE id = $1', [id])).rows[0];
    const versions = (await sql('SELECT version, sealed FROM reactor_versions WHERE reactor_id = $1', [id])).rows;
    for (const text of statements) await sql(text, [id]);
    app.logLines.length = 0;
    await look();
    await sql('UPDATE reactors SET name = $2, application_id = $3, version = $4, sealed = $5 WHERE id = $1', [
      ...[id, rows.name, rows.application_id, rows.version, rows.sealed],
    ]);
    for (const { version, sealed } of versions) {
      await sql('UPDATE reactor_versions SET sealed = $3 WHERE reactor_id = $1 AND version = $2', [
        id,
        version,
        sealed,
      ]);
    }
    assert.deepEqual(await faults(), []);
  }

  async function isRefused(method: string, path: string, body?: object): Promise<void> {
    const { status, json } = await call(method, path, { ...(body && { body }) });
    assert.deepEqual([status, json.code], [503, 'storage_unavailable'], `${method} ${path}`);
  }

  it('503 where a row says what was not sealed, on every call that opens it; told to the operator, found by verify', async () => {
    const { id: applicationId } = await app.makeApplication(tenant.id, 'private', ['token:create']);
    const { id: otherId } = await app.makeApplication(tenant.id, 'private', ['token:create', 'token:read']);
    const id = await made({ application: { id: applicationId } });
    const twin = await made({ application: { id: applicationId } });
    for (const statement of [
      `UPDATE reactors SET application_id = '${otherId}' WHERE id = $1`,
      'UPDATE reactors SET application_id = NULL WHERE id = $1',
      "UPDATE reactors SET name = 'Other' WHERE id = $1",
      'UPDATE reactors SET version = version - 1 WHERE id = $1',
      `UPDATE reactors SET sealed = (SELECT sealed FROM reactors WHERE id = '${twin}') WHERE id = $1`,
      `UPDATE reactors SET version = 2, sealed =
         (SELECT sealed FROM reactor_versions WHERE reactor_id = $1 AND version = 2) WHERE id = $1`,
      'UPDATE reactors SET sealed = set_byte(sealed, length(sealed) - 1, get_byte(sealed, length(sealed) - 1) # 1) WHERE id = $1',
    ]) {
      await altered(id, [statement], async () => {
        const path = `/reactors/${id}`;
        await isRefused('GET', path);
        await isRefused('GET', '/reactors');
        await isRefused('PUT', path, { name: 'R', code: 'four' });
        await isRefused('PATCH', path, { code: 'four' });
        await isRefused('POST', `${path}/callback-secret`);
        await isRefused('POST', `${path}/versions/1/restore`);
        const line = app.logLines.find((text) => text.includes('integrity_fault')) ?? '';
        assert.ok(line.includes(id) && line.includes('a stored Reactor was altered'), line);
        assert.deepEqual(await faults(), [`reactors ${id}`]);
      });
    }
  });

  it('503 for a version record moved to another number or Reactor; the Reactor itself goes on', async () => {
    const id = await made();
    const twin = await made();
    const from = (reactor: string, version: number) =>
      `(SELECT sealed FROM reactor_versions WHERE reactor_id = ${reactor} AND version = ${version})`;
    const put = (sealed: string) =>
      `UPDATE reactor_versions SET sealed = ${sealed} WHERE reactor_id = $1 AND version = 1`;
    const current = '(SELECT sealed FROM reactors WHERE id = $1)';
    for (const sealed of [from('$1', 2), from(`'${twin}'`, 1), current]) {
      await altered(id, [put(sealed)], async () => {
        await isRefused('GET', `/reactors/${id}/versions`);
        await isRefused('POST', `/reactors/${id}/versions/1/restore`);
        assert.equal((await call('GET', `/reactors/${id}`)).status, 200);
        assert.ok(app.logLines.some((text) => text.includes('integrity_fault') && text.includes(id)));
        assert.deepEqual(await faults(), [`reactor_versions ${id}:1`]);
      });
    }
  });

  it('a rotation seals Reactors and versions anew, in steps, and all of them open as before', async () => {
    const ids = await Promise.all(Array.from({ length: 18 }, () => made({ configuration: { A: 'a' } })));
    const shown = (await call('GET', '/reactors?size=100')).json;
    const { keyStore } = await openKeyStore(database, { value: rootKeyOf(app), isProduction: false });
    const { clock, wait } = createFakeTime(() =>
      eventually('the server has the new key', async () => {
        return (await app.keyStore.keyring.forTenant(tenant.id)).encryption.currentVersion === 2;
      }),
    );
    const options = { database, keyStore, clock, wait, tables: TABLES, onProgress: () => {} };
    const { finished, faults: failed } = await rotateTenants(options, only(tenant.id));
    assert.deepEqual([finished, failed], [1, []]);
    for (const table of ['reactors', 'reactor_versions']) {
      const { rows } = await sql(`SELECT sealed FROM ${table} WHERE tenant_id = $1`, [tenant.id]);
      assert.ok(rows.length >= ids.length);
      assert.deepEqual([...new Set(rows.map(({ sealed }) => keyVersionOf(sealed)))], [2]);
    }
    assert.deepEqual((await call('GET', '/reactors?size=100')).json, shown);
    assert.equal((await call('POST', `/reactors/${ids[0]}/versions/1/restore`)).json.code, 'one');
    assert.deepEqual(await faults(), []);
  });
});
