import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { INSERT_NOTE, INSERT_PAIRED_NOTE, LIST_NOTES, makeNotesTable, storedNotes } from '../testing/notes-table.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { Bulk } from './bulk.js';
import type { Database } from './database.js';
import { createDatabase } from './database.js';
import { isNameLost, sqlStateOf } from './faults.js';
import type { TenantTx } from './scope.js';
import { statement } from './statement.js';

/** What a proxy does to us when it lends our transactions now this connection, now that: names are gone, or others' are there. */
const FORGET_ALL = statement<never>('forget_all', 'DEALLOCATE ALL');
const FORGET_SCOPE = statement<never>('forget_scope', 'DEALLOCATE enter_scope');
const FORGET_INSERT = statement<never>('forget_insert', 'DEALLOCATE insert_note');
const TAKE_INSERT = statement<never>('take_insert', 'PREPARE insert_note AS SELECT 1');
const FIND_NOTES: Bulk<string, { id: string }, string[]> = {
  statement: statement('find_notes', 'SELECT id FROM notes WHERE id = ANY ($1)'),
  order: 1,
  values: (ids) => [[...ids]],
  collect: (rows) => rows.map(({ id }) => id),
};

function isRefusal(error: unknown): boolean {
  const isSafe = error instanceof AppError && error.status === 503 && error.message.includes('Nothing was changed');
  return isSafe && isNameLost(error);
}

suite('names of prepared statements that no longer hold', () => {
  let db: TestDatabase;
  let database: Database;
  let tenantId: string;

  before(async () => {
    db = await createTestDatabase();
    await makeNotesTable(db.owner);
  });
  after(() => db.drop());
  beforeEach(() => {
    tenantId = newId();
    database = createDatabase({
      target: db.target,
      isDistributed: db.isDistributed,
      clock: systemClock,
      connections: { readMax: 1, writeMax: 1 },
    });
  });
  afterEach(() => database.close());

  const insert = (id: string) => database.write(tenantId, (tx) => tx.run(INSERT_NOTE, [tenantId, id]));
  const list = () => database.read(tenantId, (tx) => tx.run(LIST_NOTES, []));
  const own = async () => (await list()).map(({ id }) => id);

  test('503 for a read, and the next one is served', async () => {
    await list();
    await database.read(tenantId, (tx) => tx.run(FORGET_ALL, []));
    await assert.rejects(list(), isRefusal);
    assert.deepEqual(await list(), []);
  });

  test('503 for a shared look, and the next one is served', async () => {
    const look = () => database.find(tenantId, FIND_NOTES, 'a note');
    await look();
    await database.read(tenantId, (tx) => tx.run(FORGET_ALL, []));
    await assert.rejects(look(), isRefusal);
    assert.deepEqual(await look(), []);
  });

  test('503 for a change whose scope cannot be entered, nothing is changed, and the next one is made', async () => {
    await insert('first');
    await database.write(tenantId, (tx) => tx.run(FORGET_SCOPE, []));
    await assert.rejects(insert('refused'), isRefusal);
    await insert('last');
    assert.deepEqual(await own(), ['first', 'last']);
  });

  for (const [state, spoil] of [
    ['26000', FORGET_INSERT],
    ['42P05', TAKE_INSERT],
  ] as const) {
    test(`503 for a change that fails with ${state} half-way, and its first half is not there`, async () => {
      if (state === '26000') await insert('before');
      await database.write(tenantId, (tx) => tx.run(spoil, []));
      const inTwo = async (tx: TenantTx) => {
        await tx.run(INSERT_PAIRED_NOTE, [tenantId, `half of ${state}`, null]);
        await tx.run(INSERT_NOTE, [tenantId, `other half of ${state}`]);
      };
      await assert.rejects(database.write(tenantId, inTwo), (error) => isRefusal(error) && sqlStateOf(error) === state);
      assert.ok(!(await storedNotes(db.owner)).some((id) => id.endsWith(`half of ${state}`)));
      await database.write(tenantId, inTwo);
      assert.equal((await own()).filter((id) => id.endsWith(`half of ${state}`)).length, 2);
    });
  }

  test('of changes that arrive together each is made or refused as a whole', async () => {
    await insert('before');
    await database.write(tenantId, (tx) => tx.run(FORGET_ALL, []));
    const ids = Array.from({ length: 40 }, (_, n) => `together ${n}`);
    const outcomes = await Promise.allSettled(ids.map(insert));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.ok(refused.every(({ reason }) => isRefusal(reason)));
    const made = ids.filter((_, n) => outcomes[n]?.status === 'fulfilled');
    assert.deepEqual((await own()).sort(), ['before', ...made].sort());
  });
});
