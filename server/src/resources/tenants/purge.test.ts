// needs: processes

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { operatorContext } from '../../audit/entry.js';
import { ensureLogPartitions } from '../../audit/partitions.js';
import { record } from '../../audit/record.js';
import { openKeyStore } from '../../crypto/key-store.js';
import { generateRootKey } from '../../crypto/root-key.js';
import { systemClock } from '../../kernel/clock.js';
import { newId } from '../../kernel/ids.js';
import { TABLES } from '../../resources.js';
import { clientConfig, DEFAULT_TIME_BOUNDS } from '../../storage/connection.js';
import type { Database } from '../../storage/database.js';
import { createDatabase } from '../../storage/database.js';
import { ONE_SERVER_ALONE } from '../../testing/cluster-only.js';
import { eventually } from '../../testing/eventually.js';
import { insertManyLogs } from '../../testing/held-backup.js';
import { loadTrials } from '../../testing/slice-trial.js';
import { startTestApp } from '../../testing/test-app.js';
import type { TestDatabase } from '../../testing/test-database.js';
import { createTestDatabase } from '../../testing/test-database.js';
import { createApplication } from '../applications/index.js';
import { TENANT_EVENTS } from './events.js';
import { createTenant, purgeOneBatch, tenantMaker } from './index.js';

const BATCH_ROWS_MAX = 2_000;
const ROWS_PER_TABLE = 2_500;
const STEPS_MAX = 200;
/** So many that a plan which reads all of them for each batch takes longer than a statement may. */
const LOG_ROWS = 100_000;
const NOW_MS = Date.UTC(2030, 0, 31, 23, 0);
const DAY_MS = 86_400_000;

