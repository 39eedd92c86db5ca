import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { eventually } from '../testing/eventually.js';
import { INSERT_NOTE, LIST_NOTES, makeNotesTable, storedNotes } from '../testing/notes-table.js';
import type { PostgresProxy } from '../testing/postgres-proxy.js';
import { startPostgresProxy } from '../testing/postgres-proxy.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { Database } from './database.js';
import { createDatabase } from './database.js';

const BOUNDS = { acquireMs: 400, statementMs: 300, lockMs: 300 };
/** The server's own bound, what is granted on top before silence counts as an answer, and a slow machine. */
const SILENCE_MAX_MS = 300 + 2_000 + 30_000;

function isUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'storage_unavailable' && error.headers['Retry-After'] === '1';
}

/** Says that the change may have been made, so that nobody repeats it blindly. */
function isUnknown(error: unknown): boolean {
  return isUnavailable(error) && /may or may not have been made/.test(error.message);
}

function isNothingDone(error: unknown): boolean {
  return isUnavailable(error) && /Nothing was changed/.test(error.message);
}

for (const way of ['write', 'append'] as const) {
  suite(`a connection that breaks around the commit (${way})`, () => {
    let db: TestDatabase;
    let proxy: PostgresProxy;
    let database: Database;
    let runs = 0;

    before(async () => {
      db = await createTestDatabase();
      await makeNotesTable(db.owner);
      assert.ok('socketDir' in db.target);
      proxy = await startPostgresProxy(db.target);
      database = createDatabase({
        target: proxy.target,
        clock: systemClock,
        bounds: BOUNDS,
      });
    });
    after(async () => {
      await database.close();
      await proxy.close();
      await db.drop();
    });
    beforeEach(() => {
      proxy.setWeather('pass');
      runs = 0;
    });

    function write(id: string): Promise<unknown> {
      const tenantId = newId();
      return database[way](tenantId, async (tx) => {
        runs += 1;
        await tx.run(INSERT_NOTE, [tenantId, id]);
      });
    }

    test('503 that says the outcome is unknown when the server never got the commit, and the change runs once', async () => {
      await write('warm');
      runs = 0;
      proxy.setWeather('cut before');
      await assert.rejects(write('never committed'), isUnknown);
      proxy.setWeather('pass');
      await write('after the cut');
      const stored = await storedNotes(db.owner);
      assert.ok(!stored.includes('never committed') && stored.includes('after the cut'));
      assert.equal(runs, 2);
    });

    test('503 that says the outcome is unknown when the answer to the commit is lost, and the change is there once', async () => {
      proxy.setWeather('cut after');
      await assert.rejects(write('committed unheard'), isUnknown);
      proxy.setWeather('pass');
      await eventually('the commit is done', async () => (await storedNotes(db.owner)).includes('committed unheard'));
      assert.equal(runs, 1);
    });

    test('everybody in a batch is told that the outcome is unknown, and nobody runs again', async () => {
      proxy.setWeather('cut after');
      const outcomes = await Promise.allSettled(['one', 'two', 'three'].map((id) => write(`batch ${id}`)));
      proxy.setWeather('pass');
      for (const outcome of outcomes) assert.ok(outcome.status === 'rejected' && isUnknown(outcome.reason));
      assert.equal(runs, 3);
      await eventually('the batch is there, whole', async () => {
        const stored = await storedNotes(db.owner);
        return stored.filter((id) => id.startsWith('batch ')).length === 3;
      });
    });

    test('503 that says the outcome is unknown when the server goes down over a full disk while it commits', async () => {
      proxy.setWeather('panic after');
      const outcomes = await Promise.allSettled(['one', 'two'].map((id) => write(`panic ${id}`)));
      proxy.setWeather('pass');
      for (const outcome of outcomes) assert.ok(outcome.status === 'rejected' && isUnknown(outcome.reason));
      assert.equal(runs, 2);
      await eventually('both are there', async () => {
        const stored = await storedNotes(db.owner);
        return stored.filter((id) => id.startsWith('panic ')).length === 2;
      });
    });

    test('nobody runs again, whatever the server that goes down while it commits gives as its reason', async () => {
      proxy.setWeather('read-only after');
      const outcomes = await Promise.allSettled(['one', 'two'].map((id) => write(`read-only ${id}`)));
      proxy.setWeather('pass');
      for (const outcome of outcomes) assert.ok(outcome.status === 'rejected' && isUnknown(outcome.reason));
      assert.equal(runs, 2);
      await eventually('both are there', async () => {
        const stored = await storedNotes(db.owner);
        return stored.filter((id) => id.startsWith('read-only ')).length === 2;
      });
    });

    test('a read whose transaction cannot be ended has its rows all the same', async () => {
      proxy.setWeather('cut before');
      const rows = await database.read(newId(), (tx) => tx.run(LIST_NOTES, []));
      assert.deepEqual(rows, []);
      proxy.setWeather('pass');
      assert.deepEqual(await database.read(newId(), (tx) => tx.run(LIST_NOTES, [])), []);
    });

    test('503 in time when the server falls silent, and the next request is served once it is back', async () => {
      await write('before the silence');
      proxy.setWeather('silent');
      const startedMs = performance.now();
      const reading = assert.rejects(
        database.read(newId(), (tx) => tx.run(LIST_NOTES, [])),
        isNothingDone,
      );
      // Where the COMMIT went out with the statements, nobody knows what the server read of them.
      const isTold = way === 'append' ? isUnknown : isNothingDone;
      await Promise.all([reading, assert.rejects(write('into the silence'), isTold)]);
      assert.ok(performance.now() - startedMs < SILENCE_MAX_MS);
      await assert.rejects(write('into a silent new connection'), isNothingDone);
      proxy.setWeather('pass');
      await write('after the silence');
      const stored = await storedNotes(db.owner);
      assert.ok(stored.includes('after the silence'));
      assert.ok(!stored.some((id) => id.startsWith('into ')));
    });
  });
}
