// needs: processes

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { dropOldLogMonth, ensureLogPartitions } from '../audit/partitions.js';
import { openKeyStore } from '../crypto/key-store.js';
import { generateRootKey } from '../crypto/root-key.js';
import { systemClock } from '../kernel/clock.js';
import { Secret } from '../kernel/secret.js';
import { purgeOneBatch } from '../resources/tenants/index.js';
import { TABLES } from '../resources.js';
import { rotateRoot } from '../rotation/rotate-root.js';
import { rotateTenants } from '../rotation/rotate-tenants.js';
import { createFakeTime } from '../rotation/rotation-fixture.js';
import type { ConnectionTarget, SocketTarget } from '../storage/connection.js';
import type { Database } from '../storage/database.js';
import { createDatabase } from '../storage/database.js';
import { migrate } from '../storage/migrate.js';
import { readMigrations } from '../storage/migrations.js';
import type { CommandSettings } from '../testing/command-runner.js';
import { ending, launch, runCommand, succeed, urlOf } from '../testing/command-runner.js';
import type { EmptyDatabase } from '../testing/empty-database.js';
import { connectAs, createEmptyDatabase } from '../testing/empty-database.js';
import { eventually } from '../testing/eventually.js';
import type { HeldBackup } from '../testing/held-backup.js';
import { holdBackup, insertManyLogs } from '../testing/held-backup.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../testing/test-app.js';
import { ALL_OF_TOKENS, makeScratch, REVEAL_ALL } from '../testing/transfer.js';

const LOGIN = 'strongroom';
const TOKENS = 30;
/** The schema before the policies of backups, whose migration wants every table for itself. */
const OLDER = 11;

interface Subject extends TestTenant {
  readonly privateKey: string;
}

