import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import { INSERT_NOTE, LIST_NOTES, makeNotesTable } from '../testing/notes-table.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { Bulk } from './bulk.js';
import type { Database, DatabaseOptions } from './database.js';
import { createDatabase } from './database.js';
import type { TenantTx } from './scope.js';
import { statement } from './statement.js';

const LIST_PREPARED = statement<{ name: string }>('list_prepared', 'SELECT name FROM pg_prepared_statements');
const FIND_PLAN_MODE = statement<{ mode: string }>(
  'find_plan_mode',
  `SELECT current_setting('plan_cache_mode') AS mode`,
);
const FIND_BACKEND = statement<{ pid: number }>('find_backend', 'SELECT pg_backend_pid() AS pid');

suite('what the settings say about connections', () => {
  let db: TestDatabase;

  before(async () => {
    db = await createTestDatabase();
    await makeNotesTable(db.owner);
  });
  after(() => db.drop());

  async function opened(options: Partial<DatabaseOptions>, act: (database: Database) => Promise<void>): Promise<void> {
    const database = createDatabase({
      target: db.target,
      isDistributed: db.isDistributed,
      clock: systemClock,
      ...options,
    });
    try {
      await act(database);
    } finally {
      await database.close();
    }
  }

  const write = (database: Database, id = newId()): Promise<number> => {
    const tenantId = newId();
    return database.write(tenantId, async (tx) => {
      await tx.run(INSERT_NOTE, [tenantId, id]);
      return tx.lane;
    });
  };

  test('without prepared statements nothing is kept by name, whatever runs in one round trip, and all of it works', () =>
    opened({ isPrepared: false, connections: { readMax: 2, writeMax: 1 } }, async (database) => {
      await Promise.all(Array.from({ length: 50 }, () => write(database)));
      const tenantId = newId();
      await database.write(tenantId, (tx) => tx.run(INSERT_NOTE, [tenantId, 'kept']));
      const [first, second, prepared] = await database.read(tenantId, (tx) =>
        Promise.all([tx.run(LIST_NOTES, []), tx.run(LIST_NOTES, []), tx.run(LIST_PREPARED, [])]),
      );
      assert.deepEqual(first, [{ tenant_id: tenantId, id: 'kept' }]);
      assert.deepEqual(second, first);
      assert.deepEqual(prepared, []);
      await assert.rejects(database.write(tenantId, (tx) => tx.run(INSERT_NOTE, [tenantId, 'kept'])));
      assert.deepEqual(await database.read(tenantId, (tx) => tx.run(LIST_NOTES, [])), first);
    }));

  test('with them each statement is kept under its name', () =>
    opened({}, async (database) => {
      const names = await database.lookUp((tx) => tx.run(LIST_PREPARED, []));
      assert.deepEqual(names.map(({ name }) => name).sort(), ['enter_scope', 'list_prepared']);
    }));

  test('what callers share and what is only written has one plan for all values, and nothing else has', () =>
    opened({}, async (database) => {
      const tenantId = newId();
      const planOf = async (tx: TenantTx) => (await tx.run(FIND_PLAN_MODE, []))[0]?.mode;
      const shared: Bulk<string, { mode: string }, string | undefined> = {
        ...{ statement: FIND_PLAN_MODE, order: 1, values: () => [], collect: (rows) => rows[0]?.mode },
      };
      let appended: string | undefined;
      await database.append(tenantId, async (tx) => {
        appended = await planOf(tx);
      });
      const found = await database.find(tenantId, shared, 'any');
      const expected = db.isDistributed ? 'auto' : 'force_generic_plan';
      assert.deepEqual([appended, found], [expected, expected]);
      assert.equal(await database.write(tenantId, planOf), 'auto');
      assert.equal(await database.read(tenantId, planOf), 'auto');
    }));

  test('no more connections are made than the bounds allow, and the rest wait their turn', () =>
    opened({ connections: { readMax: 3, writeMax: 4 } }, async (database) => {
      const readers = await Promise.all(
        Array.from({ length: 40 }, () => database.lookUp((tx) => tx.run(FIND_BACKEND, []))),
      );
      assert.equal(new Set(readers.map(([row]) => row?.pid)).size, 3);
      const lanes = new Set<number>();
      // Batches of 128: enough changes at once to fill every lane.
      for (const lane of await Promise.all(Array.from({ length: 1_000 }, () => write(database)))) lanes.add(lane);
      assert.deepEqual([...lanes].sort(), [0, 1, 2, 3]);
    }));

  test('lanes begin where they are told, so that two processes need not share one', () =>
    opened({ laneBase: 40 }, async (database) => {
      const lanes = await Promise.all(Array.from({ length: 300 }, () => write(database)));
      assert.deepEqual([...new Set(lanes)].sort(), [40, 41]);
    }));
});
