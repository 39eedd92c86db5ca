import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import pg from 'pg';
import { backgroundJobs } from '../background.js';
import { generateRootKey } from '../crypto/root-key.js';
import { newId } from '../kernel/ids.js';
import { clientConfig, DEFAULT_TIME_BOUNDS } from '../storage/connection.js';
import { connectAs } from '../testing/empty-database.js';
import { eventually } from '../testing/eventually.js';
import type { FakeClock } from '../testing/fake-clock.js';
import { createFakeClock } from '../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import { createTestDatabase } from '../testing/test-database.js';
import { testVault } from '../testing/test-vault.js';
import { dropOldLogMonth } from './partitions.js';

/** In the past of the database, whose own clock has the last word. */
const NOW_MS = Date.UTC(2025, 2, 15, 12);

async function monthsOf(app: Pick<TestApp, 'db'>): Promise<string[]> {
  const { rows } = await app.db.owner.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'logs'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** One entry in the middle of each month from `first` on, `count` months long. */
async function fillMonths(app: Pick<TestApp, 'db'>, tenantId: string, first: string, count: number): Promise<void> {
  await app.db.owner.query('SELECT ensure_log_partitions($1::timestamptz, $2)', [`${first}-15T00:00:00Z`, count - 1]);
  await app.db.owner.query(
    `INSERT INTO logs SELECT $1, ($2::timestamp + n * interval '1 month') AT TIME ZONE 'UTC', gen_random_uuid(), NULL, NULL,
       'token', 'e', 'read', 'entry ' || n, 'success' FROM generate_series(0, $3::int - 1) n`,
    [tenantId, `${first}-15`, count],
  );
}

describe('a retention period of the log', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let clock: FakeClock;
  const start = async (months?: string) => {
    clock = createFakeClock(NOW_MS);
    app = await startTestApp({ clock, ...(months && { env: { STRONGROOM_LOG_RETENTION_MONTHS: months } }) });
    tenant = await app.makeTenant();
  };
  afterEach(() => app.close());
  const list = async (query = '') => app.call('GET', `/logs${query}`, { key: tenant.key });
  const drop = (months: number) => dropOldLogMonth(app.database, clock.nowMs(), months);

  it('drops nothing, ever, without the setting', async () => {
    await start();
    await fillMonths(app, tenant.id, '2020-01', 3);
    const before = await monthsOf(app);
    const more = { vault: testVault(app), clock, onLogsDropped: () => assert.fail() };
    const jobs = backgroundJobs({ database: app.database, ...more, logRetentionMonths: undefined });
    assert.equal(await jobs.find(({ name }) => name === 'log-partitions')?.step({ databaseMs: clock.nowMs() }), 0);
    assert.deepEqual(await monthsOf(app), before);
  });

  it('the job drops what is older than so many whole months and says which; the rest stays, to the day', async () => {
    // Filled before the only process starts, whose first look then finds it.
    const db = await createTestDatabase();
    const tenantId = newId();
    await fillMonths({ db }, tenantId, '2024-10', 5);
    const env = { STRONGROOM_LOG_RETENTION_MONTHS: '2' };
    app = await startTestApp({ clock: createFakeClock(NOW_MS), beside: { db, rootKey: generateRootKey() }, env });
    const told = () => app.logLines.filter((line) => /logs_dropped/.test(line)).map((line) => JSON.parse(line));
    await eventually('three months are gone', () => told().length === 3);
    assert.deepEqual(
      told().map(({ stream, partition }) => [stream, partition]),
      ['logs_2024_10', 'logs_2024_11', 'logs_2024_12'].map((name) => ['security', name]),
    );
    assert.ok(told().every(({ bytes }) => bytes > 0));
    assert.deepEqual((await monthsOf(app)).slice(0, 3), ['logs_2025_01', 'logs_2025_02', 'logs_2025_03']);
    const kept = await db.owner.query('SELECT message FROM logs WHERE tenant_id = $1 ORDER BY created_at', [tenantId]);
    assert.deepEqual(kept.rows, [{ message: 'entry 3' }, { message: 'entry 4' }]);
    const { close } = app;
    app = { ...app, close: () => close().then(() => db.drop()) };
  });

  it('keeps the months at the very turn of a month: UTC, the last millisecond and the first', async () => {
    await start();
    await fillMonths(app, tenant.id, '2025-01', 3);
    clock.jumpTo(Date.UTC(2025, 3, 1) - 1);
    assert.equal((await drop(1))?.partition, 'logs_2025_01');
    assert.equal(await drop(1), undefined);
    clock.jumpTo(Date.UTC(2025, 3, 1));
    assert.equal((await drop(1))?.partition, 'logs_2025_02');
    assert.equal(await drop(1), undefined);
  });

  it('a process whose clock is months ahead drops no month that is within the period by the clock of the database', async () => {
    await start();
    const { rows } = await app.db.owner.query<{ first: string; now: string; ahead_ms: number }>(
      `SELECT to_char(now() AT TIME ZONE 'UTC' - interval '12 months', 'YYYY-MM') AS first,
              to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM') AS now,
              extract(epoch FROM now() + interval '11 months')::float8 * 1000 AS ahead_ms`,
    );
    const [{ first, now, ahead_ms: aheadMs } = { first: '', now: '', ahead_ms: 0 }] = rows;
    await fillMonths(app, tenant.id, first, 12);
    clock.jumpTo(aheadMs);
    while ((await drop(12)) !== undefined);
    assert.equal((await monthsOf(app))[0], `logs_${first.replace('-', '_')}`);
    // The process makes months ahead of its own clock, whenever its turn comes; those are not what is kept here.
    assert.equal((await monthsOf(app)).filter((name) => name < `logs_${now}`).length, 12);
  });

  it('200 and an empty page for a cursor into a month that was dropped, and the filters go on', async () => {
    await start();
    await fillMonths(app, tenant.id, '2024-11', 3);
    const { json } = await list('?size=1&end_date=20250101');
    assert.equal(json.data[0].message, 'entry 1');
    while ((await drop(1)) !== undefined);
    const next = await list(`?size=1&end_date=20250101&start=${json.pagination.after}`);
    assert.deepEqual([next.status, next.json.data, next.json.pagination.after], [200, [], undefined]);
    assert.deepEqual((await list('?end_date=20250101&page=1')).json.pagination.total_items, 0);
  });

  it('the log of a deleted tenant goes with its months where the period is shorter than it would be kept', async () => {
    await start();
    await fillMonths(app, tenant.id, '2025-01', 3);
    const left = async () => (await app.db.owner.query('SELECT FROM logs WHERE tenant_id = $1', [tenant.id])).rowCount;
    const written = await left();
    assert.equal((await app.call('DELETE', '/tenants/self', { key: tenant.key })).status, 204);
    await eventually('its rights are gone', async () => {
      const { rows } = await app.db.owner.query('SELECT FROM applications WHERE tenant_id = $1', [tenant.id]);
      return rows.length === 0;
    });
    assert.equal(await left(), written);
    clock.jumpTo(Date.UTC(2025, 4, 1));
    while ((await drop(1)) !== undefined);
    assert.equal(await left(), 0);
  });

  it('a log that is held for long is left alone in time, changes and reads go on, and a later look drops it', async () => {
    await start();
    await fillMonths(app, tenant.id, '2024-11', 1);
    const holder = await connectAs(app.db.ownerTarget);
    await holder.query('BEGIN');
    await holder.query('SELECT FROM logs LIMIT 1');
    const refused = assert.rejects(drop(1));
    const [read, changed] = await Promise.all([
      list('?size=1'),
      app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'Meanwhile' } }),
    ]);
    assert.deepEqual([read.status, changed.status], [200, 200]);
    // While the holder still has it: the wait is bounded.
    await refused;
    assert.ok((await monthsOf(app)).includes('logs_2024_11'));
    await holder.query('ROLLBACK');
    await holder.end();
    assert.equal((await drop(1))?.partition, 'logs_2024_11');
  });
});

