import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { EmptyDatabase } from '../testing/empty-database.js';
import { connectAs, createEmptyDatabase, describeSchema } from '../testing/empty-database.js';
import { eventually } from '../testing/eventually.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import { migrate } from './migrate.js';
import type { Migration } from './migrations.js';
import { readMigrations } from './migrations.js';

/** As the product makes it before anything else. */
const MAKE_MIGRATIONS_TABLE = `CREATE TABLE schema_migrations (
  version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL)`;

function refused(code: number, ...words: RegExp[]): (error: unknown) => boolean {
  return (error) =>
    error instanceof ExitError && error.exitCode === code && words.every((word) => word.test(error.message));
}

suite('migrating', () => {
  let whole: TestDatabase;
  let empty: EmptyDatabase;
  let shipped: Migration[];

  before(async () => {
    whole = await createTestDatabase();
    shipped = await readMigrations();
  });
  after(() => whole.drop());
  beforeEach(async () => {
    empty = await createEmptyDatabase(whole);
  });
  afterEach(() => empty.drop());

  const run = (): Promise<string[]> => migrate({ owner: empty.ownerTarget, login: empty.login, createLogin: true });

  const names = (): string[] => shipped.map(({ name }) => name);

  async function appliedVersions(): Promise<number[]> {
    const { rows } = await empty.owner.query<{ version: number }>('SELECT version FROM schema_migrations ORDER BY 1');
    return rows.map(({ version }) => version);
  }

  async function snapshot(): Promise<string[]> {
    const { rows } = await empty.owner.query('SELECT version, name, checksum, applied_at FROM schema_migrations');
    return [JSON.stringify(rows), ...(await describeSchema(empty.owner))];
  }

  test('an empty database gets every migration in order, and a login that can do nothing by itself', async () => {
    assert.deepEqual(await run(), names());
    assert.deepEqual(await describeSchema(empty.owner), await describeSchema(whole.owner));
    const { rows } = await empty.owner.query(
      `SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolinherit,
         (SELECT array_agg(m.roleid::regrole::text ORDER BY m.roleid::regrole::text) FROM pg_auth_members m
          WHERE m.member = r.oid AND NOT m.admin_option AND NOT m.inherit_option) AS roles
       FROM pg_roles r WHERE rolname = $1`,
      [empty.login],
    );
    assert.deepEqual(rows, [
      {
        rolsuper: false,
        rolbypassrls: false,
        rolcreaterole: false,
        rolcreatedb: false,
        rolinherit: false,
        roles: ['strongroom_app', 'strongroom_people', 'strongroom_purge', 'strongroom_system'],
      },
    ]);
  });

  test('a second run changes nothing', async () => {
    await run();
    const before = await snapshot();
    assert.deepEqual(await run(), []);
    assert.deepEqual(await snapshot(), before);
  });

  test('several at once take turns: one does the work and the others find it done', async () => {
    const done = await Promise.all([run(), run(), run(), run()]);
    assert.deepEqual(
      done.toSorted((a, b) => b.length - a.length),
      [names(), [], [], []],
    );
    assert.deepEqual(await describeSchema(empty.owner), await describeSchema(whole.owner));
  });

  test('interrupted in any migration, what came before it stays and nothing of it does', async () => {
    await empty.owner.query(MAKE_MIGRATIONS_TABLE);
    const blocker = await connectAs(empty.ownerTarget);
    for (const { version, name, checksum } of shipped) {
      // An uncommitted row under the same number: the migration does all its work and waits with the last step.
      await blocker.query('BEGIN');
      const row = [version, name, checksum];
      await blocker.query('INSERT INTO schema_migrations VALUES ($1, $2, $3, now())', row);
      const interrupted = assert.rejects(run(), ExitError);
      await eventually('the migration waits and its connection is killed', () => killWaiting());
      await interrupted;
      await blocker.query('ROLLBACK');
      assert.equal((await appliedVersions()).length, version - 1);
    }
    await blocker.end();
    assert.deepEqual(await run(), names().slice(-1));
    assert.deepEqual(await describeSchema(empty.owner), await describeSchema(whole.owner));
  });

  test('69 when the connection is lost while another process has its turn', async () => {
    const other = await connectAs(empty.ownerTarget);
    await other.query(`SELECT pg_advisory_lock(hashtext('strongroom.migrate'))`);
    const waiting = assert.rejects(run(), refused(EXIT.unavailable));
    await eventually('the one that waits is killed', () => killWaiting());
    await waiting.finally(() => other.end());
    assert.deepEqual(await run(), names());
  });

  test('78 when a migration meets something in its way, and the next run goes on from there', async () => {
    await empty.owner.query('CREATE TABLE applications ()');
    await assert.rejects(run(), refused(EXIT.configuration, /failed and was rolled back/, /applications/));
    const applied = await appliedVersions();
    assert.ok(applied.length > 0 && applied.length < shipped.length);
    await empty.owner.query('DROP TABLE applications');
    assert.deepEqual(await run(), names().slice(applied.length));
    assert.deepEqual(await describeSchema(empty.owner), await describeSchema(whole.owner));
  });

  test('78 when a migration that was applied has been edited since, and nothing changes', async () => {
    await run();
    await empty.owner.query(`UPDATE schema_migrations SET checksum = 'edited' WHERE version = 2`);
    const before = await snapshot();
    await assert.rejects(run(), refused(EXIT.configuration, /Migration 2 /, /Nothing was changed/));
    assert.deepEqual(await snapshot(), before);
  });

  test('78 when the database comes from a newer release, and nothing changes', async () => {
    await run();
    const next = shipped.length + 1;
    await empty.owner.query(`INSERT INTO schema_migrations VALUES ($1, 'from_the_future', '', now())`, [next]);
    const before = await snapshot();
    const story = [new RegExp(`schema ${next}`), /newer|as new as/, /Nothing was changed/];
    await assert.rejects(run(), refused(EXIT.configuration, ...story));
    assert.deepEqual(await snapshot(), before);
  });

  test('69 when nobody listens at the address of the owner', async () => {
    const owner = { socketDir: '/tmp/sr-nobody-listens-here', port: 5432, user: 'owner', database: 'none' };
    await assert.rejects(migrate({ owner, login: empty.login, createLogin: true }), refused(EXIT.unavailable));
  });

  async function killWaiting(): Promise<boolean> {
    const { rows } = await empty.owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'strongroom' AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  }
});