describe('the purge of deleted tenants', () => {
  let db: TestDatabase;
  let database: Database;
  let makeTenant: () => Promise<string>;
  before(async () => {
    db = await createTestDatabase();
    database = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    const { keyStore } = await openKeyStore(database, { value: generateRootKey(), isProduction: false });
    await ensureLogPartitions(database, NOW_MS);
    const auditContext = operatorContext(NOW_MS);
    makeTenant = async () => {
      const id = newId();
      const maker = await tenantMaker(keyStore);
      await database.write(id, async (tx) => {
        await createTenant(tx, maker, auditContext, { name: 'T', ownerId: newId(), isNewOwner: true });
        const rights = { name: 'A', type: 'management', permissions: ['tenant:read'] } as const;
        for (let made = 0; made < 3; made += 1) await createApplication(tx, keyStore.systemKeys, auditContext, rights);
      });
      await fill(id);
      return id;
    };
  });
  after(async () => {
    await database.close();
    await db.drop();
  });

  /** More rows than one batch takes, in logs over two partitions. */
  async function fill(tenantId: string): Promise<void> {
    const add = (sql: string) => db.owner.query(sql, [tenantId, ROWS_PER_TABLE]);
    await add(
      `INSERT INTO tokens (tenant_id, id, type, group_id, created_at, tie, terms, data_version, sealed)
       SELECT $1, 't' || n, 'card', $1, '2030-01-31', gen_random_uuid(), '', 1, '\\x00' FROM generate_series(1, $2::int) n`,
    );
    await add(`INSERT INTO active_tokens SELECT $1, '2030-01-01', 't' || n FROM generate_series(1, $2::int) n`);
    await add(`INSERT INTO token_groups SELECT $1, $1, n, 'card', '{/pci/high/}', $2 / 2 FROM generate_series(0, 1) n`);
    await add('INSERT INTO token_directories SELECT $1, $2');
    await add(
      `INSERT INTO search_tries SELECT $1, gen_random_uuid(), '2030-01-31', 1 FROM generate_series(1, $2::int / 100) n`,
    );
    await add(`INSERT INTO active_token_counts SELECT $1, '2030-01-01', n, $2 / 2 FROM generate_series(0, 1) n`);
    await add(
      `INSERT INTO token_terms SELECT $1, '\\x00', '2030-01-31', gen_random_uuid() FROM generate_series(1, $2::int)`,
    );
    await add(
      `INSERT INTO token_claims SELECT $1, 'card', int4send(n), 't' || n FROM generate_series(1, $2::int / 100) n`,
    );
    await add(
      `INSERT INTO idempotency_keys SELECT $1, int4send(n), 201, '\\x00', '2030-02-01' FROM generate_series(1, $2::int / 100) n`,
    );
    await add(
      `INSERT INTO kept_tokens SELECT $1, int4send(n), gen_random_uuid() FROM generate_series(1, $2::int / 100) n`,
    );
    await add(
      `INSERT INTO key_rotations SELECT $1, n, 'tokens', 't', '2030-01-31' FROM generate_series(1, $2::int / 1000) n`,
    );
    await add('INSERT INTO credential_directory SELECT $1, int4send(n) FROM generate_series(1, $2::int / 100) n');
    for (const sql of (await loadTrials()).flatMap((trial) => trial.fill ?? [])) await add(sql);
    await add(`INSERT INTO logs (tenant_id, created_at, id, entity_type, entity_id, operation, message, outcome)
               SELECT $1, '2030-01-31 23:00+00'::timestamptz + n * interval '2 s', gen_random_uuid(),
                      'card', 't' || n, 'create', 'Token created', 'success' FROM generate_series(1, $2::int) n`);
  }

  const markDeleted = (tenantId: string) =>
    db.owner.query('UPDATE tenants SET deleted_at = now() WHERE id = $1', [tenantId]);

  /** Rows of a tenant by table: every table that has a tenant_id column, and tenants itself. */
  async function census(tenantId: string): Promise<Record<string, number>> {
    const tables = await db.owner.query<{ name: string }>(
      `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
       WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace`,
    );
    const rows: Record<string, number> = {};
    for (const [name, column] of [['tenants', 'id'], ...tables.rows.map((table) => [table.name, 'tenant_id'])]) {
      const counted = await db.owner.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM ${pg.escapeIdentifier(name ?? '')} WHERE ${column} = $1`,
        [tenantId],
      );
      rows[name ?? ''] = counted.rows[0]?.n ?? -1;
    }
    return rows;
  }

  const total = (rows: Record<string, number>) => Object.values(rows).reduce((sum, n) => sum + n, 0);

  /** Long enough after every deletion that logs and tombstones may go as well. */
  const later = () => systemClock.nowMs() + 14 * 31 * DAY_MS;

  async function purgeAll(by: Database, atMs = later()): Promise<number[]> {
    const removed: number[] = [];
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const rows = await purgeOneBatch(by, TABLES, atMs);
      if (rows === 0) return removed;
      removed.push(rows);
    }
    return assert.fail('the purge does not come to an end');
  }

  it('removes all rows of deleted tenants in bounded batches and none of a living one', async () => {
    const [first, second, living] = [await makeTenant(), await makeTenant(), await makeTenant()];
    const kept = await census(living);
    assert.ok(
      Object.values(kept).every((rows) => rows > 0),
      'every table must have something to lose',
    );
    const doomedRows = total(await census(first)) + total(await census(second));
    await markDeleted(first);
    await markDeleted(second);
    const removed = await purgeAll(database);
    assert.ok(removed.every((rows) => rows <= BATCH_ROWS_MAX));
    assert.equal(
      removed.reduce((sum, rows) => sum + rows, 0),
      doomedRows,
      'it counts what it removes',
    );
    assert.equal(total(await census(first)) + total(await census(second)), 0);
    assert.deepEqual(await census(living), kept);
  });

  it('returns 0 and changes nothing when no tenant is deleted', async () => {
    const living = await makeTenant();
    const kept = await census(living);
    assert.equal(await purgeOneBatch(database, TABLES, later()), 0);
    assert.deepEqual(await census(living), kept);
  });

  it('goes on after a stop: another process ends what one began', async () => {
    const doomed = await makeTenant();
    const before = total(await census(doomed));
    await markDeleted(doomed);
    const early = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    let removed = 0;
    for (let step = 0; step < 3; step += 1) removed += await purgeOneBatch(early, TABLES, later());
    await early.close();
    assert.equal(total(await census(doomed)), before - removed);
    const fresh = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    await purgeAll(fresh);
    await fresh.close();
    assert.equal(total(await census(doomed)), 0);
  });

  it('leaves nothing behind when two processes purge at the same time', async () => {
    const doomed = await makeTenant();
    await markDeleted(doomed);
    const second = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    // In the product a lock keeps them apart; one that lost its lock must still do no harm.
    await Promise.allSettled([purgeAll(database), purgeAll(second)]);
    await purgeAll(database);
    await second.close();
    assert.equal(total(await census(doomed)), 0);
  });

  it('keeps the tombstone while another process is still removing the rest', { skip: ONE_SERVER_ALONE }, async () => {
    const doomed = await makeTenant();
    await markDeleted(doomed);
    const isLogsTurn = async () => {
      const { tenants = 0, logs = 0, ...others } = await census(doomed);
      return tenants === 1 && logs > 0 && total(others) === 0;
    };
    while (!(await isLogsTurn())) assert.ok((await purgeOneBatch(database, TABLES, later())) > 0);
    // Whoever removes entries stops before the end of its transaction, until the owner lets go.
    await db.owner.query(`CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
      CREATE TRIGGER stop AFTER DELETE ON logs FOR EACH STATEMENT EXECUTE FUNCTION stop();
      SELECT pg_advisory_lock(1)`);
    const second = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    const waiting = async (): Promise<number> =>
      (
        await db.owner.query<{ n: number }>(
          `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
      ).rows[0]?.n ?? 0;
    try {
      const first = purgeOneBatch(database, TABLES, later());
      await eventually('the first has removed entries', async () => (await waiting()) === 1);
      let isSecondDone = false;
      const other = purgeOneBatch(second, TABLES, later()).finally(() => {
        isSecondDone = true;
      });
      await eventually('the second is done or waits', async () => isSecondDone || (await waiting()) === 2);
      await db.owner.query('SELECT pg_advisory_unlock(1)');
      assert.ok((await first) > 0);
      await other;
    } finally {
      await db.owner.query('SELECT pg_advisory_unlock_all()');
      await db.owner.query('DROP TRIGGER stop ON logs; DROP FUNCTION stop()');
    }
    await purgeAll(database);
    await second.close();
    assert.equal(total(await census(doomed)), 0);
  });

  it('gets through a log of many entries of which the server has no statistics, each batch within its time', async () => {
    const [doomed, living] = [await makeTenant(), await makeTenant()];
    for (const tenantId of [doomed, living]) await insertManyLogs(db.owner, tenantId, LOG_ROWS);
    await markDeleted(doomed);
    await purgeAll(database);
    assert.equal(total(await census(doomed)), 0);
    assert.ok(((await census(living)).logs ?? 0) > LOG_ROWS);
  });

  it('finds what a write that was under way during the deletion left behind', async () => {
    const doomed = await makeTenant();
    await markDeleted(doomed);
    await purgeAll(database, systemClock.nowMs());
    assert.deepEqual((await census(doomed)).tenants, 1, 'a tombstone stays for what comes late');
    const late = { event: TENANT_EVENTS.retrieved, entityId: doomed, outcome: 'success' } as const;
    // To refuse the write would be as good.
    await database.write(doomed, (tx) => record(tx, operatorContext(NOW_MS), late)).catch(() => {});
    await purgeAll(database);
    assert.equal(total(await census(doomed)), 0);
  });

  describe('the role it works as', { skip: ONE_SERVER_ALONE }, () => {
    let client: pg.Client;
    before(async () => {
      client = new pg.Client(clientConfig(db.target, DEFAULT_TIME_BOUNDS));
      await client.connect();
    });
    after(() => client.end());

    async function asPurge<T>(scope: string, auditContext: () => Promise<T>): Promise<T> {
      await client.query('BEGIN');
      try {
        await client.query('SET LOCAL ROLE strongroom_purge');
        await client.query(`SELECT set_config('strongroom.tenants', $1, true)`, [scope]);
        return await auditContext();
      } finally {
        await client.query('ROLLBACK');
      }
    }

    it('deletes no row of a living tenant, even with that tenant in its scope', async () => {
      const living = await makeTenant();
      for (const table of Object.keys(await census(living))) {
        const name = pg.escapeIdentifier(table);
        const deleted = await asPurge(living, () => client.query(`DELETE FROM ${name}`));
        assert.equal(deleted.rowCount, 0, table);
      }
    });

    it('deletes rows of a deleted tenant only with that tenant in its scope', async () => {
      const [doomed, living] = [await makeTenant(), await makeTenant()];
      await markDeleted(doomed);
      const remove = () => client.query('DELETE FROM logs');
      assert.equal((await asPurge(living, remove)).rowCount, 0);
      assert.equal((await asPurge('', remove)).rowCount, 0);
      assert.equal((await asPurge(doomed, remove)).rowCount, (await census(doomed)).logs);
    });

    for (const [circumstance, sql] of [
      ['mark a tenant deleted', 'UPDATE tenants SET deleted_at = now()'],
      ['write a log', `INSERT INTO logs (tenant_id) VALUES (gen_random_uuid())`],
      ['change a log', `UPDATE logs SET message = ''`],
      ['read a user', 'SELECT FROM users'],
      ['read a system key', 'SELECT FROM system_keys'],
    ] as const) {
      it(`may not ${circumstance}`, async () => {
        await assert.rejects(
          asPurge('', () => client.query(sql)),
          { code: '42501' },
        );
      });
    }
  });
});

describe('a tenant deleted over HTTP', () => {
  it('204, and soon after no row of it is left but its log, while its neighbour keeps everything', async () => {
    const app = await startTestApp();
    try {
      const [doomed, neighbour] = [await app.makeTenant(), await app.makeTenant('Neighbour')];
      const rowsOf = async (tenantId: string) => {
        const found = await app.db.owner.query<{ n: number }>(
          `SELECT ((SELECT count(*) FROM applications WHERE tenant_id = $1)
                 + (SELECT count(*) FROM api_keys WHERE tenant_id = $1))::int AS n`,
          [tenantId],
        );
        return found.rows[0]?.n;
      };
      const kept = await rowsOf(neighbour.id);
      assert.equal((await app.call('DELETE', '/tenants/self', { key: doomed.key })).status, 204);
      await eventually('every row is purged', async () => (await rowsOf(doomed.id)) === 0);
      assert.equal(await rowsOf(neighbour.id), kept);
      assert.equal((await app.call('GET', '/tenants/self', { key: neighbour.key })).json.name, 'Neighbour');
    } finally {
      await app.close();
    }
  });
});
