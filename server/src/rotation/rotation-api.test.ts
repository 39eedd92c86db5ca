import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { keyVersionOf } from '../crypto/aead.js';
import { openKeyStore } from '../crypto/key-store.js';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import { TABLES } from '../resources.js';
import type { Database } from '../storage/database.js';
import { createDatabase } from '../storage/database.js';
import { eventually } from '../testing/eventually.js';
import type { TestApp } from '../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../testing/test-app.js';
import { rotateTenants } from './rotate-tenants.js';
import { createFakeTime } from './rotation-fixture.js';
import type { Fault } from './verify.js';
import { verifyKeys } from './verify.js';

const WRITERS = 4;
const ROUNDS_BEFORE = 20;

let app: TestApp;
let database: Database;
before(async () => {
  app = await startTestApp();
  database = createDatabase({ target: app.db.target, isDistributed: app.db.isDistributed, clock: systemClock });
});
after(async () => {
  await database.close();
  await app.close();
});

async function* only(tenantId: string): AsyncGenerator<string> {
  yield tenantId;
}

/** Makes a token, reads, changes and reads it, again and again; every answer has to be the one without a rotation. */
function startClient(key: string, isOver: () => boolean, onRound: () => void) {
  const { call } = app;
  const made: { id: string; data: string; idempotencyKey: string }[] = [];
  const done = (async () => {
    while (!isOver()) {
      const [data, idempotencyKey] = [newId(), newId()];
      const headers = { 'SVC-IDEMPOTENCY-KEY': idempotencyKey };
      const created = await call('POST', '/tokens', { key, body: { type: 'token', data }, headers });
      assert.equal(created.status, 201, created.text);
      const { id } = created.json;
      assert.equal((await call('GET', `/tokens/${id}`, { key })).json.data, data);
      const changed = await call('PATCH', `/tokens/${id}`, {
        key,
        body: { data: `${data} changed` },
        headers: { 'Content-Type': 'application/merge-patch+json' },
      });
      assert.equal(changed.status, 200, changed.text);
      assert.equal((await call('GET', `/tokens/${id}`, { key })).json.data, `${data} changed`);
      const earlier = made[Math.floor(made.length / 2)];
      if (earlier) assert.equal((await call('GET', `/tokens/${earlier.id}`, { key })).json.data, earlier.data);
      made.push({ id, data: `${data} changed`, idempotencyKey });
      onRound();
    }
  })();
  return { made, done };
}

async function sealedVersions(table: string, tenantId: string): Promise<(number | undefined)[]> {
  const { rows } = await app.db.owner.query<{ sealed: Buffer }>(`SELECT sealed FROM ${table} WHERE tenant_id = $1`, [
    tenantId,
  ]);
  return [...new Set(rows.map(({ sealed }) => keyVersionOf(sealed)))];
}

test('2xx throughout for clients of a tenant whose key is rotated twice: tokens, kept answers and lists as ever', async () => {
  const tenant = await app.makeTenant();
  const permissions = ['token:create', 'token:read', 'token:update', 'token:delete'];
  const rules = [{ description: 'all', priority: 1, container: '/', transform: 'reveal', permissions }] as const;
  const key = await app.makeKey(tenant.id, 'private', permissions, rules);
  const { keyStore } = await openKeyStore(database, { value: rootKeyOf(app), isProduction: false });
  let [rounds, isOver] = [0, false];
  const clients = Array.from({ length: WRITERS }, () =>
    startClient(
      key,
      () => isOver,
      () => {
        rounds += 1;
      },
    ),
  );
  const failed = Promise.all(clients.map(({ done }) => done));
  await Promise.race([failed, eventually('the clients are at work', () => rounds > ROUNDS_BEFORE)]);
  for (const version of [2, 3]) {
    // Stands for the half minute: the news was heard, and every request from before has ended.
    const { clock, wait } = createFakeTime(async () => {
      const isHeard = async () => {
        return (await app.keyStore.keyring.forTenant(tenant.id)).encryption.currentVersion === version;
      };
      await eventually('the server has the new key', isHeard);
      const enough = rounds + 3 * WRITERS;
      await Promise.race([failed, eventually('requests from before have ended', () => rounds >= enough)]);
    });
    const options = { database, keyStore, clock, wait, tables: TABLES, onProgress: () => {} };
    const { finished, faults } = await rotateTenants(options, only(tenant.id));
    assert.deepEqual([finished, faults], [1, []]);
  }
  const later = rounds + WRITERS;
  await Promise.race([failed, eventually('the clients go on', () => rounds >= later)]);
  isOver = true;
  await failed;

  for (const table of ['tokens', 'idempotency_keys']) assert.deepEqual(await sealedVersions(table, tenant.id), [3]);
  for (const { made } of clients) {
    for (const { id, data, idempotencyKey } of [made[0], made.at(-1)].filter((entry) => entry !== undefined)) {
      assert.equal((await app.call('GET', `/tokens/${id}`, { key })).json.data, data);
      const headers = { 'SVC-IDEMPOTENCY-KEY': idempotencyKey };
      const again = await app.call('POST', '/tokens', { key, body: { type: 'token', data: 'ignored' }, headers });
      assert.deepEqual([again.status, again.json.id], [201, id], 'the first answer is given again');
    }
  }
  const listed = await app.call('GET', '/tokens?size=100', { key });
  assert.equal(listed.status, 200, listed.text);
  assert.ok(!app.logLines.join('').includes('integrity_fault'), 'no false alarm');
  const found: Fault[] = [];
  const { wait } = createFakeTime();
  const looks = { database, keyStore, tables: TABLES, wait, onFault: (fault: Fault) => found.push(fault) };
  const { rows } = await verifyKeys({ ...looks, onProgress: () => {} }, only(tenant.id));
  assert.deepEqual(found, []);
  assert.ok(rows > 2 * ROUNDS_BEFORE);
});

test('a kept answer with a flipped byte, and a session that gave itself rights, are found by verify', async () => {
  const tenant = await app.makeTenant();
  const publicKey = await app.makeKey(tenant.id, 'public', ['token:create']);
  const headers = { 'SVC-IDEMPOTENCY-KEY': 'k' };
  assert.equal((await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'N' }, headers })).status, 200);
  assert.ok((await app.call('POST', '/sessions', { key: publicKey })).status < 300);
  const { keyStore } = await openKeyStore(database, { value: rootKeyOf(app), isProduction: false });
  const look = async (): Promise<string[]> => {
    const tables: string[] = [];
    const { wait } = createFakeTime();
    const options = { database, keyStore, tables: TABLES, wait, onProgress: () => {} };
    await verifyKeys({ ...options, onFault: ({ table }) => tables.push(table) }, only(tenant.id));
    return tables;
  };
  assert.deepEqual(await look(), []);
  await app.db.owner.query(
    'UPDATE idempotency_keys SET sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) WHERE tenant_id = $1',
    [tenant.id],
  );
  await app.db.owner.query(`UPDATE sessions SET permissions = '{token:read}' WHERE tenant_id = $1`, [tenant.id]);
  assert.deepEqual(await look(), ['idempotency_keys', 'sessions']);
  const { clock, wait } = createFakeTime();
  const options = { database, keyStore, clock, wait, tables: TABLES, onProgress: () => {} };
  const { finished, faults } = await rotateTenants(options, only(tenant.id));
  assert.deepEqual([finished, faults.map(({ table }) => table)], [0, ['idempotency_keys']]);
});