describe('drop_log_partitions', () => {
  let app: TestApp;
  let client: pg.Client;
  beforeEach(async () => {
    app = await startTestApp();
    client = new pg.Client(clientConfig(app.db.target, DEFAULT_TIME_BOUNDS));
    await client.connect();
  });
  afterEach(async () => {
    await client.end();
    await app.close();
  });

  async function as(role: string, keepFrom: string): Promise<pg.QueryResult> {
    await client.query('BEGIN');
    try {
      await client.query(`SELECT set_config('role', $1, true)`, [role]);
      const result = await client.query(`SELECT dropped FROM drop_log_partitions(${keepFrom})`);
      await client.query('COMMIT');
      return result;
    } finally {
      await client.query('ROLLBACK');
    }
  }

  it('refuses the current month, every later one, a day that begins no month, and nothing at all', async () => {
    const before = await monthsOf(app);
    const month = `date_trunc('month', now() AT TIME ZONE 'UTC')`;
    const refused = [
      `${month}::date`,
      `(${month} + interval '1 month')::date`,
      `(${month} + interval '20 years')::date`,
      `(${month} - interval '1 day')::date`,
      `'infinity'`,
      'NULL',
    ];
    for (const keepFrom of refused) {
      await assert.rejects(as('strongroom_purge', keepFrom), { code: '22023' }, keepFrom);
    }
    assert.equal((await as('strongroom_purge', `(${month} - interval '1 month')::date`)).rowCount, 0);
    assert.deepEqual(await monthsOf(app), before);
  });

  it('is for the purge role alone, which can drop in no other way', async () => {
    for (const role of ['strongroom_app', 'strongroom_system', 'none']) {
      await assert.rejects(as(role, `'2020-01-01'`), { code: '42501' }, role);
    }
    await app.db.owner.query(`SELECT ensure_log_partitions('2020-01-15Z', 0)`);
    await client.query('BEGIN');
    await client.query('SET LOCAL ROLE strongroom_purge');
    await assert.rejects(client.query('DROP TABLE logs_2020_01'), { code: '42501' });
    await client.query('ROLLBACK');
    assert.deepEqual((await as('strongroom_purge', `'2020-02-01'`)).rows, [{ dropped: 'logs_2020_01' }]);
  });

  it('leaves alone what it did not make: another name, other bounds, a table beside the log', async () => {
    for (const sql of [
      `CREATE TABLE logs_old PARTITION OF logs FOR VALUES FROM ('2019-01-01Z') TO ('2019-02-01Z')`,
      `CREATE TABLE logs_2019_02 PARTITION OF logs FOR VALUES FROM ('2019-02-01Z') TO ('2019-04-01Z')`,
      'CREATE TABLE logs_2018_01 (id integer)',
    ]) {
      await app.db.owner.query(sql);
    }
    assert.equal((await as('strongroom_purge', `'2021-01-01'`)).rowCount, 0);
    await app.db.owner.query(`SET timezone = 'Asia/Tokyo'`);
    await app.db.owner.query(`SELECT ensure_log_partitions('2020-06-15Z', 0)`);
    await client.query(`SET timezone = 'America/Los_Angeles'`);
    await client.query(`SET datestyle = 'German'`);
    assert.deepEqual((await as('strongroom_purge', `'2020-07-01'`)).rows, [{ dropped: 'logs_2020_06' }]);
  });
});

