import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { EXIT, ExitError } from '../../kernel/exit.js';
import { distributed, installCitusStandIn } from '../../testing/citus-stand-in.js';
import { connectAs, createEmptyDatabase, describeSchema } from '../../testing/empty-database.js';
import { TABLES_WITHOUT_TENANT } from '../../testing/isolation-pair.js';
import type { TestDatabase } from '../../testing/test-database.js';
import { createTestDatabase } from '../../testing/test-database.js';
import { distribute, refuseToDistribute } from './distribute.js';
import { isWhollyDistributed } from './examine.js';
import { COORDINATOR_TABLES, planDistribution } from './plan.js';
import { refuseWhileServed } from './refuse-while-served.js';

function refusal(code: number, words: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof ExitError && error.exitCode === code && words.test(error.message);
}

describe('distributing by tenant (stand-in functions)', () => {
  let db: TestDatabase;
  beforeEach(async () => {
    db = await createTestDatabase();
  });
  afterEach(() => db.drop());

  it('78 without Citus, on a migrated database and on an empty one, and nothing is changed', async () => {
    const before = await describeSchema(db.owner);
    await assert.rejects(
      refuseToDistribute(db.ownerTarget),
      refusal(EXIT.configuration, /no Citus.*Nothing was changed/),
    );
    assert.deepEqual(await describeSchema(db.owner), before);
    const empty = await createEmptyDatabase(db);
    await assert.rejects(refuseToDistribute(empty.ownerTarget), refusal(EXIT.configuration, /no Citus/));
    assert.deepEqual(
      (await empty.owner.query(`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`)).rows,
      [],
    );
    await empty.drop();
  });

  it('every table of tenant data goes beside its tenant, whatever is referenced first, and people stay', async () => {
    await installCitusStandIn(db.owner);
    await refuseToDistribute(db.ownerTarget);
    const done = await distribute(db.ownerTarget);
    const found = await distributed(db.owner);
    assert.deepEqual(
      found.map(({ name }) => name),
      done,
    );
    const [tenants, ...others] = found;
    assert.deepEqual(tenants, { name: 'tenants', partmethod: 'h', partkey: 'id', colocationid: 'tenants' });
    for (const { partmethod, partkey, colocationid, name } of others) {
      assert.deepEqual([partmethod, partkey, colocationid], ['h', 'tenant_id', 'tenants'], name);
    }
    const { rows } = await db.owner.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
         AND NOT relispartition AND NOT relname = ANY ($1) ORDER BY 1`,
      [Object.keys(COORDINATOR_TABLES)],
    );
    const all = rows.map(({ name }) => name);
    assert.deepEqual([...others.map(({ name }) => name), 'tenants'].sort(), all);
    assert.ok(all.length >= 14);
    assert.ok(done.indexOf('applications') < done.indexOf('api_keys'));
    assert.ok(done.indexOf('applications') < done.indexOf('sessions'));
  });

  it('69 while a process works on the database, and nothing is changed; one that has ended is forgotten', async () => {
    await installCitusStandIn(db.owner);
    const served = await connectAs(db.target);
    const words = /in use by 1 session .*Stop every process.*No table was distributed/;
    // The owner of the schema sees little of the sessions of others.
    await db.owner.query('SET ROLE strongroom_purge');
    await assert.rejects(refuseWhileServed(db.owner), refusal(EXIT.unavailable, words));
    await db.owner.query('RESET ROLE');
    await assert.rejects(refuseToDistribute(db.ownerTarget), refusal(EXIT.unavailable, words));
    await assert.rejects(distribute(db.ownerTarget), refusal(EXIT.unavailable, words));
    assert.deepEqual(await distributed(db.owner), []);
    await served.end();
    assert.ok((await distribute(db.ownerTarget)).length > 0);
  });

  it('a second run finds nothing to do, and one that was interrupted is taken up where it stopped', async () => {
    await installCitusStandIn(db.owner);
    await db.owner.query('CREATE UNIQUE INDEX in_the_way ON sessions (hash)');
    await assert.rejects(distribute(db.ownerTarget), refusal(EXIT.configuration, /table sessions .*in_the_way/));
    const first = (await distributed(db.owner)).map(({ name }) => name);
    assert.ok(first.length > 2 && !first.includes('sessions'));
    await db.owner.query('DROP INDEX in_the_way');
    const second = await distribute(db.ownerTarget);
    assert.equal(second[0], 'sessions');
    assert.deepEqual(
      second.filter((name) => first.includes(name)),
      [],
    );
    const before = await distributed(db.owner);
    assert.deepEqual(await distribute(db.ownerTarget), []);
    assert.deepEqual(await distributed(db.owner), before);
  });

  it('a run that was interrupted behind the last table is not taken for a whole one', async () => {
    await installCitusStandIn(db.owner);
    await db.owner.query(`CREATE OR REPLACE FUNCTION stand_in.citus_add_local_table_to_metadata(
      table_name regclass) RETURNS void LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION 'interrupted'; END $$`);
    await assert.rejects(distribute(db.ownerTarget), /interrupted/);
    const fresh = await connectAs(db.ownerTarget);
    await assert.rejects(isWhollyDistributed(fresh), refusal(EXIT.configuration, /credential_directory.*again/));
    await db.owner.query(`CREATE OR REPLACE FUNCTION stand_in.citus_add_local_table_to_metadata(
      table_name regclass) RETURNS void LANGUAGE sql
      AS $$ INSERT INTO stand_in.pg_dist_partition VALUES (table_name, 'n') $$`);
    assert.deepEqual(await distribute(db.ownerTarget), []);
    assert.equal(await isWhollyDistributed(fresh), true);
    // Somebody else's table is in nobody's way once it is done.
    await db.owner.query('CREATE TABLE notes_of_operator (id integer)');
    assert.equal(await isWhollyDistributed(fresh), true);
    await fresh.end();
  });

  it('a table that names no tenant and has no place is refused before anything is done', async () => {
    await installCitusStandIn(db.owner);
    await db.owner.query('CREATE TABLE homeless (id integer PRIMARY KEY)');
    await assert.rejects(distribute(db.ownerTarget), /no place is known for homeless/);
    assert.deepEqual(await distributed(db.owner), []);
    const named = Object.keys(COORDINATOR_TABLES).filter((name) => name !== 'credential_directory');
    assert.deepEqual(named.sort(), TABLES_WITHOUT_TENANT);
  });

  it('tables that reference each other in a circle end in an error, not in a loop', () => {
    const table = (name: string, ...targets: string[]) => ({ name, has_tenant: true, targets, is_distributed: false });
    assert.throws(() => planDistribution([table('a', 'b'), table('b', 'a')]), /reference each other/);
    const plan = planDistribution([
      table('a', 'b'),
      table('b', 'b', 'tenants'),
      { ...table('tenants'), has_tenant: false },
    ]);
    assert.deepEqual(
      plan.map((step) => step.table),
      ['tenants', 'b', 'a'],
    );
  });
});