describe('a backup beside others that change the database', () => {
  let app: TestApp;
  let scratch: Awaited<ReturnType<typeof makeScratch>>;
  let path: (name: string) => string;
  let source: CommandSettings;
  let kept: Subject;
  const cleanUp: (() => unknown)[] = [];
  before(async () => {
    app = await startTestApp();
    scratch = await makeScratch();
    path = (name) => join(scratch.path, name);
    kept = await fill();
    await insertManyLogs(app.db.owner, kept.id);
    source = settingsOf(app.db, rootKeyOf(app).reveal());
  });
  after(async () => {
    await app.close();
    await scratch.remove();
  });
  afterEach(async () => {
    for (const act of cleanUp.splice(0).reverse()) await act();
  });

  async function fill(): Promise<Subject> {
    const tenant = await app.makeTenant();
    const privateKey = await app.makeKey(tenant.id, 'private', ALL_OF_TOKENS, REVEAL_ALL);
    const subject = { ...tenant, privateKey };
    for (let n = 0; n < TOKENS; n += 1) await write(subject);
    return subject;
  }

  async function write({ privateKey }: Pick<Subject, 'privateKey'>): Promise<void> {
    const { status, text } = await app.call('POST', '/tokens', { key: privateKey, body: { data: 'held' } });
    assert.equal(status, 201, text);
  }

  async function hold(name: string, settings = source): Promise<HeldBackup> {
    const held = await holdBackup(settings, path(name));
    cleanUp.push(held.kill);
    return held;
  }

  /** Ends the backup and gives a database that was filled from it. */
  async function restored(held: HeldBackup, name: string, rootKey = rootKeyOf(app).reveal()) {
    const { code, stderr } = await held.resume();
    assert.equal(code, 0, stderr);
    const empty = await createEmptyDatabase(app.db);
    cleanUp.push(() => empty.drop());
    const settings = settingsOf(empty, rootKey);
    await succeed(settings, 'restore', '--from', path(name));
    return { ...empty, settings, told: stderr };
  }

  /** As a process does that starts on it. */
  async function open(copy: { readonly ownerTarget: ConnectionTarget; readonly settings: CommandSettings }) {
    const target = { ...socketOf(copy.ownerTarget), user: LOGIN };
    const database = createDatabase({ target, clock: systemClock });
    cleanUp.push(() => database.close());
    const value = new Secret(copy.settings.STRONGROOM_ROOT_KEY ?? '');
    return { database, ...(await openKeyStore(database, { value, isProduction: false })) };
  }

  async function count(client: EmptyDatabase['owner'], table: string, tenantId: string): Promise<number> {
    const text = `SELECT count(*)::int AS n FROM ${table} WHERE tenant_id = $1`;
    return (await client.query<{ n: number }>(text, [tenantId])).rows[0]?.n ?? -1;
  }

  /** Tables were copied one after the other, and are of one moment all the same. */
  async function assertOneMoment({ owner }: EmptyDatabase, tokens: number): Promise<void> {
    assert.equal(await count(owner, 'tokens', kept.id), tokens);
    const apart = await owner.query(
      `SELECT t.id FROM (SELECT id FROM tokens WHERE tenant_id = $1) t
       FULL JOIN (SELECT entity_id FROM logs WHERE tenant_id = $1 AND message = 'Token created') l ON l.entity_id = t.id
       WHERE t.id IS NULL OR l.entity_id IS NULL`,
      [kept.id],
    );
    assert.equal(apart.rowCount, 0, 'each token has its entry, each entry its token');
  }

  async function assertVerified(settings: CommandSettings): Promise<void> {
    assert.match((await succeed(settings, 'keys', 'verify')).stderr, /Rows that do not open: 0/);
  }

  /** As long as `act` takes, changes of others are answered as ever. */
  async function meanwhile<T>(act: Promise<T>): Promise<PromiseSettledResult<T>> {
    const outcome = Promise.allSettled([act]).then(([settled]) => settled);
    let isOver = false;
    void outcome.then(() => (isOver = true));
    do await write(kept);
    while (!isOver);
    return outcome;
  }

  it('a tenant half purged at its moment is half purged in what is restored, and the purge goes on there', async () => {
    const doomed = await fill();
    await insertManyLogs(app.db.owner, doomed.id, 3_000);
    const leader = await connectAs(app.db.ownerTarget);
    cleanUp.push(() => leader.end());
    await leader.query(`SELECT pg_advisory_lock(hashtext('strongroom.job.purge'))`);
    assert.equal((await app.call('DELETE', '/tenants/self', { key: doomed.key })).status, 204);
    const look = async (owner: EmptyDatabase['owner']) => ({
      tokens: await count(owner, 'tokens', doomed.id),
      terms: await count(owner, 'token_groups', doomed.id),
      applications: await count(owner, 'applications', doomed.id),
      logs: await count(owner, 'logs', doomed.id),
    });
    await purgeOneBatch(app.database, TABLES, systemClock.nowMs());
    const before = await look(app.db.owner);
    assert.ok(before.tokens === 0 && before.applications > 0 && before.logs > 0, 'it is half purged');
    const tokens = await count(app.db.owner, 'tokens', kept.id);

    const held = await hold('purge');
    await write(kept);
    while ((await purgeOneBatch(app.database, TABLES, systemClock.nowMs())) > 0);
    assert.deepEqual(await look(app.db.owner), { tokens: 0, terms: 0, applications: 0, logs: before.logs });
    const copy = await restored(held, 'purge');
    assert.deepEqual(await look(copy.owner), before);
    await assertOneMoment(copy, tokens);
    await assertVerified(copy.settings);
    const { rows } = await copy.owner.query('SELECT deleted_at FROM tenants WHERE id = $1', [doomed.id]);
    assert.ok(rows[0]?.deleted_at instanceof Date, 'nobody can use it');
    const { database } = await open(copy);
    while ((await purgeOneBatch(database, TABLES, systemClock.nowMs())) > 0);
    assert.deepEqual(await look(copy.owner), { tokens: 0, terms: 0, applications: 0, logs: before.logs });
  });

  it('a month of the log is not dropped meanwhile, nobody waits for that, and it is in what is restored', async () => {
    const old = `now() - interval '30 months'`;
    await app.db.owner.query(`SELECT ensure_log_partitions(${old}, 0)`);
    await app.db.owner.query(
      `INSERT INTO logs SELECT $1, ${old}, gen_random_uuid(), NULL, NULL, 'token', 'old', 'read', 'old entry', 'success'`,
      [kept.id],
    );
    const drop = () => dropOldLogMonth(app.database, systemClock.nowMs(), 24);
    const tokens = await count(app.db.owner, 'tokens', kept.id);
    const held = await hold('retention');
    assert.equal((await meanwhile(drop())).status, 'rejected');
    const copy = await restored(held, 'retention');
    await assertOneMoment(copy, tokens);
    assert.equal((await copy.owner.query(`SELECT FROM logs WHERE message = 'old entry'`)).rowCount, 1);
    assert.match((await drop())?.partition ?? '', /^logs_\d{4}_\d{2}$/, 'it goes when the backup has ended');
  });

  it('0 from a command, and so from a start, while months ahead cannot be made; changes go on, and a later look makes them', async () => {
    const { rows } = await app.db.owner.query<{ name: string }>(
      `SELECT 'logs_' || to_char(now() AT TIME ZONE 'UTC' + interval '3 months', 'YYYY_MM') AS name`,
    );
    const ahead = rows[0]?.name ?? '';
    await app.db.owner.query(`DROP TABLE ${ahead}`);
    const isThere = async () =>
      (await app.db.owner.query('SELECT to_regclass($1) IS NOT NULL AS is', [ahead])).rows[0]?.is;
    const held = await hold('ahead');
    const listed = await meanwhile(runCommand(source, 'tenant', 'list'));
    assert.ok(listed.status === 'fulfilled');
    assert.equal(listed.value.code, 0, listed.value.stderr);
    assert.equal(await isThere(), false);
    assert.equal((await held.resume()).code, 0);
    await ensureLogPartitions(app.database, systemClock.nowMs());
    assert.equal(await isThere(), true);
  });

  describe('and a migration', () => {
    let older: EmptyDatabase;
    let settings: CommandSettings;
    before(async () => {
      older = await createEmptyDatabase(app.db);
      await migrate({ owner: older.ownerTarget, login: LOGIN, createLogin: false, upTo: OLDER });
      await insertManyLogs(older.owner, kept.id);
      settings = settingsOf(older, rootKeyOf(app).reveal());
    });
    after(() => older.drop());

    it('69 from migrate while a backup is taken, nobody waits behind it, and it works afterwards', async () => {
      const held = await hold('migrate', settings);
      const reader = await connectAs(older.ownerTarget);
      cleanUp.push(() => reader.end());
      await reader.query(`SET lock_timeout = '2s'`);
      const migrating = runCommand(settings, 'migrate');
      let isOver = false;
      void migrating.then(() => (isOver = true));
      for (const startedMs = performance.now(); !isOver; ) {
        for (const table of ['tokens', 'logs', 'tenants']) await reader.query(`SELECT FROM ${table} LIMIT 1`);
        if (performance.now() - startedMs > 60_000) assert.fail('it waits');
      }
      const { code, stderr } = await migrating;
      assert.equal(code, 69, stderr);
      assert.match(stderr, /A backup of this database is being taken.*Nothing was changed/);
      const copy = await restored(held, 'migrate');
      const versions = await copy.owner.query('SELECT version FROM schema_migrations');
      assert.equal(versions.rowCount, (await readMigrations()).length);
      assert.ok((await count(copy.owner, 'logs', kept.id)) > 0);
    });

    it('69 from backup while a migration is at work, and the folder is empty; both work one after the other', async () => {
      const migrator = await connectAs(older.ownerTarget);
      cleanUp.push(() => migrator.end());
      // The migration cannot have this table, and waits with what it has changed so far.
      await migrator.query('BEGIN');
      await migrator.query('LOCK TABLE tokens IN ACCESS SHARE MODE');
      const child = launch(settings, 'migrate');
      cleanUp.push(() => child.kill('SIGKILL'));
      const migrating = ending(child);
      await eventually('the migration is at work', async () => {
        const { rows } = await older.owner.query('SELECT FROM pg_locks WHERE NOT granted');
        return rows.length > 0;
      });
      // It would give up soon; frozen, it stays at work.
      child.kill('SIGSTOP');
      const refused = await runCommand(settings, 'backup', '--to', path('refused'));
      assert.equal(refused.code, 69, refused.stderr);
      assert.match(refused.stderr, /schema is being changed/);
      assert.ok(!existsSync(join(path('refused'), 'manifest.json')));
      child.kill('SIGCONT');
      const { code, stderr } = await migrating;
      assert.equal(code, 69, stderr);
      assert.match(stderr, /somebody holds.*Nothing of it was kept/s);
      await migrator.query('ROLLBACK');
      await succeed(settings, 'migrate');
      await succeed(settings, 'backup', '--to', path('refused'));
    });
  });

  /** The database as it is, except that changes of a tenant wait from the second on until they are let through. */
  function gated(database: Database) {
    let letThrough: () => void = () => {};
    const gate = new Promise<void>((resolve) => (letThrough = resolve));
    let reached: () => void = () => {};
    const atGate = new Promise<void>((resolve) => (reached = resolve));
    let changes = 0;
    const gatedDatabase: Database = {
      ...database,
      async write(tenantId, work) {
        changes += 1;
        if (changes > 2) {
          reached();
          await gate;
        }
        return database.write(tenantId, work);
      },
    };
    return { database: gatedDatabase, atGate, letThrough };
  }

  it('a backup in the middle of keys rotate opens as a whole, and the rotation can be ended in what is restored', async () => {
    const tokens = await count(app.db.owner, 'tokens', kept.id);
    const { database, atGate, letThrough } = gated(app.database);
    const rotate = (process: Pick<TestApp, 'database' | 'keyStore'>) =>
      rotateTenants({ ...process, ...createFakeTime(), tables: TABLES, onProgress: () => {} }, only(kept.id));
    const rotating = rotate({ database, keyStore: app.keyStore });
    await Promise.race([atGate, rotating]);
    const held = await hold('rotate');
    letThrough();
    assert.equal((await rotating).finished, 1);
    await write(kept);
    const copy = await restored(held, 'rotate');
    await assertOneMoment(copy, tokens);
    await assertVerified(copy.settings);
    const unfinished = await copy.owner.query('SELECT FROM key_rotations WHERE finished_at IS NULL');
    assert.equal(unfinished.rowCount, 1, 'it is of the middle');
    const versions = async () => {
      const text = `SELECT FROM tenant_keys WHERE tenant_id = $1 AND kind = 'encryption'`;
      return (await copy.owner.query(text, [kept.id])).rowCount;
    };
    assert.equal(await versions(), 2, 'both keys are in it');
    const { finished, resumed } = await rotate(await open(copy));
    assert.deepEqual([finished, resumed, await versions()], [1, 1, 1]);
    await assertVerified(copy.settings);
  });

  it('a backup in the middle of rotate-root says that it needs both root keys, and opens with both alone', async () => {
    for (let n = 0; n < 3; n += 1) await fill();
    const [oldKey, newKey] = [rootKeyOf(app).reveal(), generateRootKey().reveal()];
    const both = `${newKey},${oldKey}`;
    const { keyStore } = await openKeyStore(app.database, { value: new Secret(both), isProduction: false });
    const tokens = await count(app.db.owner, 'tokens', kept.id);
    const { database, atGate, letThrough } = gated(app.database);
    const rotate = (process: Pick<TestApp, 'database' | 'keyStore'>) =>
      rotateRoot({ ...process, ...createFakeTime(), onProgress: () => {} });
    const rotating = rotate({ database, keyStore });
    await Promise.race([atGate, rotating]);
    const held = await hold('rotate-root');
    letThrough();
    await rotating;
    const copy = await restored(held, 'rotate-root', both);
    assert.match(copy.told, /root key is being changed.*both/is);
    await assertOneMoment(copy, tokens);
    await assertVerified(copy.settings);
    const alone = (key: string) => runCommand({ ...copy.settings, STRONGROOM_ROOT_KEY: key }, 'keys', 'verify');
    const byOld = await alone(oldKey);
    assert.deepEqual([byOld.code, /^fault .* tenant_keys/m.test(byOld.stdout)], [1, true]);
    assert.equal((await alone(newKey)).code, 78);
    await rotate(await open(copy));
    await assertVerified({ ...copy.settings, STRONGROOM_ROOT_KEY: newKey });
    const later = await succeed({ ...source, STRONGROOM_ROOT_KEY: newKey }, 'backup', '--to', path('after'));
    assert.doesNotMatch(later.stderr, /both/);
  });
});

async function* only(tenantId: string): AsyncGenerator<string> {
  yield tenantId;
}

function socketOf(target: ConnectionTarget): SocketTarget {
  assert.ok('socketDir' in target);
  return target;
}

function settingsOf({ ownerTarget }: Pick<EmptyDatabase, 'ownerTarget'>, rootKey: string): CommandSettings {
  const owner = socketOf(ownerTarget);
  return {
    STRONGROOM_DATABASE_URL: urlOf({ ...owner, user: LOGIN }),
    STRONGROOM_MIGRATION_DATABASE_URL: urlOf(owner),
    STRONGROOM_ROOT_KEY: rootKey,
  };
}