describe('ensure_log_partitions', () => {
  it('makes whole months of UTC whatever the session says of dates, and none outside of 1970 to 2099', async () => {
    const app = await startTestApp();
    const client = new pg.Client(clientConfig(app.db.target, DEFAULT_TIME_BOUNDS));
    await client.connect();
    try {
      await client.query(`SET timezone = 'Asia/Kolkata'`);
      await client.query(`SET datestyle = 'SQL, DMY'`);
      await client.query('SET ROLE strongroom_system');
      await client.query(`SELECT ensure_log_partitions('2020-06-15 00:00:00Z', 0)`);
      const { rows } = await app.db.owner.query(
        `SELECT pg_get_expr(relpartbound, oid) AS bounds FROM pg_class WHERE relname = 'logs_2020_06'`,
      );
      assert.match(rows[0]?.bounds ?? '', /FROM \('2020-06-01 00:00:00\+00'\) TO \('2020-07-01 00:00:00\+00'\)/);
      for (const first of [`'1969-12-31 23:59:59Z'`, `'2100-01-01 00:00:00Z'`, `'infinity'`, 'NULL']) {
        await assert.rejects(client.query(`SELECT ensure_log_partitions(${first}, 0)`), { code: '22023' }, first);
      }
    } finally {
      await client.end();
      await app.close();
    }
  });
});
