// needs: processes

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { findPostgres, unless } from '@strongroom/test-servers/find.js';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import { startPostgres } from '@strongroom/test-servers/postgres.js';
import type pg from 'pg';
import { Secret } from '../kernel/secret.js';
import { connectAs } from '../testing/empty-database.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import { refuseUnfitLogin } from './login.js';
import { migrate } from './migrate.js';
import { examineOwner } from './owner-rights.js';

/** Functions a working role may call, with the rights of the owner. */
const LENT = [
  { role: 'strongroom_system', call: `SELECT ensure_log_partitions('2031-01-15', 1)` },
  { role: 'strongroom_purge', call: `SELECT dropped FROM drop_log_partitions('2020-01-01')` },
];
/** Types those functions name that a caller could put something else under. */
const TYPES = ['text', 'date', 'timestamptz', 'regclass', 'name', 'oid'];

describe('the rights of the owner, which functions lend', () => {
  let db: TestDatabase;
  let login: pg.Client;
  before(async () => {
    db = await createTestDatabase();
  });
  after(() => db.drop());
  beforeEach(async () => {
    login = await connectAs(db.target);
  });
  afterEach(() => login.end());

  /** As if somebody had given the right back: the functions must hold without it. */
  async function allowTemporary(): Promise<void> {
    await db.owner.query(`DO $$ BEGIN
      EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO PUBLIC', current_database()); END $$`);
  }

  it('every function that runs as its owner looks for names where nobody else can put them', async () => {
    const { rows } = await db.owner.query<{ name: string; path: string | null }>(
      `SELECT oid::regprocedure::text AS name,
              (SELECT substr(setting, length('search_path=') + 1) FROM unnest(proconfig) AS setting
               WHERE setting LIKE 'search_path=%') AS path
       FROM pg_proc WHERE prosecdef AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`,
    );
    assert.ok(rows.length >= LENT.length);
    for (const { name, path } of rows) assert.equal(path, 'pg_catalog, pg_temp', name);
  });

  it('the scope of every policy names its schema and is still expanded in place, which costs nothing', async () => {
    await login.query('SET ROLE strongroom_app');
    const { rows } = await login.query<{ 'QUERY PLAN': string }>('EXPLAIN (VERBOSE) SELECT id FROM tokens');
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    assert.match(plan, /string_to_array\(/);
    assert.doesNotMatch(plan, /strongroom_scope/);
  });

  it('42501 for the login when it makes anything of its own, temporary or lasting, in whatever role', async () => {
    for (const role of ['none', 'strongroom_app', 'strongroom_system', 'strongroom_purge', 'strongroom_people']) {
      for (const make of [
        'CREATE TEMPORARY TABLE pg_class (relname name)',
        'CREATE DOMAIN pg_temp.text AS pg_catalog.text',
        'CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
        'CREATE SCHEMA mine',
      ]) {
        await login.query(`SET ROLE ${role}`);
        await assert.rejects(login.query(make), { code: '42501' }, `${role}: ${make}`);
      }
    }
  });

  for (const { role, call } of LENT) {
    it(`${call} runs nothing of its caller's, even where temporary objects are allowed again`, async () => {
      await allowTemporary();
      await login.query(`CREATE FUNCTION pg_temp.taken(pg_catalog.text) RETURNS boolean LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'ran as %', current_user; END $$`);
      for (const type of TYPES) {
        await login.query(
          `CREATE DOMAIN pg_temp.${type} AS pg_catalog.${type} CHECK (pg_temp.taken(VALUE::pg_catalog.text))`,
        );
      }
      await login.query(`SET ROLE ${role}`);
      await login.query(call);
    });
  }
});

describe('the owner of a schema on a server by address', {
  skip: unless(findPostgres(), 'PostgreSQL from packages'),
}, () => {
  let server: PostgresServer;
  let superuser: pg.Client;
  before(async () => {
    server = await startPostgres();
    superuser = await server.connect();
  });
  after(async () => {
    await superuser.end();
    await server.remove();
  });

  it('migrating takes from everybody what nobody needs, again where it was given back', async () => {
    const owner = { url: new Secret(server.url('owner')) };
    const run = () => migrate({ owner, login: 'strongroom', createLogin: false });
    for (const round of ['new', 'given back']) {
      await superuser.query(
        'GRANT TEMPORARY ON DATABASE strongroom TO PUBLIC; GRANT CREATE ON SCHEMA public TO PUBLIC',
      );
      await run();
      const { rows } = await superuser.query(
        `SELECT has_database_privilege('strongroom', 'strongroom', 'TEMPORARY') AS temporary,
                has_schema_privilege('strongroom', 'public', 'CREATE') AS lasting`,
      );
      assert.deepEqual(rows, [{ temporary: false, lasting: false }], round);
    }
  });

  it('the right to make roles is named as too much, and nothing is missed when it is gone', async () => {
    const owner = { url: new Secret(server.url('owner')) };
    const run = () => migrate({ owner, login: 'strongroom', createLogin: false });
    await run();
    const [advice = '', ...others] = await examineOwner(owner);
    assert.deepEqual(others, []);
    await superuser.query(/run: (ALTER ROLE .+)\.$/.exec(advice)?.[1] ?? assert.fail(advice));
    assert.deepEqual([await run(), await examineOwner(owner)], [[], []]);
    await refuseUnfitLogin({ url: new Secret(server.url('service')) });
  });

  it('what an owner of the tables alone cannot take away is named, with the statement, and migrating goes on', async () => {
    await superuser.query('CREATE DATABASE of_another');
    await superuser.query('GRANT CONNECT, CREATE ON DATABASE of_another TO strongroom_owner');
    await superuser.query('GRANT TEMPORARY ON DATABASE of_another TO PUBLIC');
    const there = await server.connect('of_another');
    await there.query('GRANT CREATE ON SCHEMA public TO PUBLIC');
    await there.end();
    const owner = { url: new Secret(server.url('owner', 'of_another')) };
    await migrate({ owner, login: 'strongroom', createLogin: false });
    const advice = (await examineOwner(owner)).join();
    assert.match(advice, /REVOKE TEMPORARY ON DATABASE of_another FROM PUBLIC/);
    assert.match(advice, /REVOKE CREATE ON SCHEMA public FROM PUBLIC/);
  });
});
