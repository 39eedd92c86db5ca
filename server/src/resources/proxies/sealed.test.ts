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
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';

async function* only(tenantId: string): AsyncGenerator<string> {
  yield tenantId;
}

describe('sealed proxies', () => {
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

  const call = (method: string, path: string, body?: object) =>
    app.call(method, path, { key: tenant.key, ...(body && { body }) });
  const sql = (text: string, values: unknown[] = []) => app.db.owner.query(text, values);

  /** A Proxy at its third version. */
  async function made(more: object = {}): Promise<string> {
    const { id } = (await call('POST', '/proxies', { name: 'P', destination_url: 'https://one.example', ...more }))
      .json;
    for (const name of ['two', 'three']) {
      await call('PATCH', `/proxies/${id}`, { destination_url: `https://${name}.example` });
    }
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
  async function altered(id: string, statement: string, look: () => Promise<void>): Promise<void> {
    const row = (await sql('SELECT * FROM proxies WHERE id = $1', [id])).rows[0];
    const versions = (await sql('SELECT version, sealed FROM proxy_versions WHERE proxy_id = $1', [id])).rows;
    await sql(statement, [id]);
    app.logLines.length = 0;
    await look();
    await sql(
      'UPDATE proxies SET name = $2, application_id = $3, key_hash = $4, version = $5, sealed = $6 WHERE id = $1',
      [id, row.name, row.application_id, row.key_hash, row.version, row.sealed],
    );
    for (const { version, sealed } of versions) {
      await sql('UPDATE proxy_versions SET sealed = $3 WHERE proxy_id = $1 AND version = $2', [id, version, sealed]);
    }
    assert.deepEqual(await faults(), []);
  }

  async function isRefused(method: string, path: string, body?: object): Promise<void> {
    const { status, json } = await call(method, path, body);
    assert.deepEqual([status, json.code], [503, 'storage_unavailable'], `${method} ${path}`);
  }

  it('503 where a row says what was not sealed, on every call that opens it; told to the operator, found by verify', async () => {
    const { id: applicationId } = await app.makeApplication(tenant.id, 'private', ['token:use']);
    const { id: otherId } = await app.makeApplication(tenant.id, 'private', ['token:use', 'token:read']);
    const id = await made({ application_id: applicationId });
    const twin = await made({ application_id: applicationId });
    for (const statement of [
      `UPDATE proxies SET application_id = '${otherId}' WHERE id = $1`,
      'UPDATE proxies SET application_id = NULL WHERE id = $1',
      "UPDATE proxies SET name = 'Other' WHERE id = $1",
      `UPDATE proxies SET key_hash = (SELECT key_hash FROM proxies WHERE id = '${twin}') WHERE id = $1`,
      "UPDATE proxies SET key_hash = '' WHERE id = $1",
      'UPDATE proxies SET key_hash = set_byte(key_hash, 0, get_byte(key_hash, 0) # 1) WHERE id = $1',
      'UPDATE proxies SET version = version - 1 WHERE id = $1',
      `UPDATE proxies SET sealed = (SELECT sealed FROM proxies WHERE id = '${twin}') WHERE id = $1`,
      `UPDATE proxies SET version = 2, sealed =
         (SELECT sealed FROM proxy_versions WHERE proxy_id = $1 AND version = 2) WHERE id = $1`,
      'UPDATE proxies SET sealed = set_byte(sealed, length(sealed) - 1, get_byte(sealed, length(sealed) - 1) # 1) WHERE id = $1',
    ]) {
      await altered(id, statement, async () => {
        const path = `/proxies/${id}`;
        await isRefused('GET', path);
        await isRefused('GET', '/proxies');
        await isRefused('PUT', path, { name: 'P', destination_url: 'https://four.example' });
        await isRefused('PATCH', path, { name: 'four' });
        await isRefused('POST', `${path}/regenerate`);
        await isRefused('POST', `${path}/versions/1/restore`);
        const line = app.logLines.find((text) => text.includes('integrity_fault')) ?? '';
        assert.ok(line.includes(id) && line.includes('a stored Proxy was altered'), line);
        assert.deepEqual(await faults(), [`proxies ${id}`]);
      });
    }
  });

  it('503 for a version record moved to another number or Proxy; the Proxy itself goes on', async () => {
    const id = await made();
    const twin = await made();
    const from = (proxy: string, version: number) =>
      `(SELECT sealed FROM proxy_versions WHERE proxy_id = ${proxy} AND version = ${version})`;
    for (const sealed of [from('$1', 2), from(`'${twin}'`, 1), '(SELECT sealed FROM proxies WHERE id = $1)']) {
      const put = `UPDATE proxy_versions SET sealed = ${sealed} WHERE proxy_id = $1 AND version = 1`;
      await altered(id, put, async () => {
        await isRefused('GET', `/proxies/${id}/versions`);
        await isRefused('POST', `/proxies/${id}/versions/1/restore`);
        assert.equal((await call('GET', `/proxies/${id}`)).status, 200);
        assert.ok(app.logLines.some((text) => text.includes('integrity_fault') && text.includes(id)));
        assert.deepEqual(await faults(), [`proxy_versions ${id}:1`]);
      });
    }
  });

  it('a Reactor’s record opens as no Proxy, nor a Proxy’s as a Reactor', async () => {
    const id = await made();
    const reactor = (await call('POST', '/reactors', { name: 'P', code: 'one' })).json.id;
    const taken = `(SELECT sealed FROM reactors WHERE id = '${reactor}')`;
    await altered(id, `UPDATE proxies SET version = 1, sealed = ${taken} WHERE id = $1`, () =>
      isRefused('GET', `/proxies/${id}`),
    );
  });

  it('a rotation seals Proxies and versions anew, in steps, and all of them open as before', async () => {
    const ids = await Promise.all(Array.from({ length: 18 }, () => made({ configuration: { A: 'a' } })));
    const shown = (await call('GET', '/proxies?size=100')).json;
    const { keyStore } = await openKeyStore(database, { value: rootKeyOf(app), isProduction: false });
    const { clock, wait } = createFakeTime(() =>
      eventually('the server has the new key', async () => {
        return (await app.keyStore.keyring.forTenant(tenant.id)).encryption.currentVersion === 2;
      }),
    );
    const options = { database, keyStore, clock, wait, tables: TABLES, onProgress: () => {} };
    const { finished, faults: failed } = await rotateTenants(options, only(tenant.id));
    assert.deepEqual([finished, failed], [1, []]);
    for (const table of ['proxies', 'proxy_versions']) {
      const { rows } = await sql(`SELECT sealed FROM ${table} WHERE tenant_id = $1`, [tenant.id]);
      assert.ok(rows.length >= ids.length);
      assert.deepEqual([...new Set(rows.map(({ sealed }) => keyVersionOf(sealed)))], [2]);
    }
    assert.deepEqual((await call('GET', '/proxies?size=100')).json, shown);
    const restored = await call('POST', `/proxies/${ids[0]}/versions/1/restore`);
    assert.equal(restored.json.destination_url, 'https://one.example');
    assert.deepEqual(await faults(), []);
  });
});
