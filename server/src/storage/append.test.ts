import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import { INSERT_NOTE, makeNotesTable, storedNotes } from '../testing/notes-table.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { Bulk } from './bulk.js';
import { bulkWrite } from './bulk.js';
import type { Database } from './database.js';
import { createDatabase } from './database.js';
import type { TenantTx } from './scope.js';
import { statement } from './statement.js';

interface Note {
  readonly tenantId: string;
  readonly id: string;
}

const UNENCODABLE = 'unencodable';

const INSERT_NOTES: Bulk<Note, never, void> = bulkWrite<Note>(
  statement(
    'insert_notes',
    'INSERT INTO notes (tenant_id, id) SELECT * FROM unnest($1::uuid[], $2::text[]) AS given (tenant_id, id)',
  ),
  1,
  (rows) => {
    if (rows.some(({ id }) => id === UNENCODABLE)) throw new TypeError('it cannot be encoded');
    return [rows.map(({ tenantId }) => tenantId), rows.map(({ id }) => id)];
  },
);

suite('what is appended', () => {
  let db: TestDatabase;
  let database: Database;

  before(async () => {
    db = await createTestDatabase();
    await makeNotesTable(db.owner);
    database = createDatabase({
      target: db.target,
      isDistributed: db.isDistributed,
      clock: systemClock,
      connections: { readMax: 1, writeMax: 1 },
    });
  });
  after(async () => {
    await database.close();
    await db.drop();
  });
  afterEach(() => db.owner.query('DELETE FROM notes'));

  const append = (work: (tx: TenantTx) => Promise<void>) => database.append(newId(), work);
  const note = (id: string) => append((tx) => tx.gather(INSERT_NOTES, [{ tenantId: tx.tenantId, id }]));
  const stored = () => storedNotes(db.owner);

  test('is durable when it resolves, of several callers in one transaction', async () => {
    await Promise.all([note('a'), note('b'), note('c')]);
    assert.deepEqual(await stored(), ['a', 'b', 'c']);
    const { rows } = await db.owner.query('SELECT DISTINCT xmin::text FROM notes');
    assert.equal(rows.length, 1);
  });

  test('shares its transaction with a change that waits for answers', async () => {
    const tenantId = newId();
    await Promise.all([
      note('a'),
      database.write(tenantId, async (tx) => {
        await tx.run(INSERT_NOTE, [tenantId, 'b']);
        await tx.run(INSERT_NOTE, [tenantId, 'c']);
      }),
    ]);
    assert.deepEqual(await stored(), ['a', 'b', 'c']);
  });

  test('a statement that fails takes nobody else along, and nothing of its caller stays', async () => {
    const doomed = append(async (tx) => {
      const row = { tenantId: tx.tenantId, id: 'twice' };
      await Promise.all([tx.gather(INSERT_NOTES, [row]), tx.run(INSERT_NOTE, [tx.tenantId, 'twice'])]);
    });
    const outcomes = await Promise.allSettled([note('a'), doomed, note('b')]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(await stored(), ['a', 'b']);
    await note('c');
    assert.deepEqual(await stored(), ['a', 'b', 'c']);
  });

  test('a caller that fails before anything is sent leaves nothing behind, and the others go on', async () => {
    const failing = append(async (tx) => {
      void tx.gather(INSERT_NOTES, [{ tenantId: tx.tenantId, id: 'half' }]);
      throw new Error('on second thoughts');
    });
    const outcomes = await Promise.allSettled([note('a'), failing, note('b')]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(await stored(), ['a', 'b']);
  });

  test('a row that cannot be encoded takes along what else its caller asked for, and no other', async () => {
    const half = append(async (tx) => {
      const rows = [{ tenantId: tx.tenantId, id: UNENCODABLE }];
      await Promise.all([tx.gather(INSERT_NOTES, rows), tx.run(INSERT_NOTE, [tx.tenantId, 'half'])]);
    });
    const outcomes = await Promise.allSettled([note('a'), half, note('b')]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(await stored(), ['a', 'b']);
  });

  test('a caller that asks again after it waited is refused, and the connection serves on', async () => {
    const late = append(async (tx) => {
      await tx.run(INSERT_NOTE, [tx.tenantId, 'first']);
      await tx.run(INSERT_NOTE, [tx.tenantId, 'late']);
    });
    await assert.rejects(late, /everything is asked for at once/);
    await note('a');
    assert.ok(!(await stored()).includes('late'));
  });
});
