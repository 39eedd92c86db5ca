// needs: processes

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { operatorContext } from '../../audit/entry.js';
import { ensureLogPartitions } from '../../audit/partitions.js';
import type { KeyStore } from '../../crypto/key-store.js';
import { openKeyStore } from '../../crypto/key-store.js';
import { generateRootKey } from '../../crypto/root-key.js';
import { systemClock } from '../../kernel/clock.js';
import { newId } from '../../kernel/ids.js';
import { TABLES } from '../../resources.js';
import type { Database } from '../../storage/database.js';
import { createDatabase } from '../../storage/database.js';
import { eventually } from '../../testing/eventually.js';
import { insertManyLogs } from '../../testing/held-backup.js';
import { startTestApp } from '../../testing/test-app.js';
import type { TestDatabase } from '../../testing/test-database.js';
import { createTestDatabase } from '../../testing/test-database.js';
import { createTenant, purgeOneBatch, tenantMaker } from './index.js';

const HOUR_MS = 3_600_000;
const BATCH_ROWS_MAX = 2_000;
const STEPS_MAX = 50;
const DELETED_MS = Date.UTC(2040, 0, 15, 12);
const DUE_MS = Date.UTC(2041, 1, 15, 12);

async function countOf(db: TestDatabase, table: string, tenantId: string): Promise<number> {
  const column = table === 'tenants' ? 'id' : 'tenant_id';
  const { rows } = await db.owner.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table} WHERE ${column} = $1`, [
    tenantId,
  ]);
  return rows[0]?.n ?? assert.fail('a count is a row');
}

describe('the log of a deleted tenant', () => {
  let db: TestDatabase;
  let database: Database;
  let keyStore: KeyStore;
  before(async () => {
    db = await createTestDatabase();
    database = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    ({ keyStore } = await openKeyStore(database, { value: generateRootKey(), isProduction: false }));
    await ensureLogPartitions(database, systemClock.nowMs());
  });
  after(async () => {
    await database.close();
    await db.drop();
  });

  /** Deleted at that moment, and purged of all but its log. */
  async function makeDeleted(deletedAtMs: number, entries: number): Promise<string> {
    const id = newId();
    const maker = await tenantMaker(keyStore);
    const owner = { name: 'T', ownerId: newId(), isNewOwner: true };
    await database.write(id, (tx) => createTenant(tx, maker, operatorContext(systemClock.nowMs()), owner));
    await insertManyLogs(db.owner, id, entries);
    await db.owner.query('UPDATE tenants SET deleted_at = $2 WHERE id = $1', [id, new Date(deletedAtMs)]);
    await purgeUntilDone(deletedAtMs + HOUR_MS);
    return id;
  }

  async function purgeUntilDone(nowMs: number): Promise<number[]> {
    const removed: number[] = [];
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const rows = await purgeOneBatch(database, TABLES, nowMs);
      if (rows === 0) return removed;
      removed.push(rows);
    }
    return assert.fail('the purge does not come to an end');
  }

  it('stays for 13 months to the millisecond, then goes in bounded batches and the tombstone last', async () => {
    const tenantId = await makeDeleted(DELETED_MS, 4_500);
    const entries = await countOf(db, 'logs', tenantId);
    assert.ok(entries > 4_500);
    assert.deepEqual(await purgeUntilDone(DUE_MS - 1), []);
    assert.equal(await countOf(db, 'logs', tenantId), entries);
    const removed = await purgeUntilDone(DUE_MS);
    assert.ok(removed.every((rows) => rows <= BATCH_ROWS_MAX));
    // Its entries and its row.
    assert.equal(
      removed.reduce((sum, rows) => sum + rows, 0),
      entries + 1,
    );
    assert.deepEqual([await countOf(db, 'logs', tenantId), await countOf(db, 'tenants', tenantId)], [0, 0]);
  });

  it('a tombstone whose log was dropped by the retention period goes at its time too', async () => {
    const tenantId = await makeDeleted(DELETED_MS, 1);
    await db.owner.query('DELETE FROM logs WHERE tenant_id = $1', [tenantId]);
    assert.deepEqual(await purgeUntilDone(DUE_MS), [1]);
    assert.equal(await countOf(db, 'tenants', tenantId), 0);
  });

  it('a look costs the same however many logs are kept', async () => {
    for (let n = 0; n < 5; n += 1) await makeDeleted(DELETED_MS + n, 1);
    let asked = 0;
    const counting: Database = {
      ...database,
      survey: (work) => {
        asked += 1;
        return database.survey(work);
      },
      purge: (tenantId, work) => {
        asked += 1;
        return database.purge(tenantId, work);
      },
    };
    assert.equal(await purgeOneBatch(counting, TABLES, DELETED_MS + 2 * HOUR_MS), 0);
    assert.equal(asked, 2);
  });
});

describe('a tenant deleted over HTTP', () => {
  it('204, and every row goes but the log, which stays with a tombstone that names nobody; no key reads it', async () => {
    const app = await startTestApp();
    try {
      const [doomed, neighbour] = [await app.makeTenant('A name that says who it is'), await app.makeTenant()];
      const entries = await countOf(app.db, 'logs', doomed.id);
      assert.equal((await app.call('DELETE', '/tenants/self', { key: doomed.key })).status, 204);
      await eventually('the job is through', async () => (await countOf(app.db, 'applications', doomed.id)) === 0);
      assert.ok(entries > 0);
      assert.equal(await countOf(app.db, 'logs', doomed.id), entries);
      const { rows } = await app.db.owner.query('SELECT name FROM tenants WHERE id = $1', [doomed.id]);
      assert.deepEqual(rows, [{ name: '(deleted)' }]);
      for (const path of ['/logs', '/tenants/self']) {
        assert.equal((await app.call('GET', path, { key: doomed.key })).status, 401, path);
      }
      const seen = await app.call('GET', '/logs?size=1000', { key: neighbour.key });
      assert.ok(seen.json.data.length > 0);
      for (const { tenant_id } of seen.json.data) assert.equal(tenant_id, neighbour.id);
    } finally {
      await app.close();
    }
  });
});
