import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import pg from 'pg';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import { INSERT_NOTE, makeNotesTable, storedNotes } from '../testing/notes-table.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { Bulk } from './bulk.js';
import { bulkWrite, createBatchGather } from './bulk.js';
import type { Database } from './database.js';
import { createDatabase } from './database.js';
import type { Tx } from './scope.js';
import { statement } from './statement.js';

interface Note {
  readonly tenantId: string;
  readonly id: string;
}

const UNENCODABLE = 'unencodable';
const noteOf = (when: 'last' | undefined, name: string): Bulk<Note, never, void> =>
  bulkWrite<Note>(
    statement(name, 'INSERT INTO notes (tenant_id, id) SELECT * FROM unnest($1::uuid[], $2::text[]) AS given (t, id)'),
    1,
    (rows) => {
      if (rows.some(({ id }) => id === UNENCODABLE)) throw new TypeError('it cannot be encoded');
      return [rows.map(({ tenantId }) => tenantId), rows.map(({ id }) => id)];
    },
    { when },
  );
const LAST = noteOf('last', 'insert_last_notes');
const SOON = noteOf(undefined, 'insert_notes_soon');

suite('rows that come last', () => {
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

  const stored = () => storedNotes(db.owner);
  const change = (id: string, tenantId = newId()) =>
    database.write(tenantId, async (tx) => {
      await tx.gather(LAST, [{ tenantId, id: `last-${id}` }]);
      await tx.run(INSERT_NOTE, [tenantId, id]);
      return id;
    });
  const entry = (id: string, tenantId = newId()) =>
    database.append(tenantId, async (tx) => {
      await Promise.all([
        tx.gather(SOON, [{ tenantId, id }]),
        tx.gather(LAST, [{ tenantId, id: id === UNENCODABLE ? id : `last-${id}` }]),
      ]);
    });

  test('are stored with the change, in its transaction, whether or not it waits for answers', async () => {
    assert.deepEqual(await Promise.all([change('a'), change('b')]), ['a', 'b']);
    await Promise.all([entry('c'), entry('d')]);
    assert.deepEqual(await stored(), ['a', 'b', 'c', 'd', 'last-a', 'last-b', 'last-c', 'last-d']);
    const { rows } = await db.owner.query('SELECT DISTINCT xmin::text FROM notes');
    assert.equal(rows.length, 2);
  });

  test('are sent once for a transaction, behind everything else, however often they are asked for', async () => {
    const sent: string[] = [];
    const run: Tx['run'] = async ({ name }, values) => {
      sent.push(`${name} ${String(values[1])}`);
      return [];
    };
    const { gather, sendLast } = createBatchGather(run, () => {});
    assert.equal(sendLast(), undefined);
    const tenantId = newId();
    await gather(LAST, [{ tenantId, id: '1' }]);
    await gather(SOON, [{ tenantId, id: '2' }]);
    await gather(LAST, [{ tenantId, id: '3' }]);
    await gather(SOON, [{ tenantId, id: '4' }]);
    await sendLast();
    assert.deepEqual(sent, ['insert_notes_soon 2', 'insert_notes_soon 4', 'insert_last_notes 1,3']);
  });

  test('cost no round trip: the COMMIT is sent before they are answered', async (t) => {
    const seen: string[] = [];
    const query = pg.Client.prototype.query as (...given: unknown[]) => Promise<unknown>;
    t.mock.method(pg.Client.prototype, 'query', function noted(this: pg.Client, ...given: unknown[]) {
      const [asked] = given as [string | { readonly name?: string }];
      const name = typeof asked === 'string' ? asked : asked.name;
      seen.push(`sent ${name}`);
      const answer = query.apply(this, given);
      answer.then(
        () => seen.push(`answered ${name}`),
        () => {},
      );
      return answer;
    });
    await change('a');
    const [last, commit, answered] = ['sent insert_last_notes', 'sent COMMIT', 'answered insert_last_notes'].map(
      (event) => seen.indexOf(event),
    );
    assert.ok(last !== undefined && last >= 0 && commit === last + 1, `${seen}`);
    assert.ok(answered !== undefined && answered > commit, `${seen}`);
  });

  test('of a change that fails are not stored, and those of its neighbours are stored once', async () => {
    const doomed = database.write(newId(), async (tx) => {
      await tx.gather(LAST, [{ tenantId: tx.tenantId, id: 'last-doomed' }]);
      await tx.run(INSERT_NOTE, [tx.tenantId, 'doomed']);
      throw new TypeError('no');
    });
    const outcomes = await Promise.allSettled([change('a'), doomed, entry('b')]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(await stored(), ['a', 'b', 'last-a', 'last-b']);
  });

  for (const [kind, make] of [
    ['waits for answers', change],
    ['asks for everything at once', entry],
  ] as const) {
    test(`that the server refuses undo their change, which ${kind}, and no other tenant's`, async () => {
      const tenantId = newId();
      await change('a', tenantId);
      // Its own note is new; the last one is there already.
      await db.owner.query(`DELETE FROM notes WHERE id = 'a'`);
      const outcomes = await Promise.allSettled([make('b'), make('a', tenantId), make('c')]);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      assert.deepEqual(await stored(), ['b', 'c', 'last-a', 'last-b', 'last-c']);
    });
  }

  test('that cannot be encoded undo their change and no other tenant’s', async () => {
    const odd = database.write(newId(), async (tx) => {
      await tx.run(INSERT_NOTE, [tx.tenantId, 'odd']);
      await tx.gather(LAST, [{ tenantId: tx.tenantId, id: UNENCODABLE }]);
    });
    const outcomes = await Promise.allSettled([change('a'), odd, entry(UNENCODABLE), entry('b')]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(await stored(), ['a', 'b', 'last-a', 'last-b']);
    await entry('again');
    assert.deepEqual(await stored(), ['a', 'again', 'b', 'last-a', 'last-again', 'last-b'], 'the connection is fine');
  });
});
