import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { AppError, storageUnavailable } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { eventually, HANGS_MS } from '../testing/eventually.js';
import { INSERT_NOTE, INSERT_PAIRED_NOTE, LIST_NOTES, makeNotesTable, storedNotes } from '../testing/notes-table.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { Database } from './database.js';
import { createDatabase } from './database.js';
import { isUniqueViolation, sqlStateOf } from './faults.js';
import type { TenantTx } from './scope.js';
import { statement } from './statement.js';

const SLEEP = statement<never>('sleep', 'SELECT pg_sleep(30)');
const WAIT_FOR_DOOR = statement<never>('wait_for_door', 'SELECT pg_advisory_xact_lock_shared(77)');
const LOCK_NOTE = statement<never>('lock_note', 'SELECT FROM notes WHERE tenant_id = $1 FOR UPDATE');
const MISSPELT = statement<never>('misspelt', 'SELECT FROM no_such_table');
const FIRST_SEEN_LATE = statement<{ answer: number }>('first_seen_late', 'SELECT 42 AS answer');

/** Short enough for a test to wait for; a statement that needs more than this on a busy machine is the broken one. */
const BOUNDS = { acquireMs: 400, statementMs: 1_200, lockMs: 400 };
const READERS = 8;

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.status === 503 && error.code === 'storage_unavailable';
}

suite('a transaction in trouble', () => {
  let db: TestDatabase;
  let database: Database;

  before(async () => {
    db = await createTestDatabase();
    database = createDatabase({
      target: db.target,
      isDistributed: db.isDistributed,
      clock: systemClock,
      bounds: BOUNDS,
    });
    await makeNotesTable(db.owner);
  });
  // Whatever a test that failed has left.
  afterEach(async () => {
    await db.owner.query('ROLLBACK');
    await db.owner.query('SELECT pg_advisory_unlock_all()');
  });
  after(async () => {
    await database.close();
    await db.drop();
  });

  const insert = (tenantId: string, id: string) => (tx: TenantTx) => tx.run(INSERT_NOTE, [tenantId, id]);

  async function waitersOf(state: string): Promise<number> {
    const { rows } = await db.owner.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND usename = 'strongroom' AND ${state}`,
    );
    return rows.length;
  }

  test('a change fails with the statement that made it fail, however late it hears of it, not with one in its wake', async () => {
    const heardLate = async (answered: Promise<unknown>): Promise<void> => {
      await answered.catch(async (error: unknown) => {
        for (let step = 0; step < 20; step += 1) await Promise.resolve();
        throw error;
      });
    };
    const tenantId = newId();
    const change = database.write(tenantId, (tx) =>
      Promise.all([heardLate(tx.run(MISSPELT, [])), tx.run(INSERT_NOTE, [tenantId, 'in its wake'])]),
    );
    await assert.rejects(change, (error) => sqlStateOf(error) === '42P01');
    assert.deepEqual(await database.read(tenantId, (tx) => tx.run(LIST_NOTES, [])), []);
  });

  test('503 when a statement takes longer than its bound, and the next one is served', async () => {
    await assert.rejects(
      database.read(newId(), (tx) => tx.run(SLEEP, [])),
      isUnavailable,
    );
    await assert.rejects(
      database.write(newId(), (tx) => tx.run(SLEEP, [])),
      isUnavailable,
    );
    assert.deepEqual(await database.read(newId(), (tx) => tx.run(LIST_NOTES, [])), []);
  });

  test('503 when a lock is not to be had, and the change works once it is', async () => {
    const tenantId = newId();
    await database.write(tenantId, insert(tenantId, 'locked'));
    await db.owner.query('BEGIN');
    await db.owner.query('SELECT FROM notes WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
    const change = (): Promise<unknown> => database.write(tenantId, (tx) => tx.run(LOCK_NOTE, [tenantId]));
    await assert.rejects(change(), isUnavailable);
    await db.owner.query('ROLLBACK');
    await change();
  });

  test('503 in time when every connection is busy, and those at work are not disturbed', async () => {
    await db.owner.query('SELECT pg_advisory_lock(77)');
    const patient = createDatabase({
      target: db.target,
      clock: systemClock,
      bounds: { ...BOUNDS, statementMs: HANGS_MS, lockMs: HANGS_MS },
    });
    // Reads of tenants leave some connections free; look-ups by key may take them all.
    const busy = Array.from({ length: READERS }, () => patient.lookUp((tx) => tx.run(WAIT_FOR_DOOR, [])));
    await eventually('all readers wait', async () => (await waitersOf(`wait_event_type = 'Lock'`)) === READERS);
    const startedMs = performance.now();
    await assert.rejects(
      patient.read(newId(), (tx) => tx.run(LIST_NOTES, [])),
      isUnavailable,
    );
    assert.ok(performance.now() - startedMs < HANGS_MS / 2, 'before those at work would give up');
    await db.owner.query('SELECT pg_advisory_unlock(77)');
    await Promise.all(busy);
    await patient.close();
  });

  test('503 at once when nobody listens at the address', async () => {
    const nowhere = createDatabase({
      target: { socketDir: '/tmp/sr-nobody-listens-here', port: 5432, user: 'strongroom', database: 'none' },
      clock: systemClock,
      bounds: BOUNDS,
    });
    await assert.rejects(
      nowhere.read(newId(), (tx) => tx.run(LIST_NOTES, [])),
      isUnavailable,
    );
    await assert.rejects(nowhere.write(newId(), insert(newId(), 'nowhere')), isUnavailable);
    await nowhere.close();
  });

  test('a statement that is wrong is a mistake of ours and not an outage', async () => {
    await assert.rejects(
      database.read(newId(), (tx) => tx.run(MISSPELT, [])),
      (error) => sqlStateOf(error) === '42P01' && !(error instanceof AppError),
    );
  });

  test('a statement first seen in a failed transaction works in the next', async () => {
    const one = createDatabase({
      target: db.target,
      isDistributed: db.isDistributed,
      clock: systemClock,
      bounds: BOUNDS,
    });
    await assert.rejects(
      one.read(newId(), (tx) =>
        Promise.all([tx.run(MISSPELT, []), tx.run(FIRST_SEEN_LATE, []), tx.run(FIRST_SEEN_LATE, [])]),
      ),
    );
    const twice = await one.read(newId(), (tx) =>
      Promise.all([tx.run(FIRST_SEEN_LATE, []), tx.run(FIRST_SEEN_LATE, [])]),
    );
    assert.deepEqual(twice, [[{ answer: 42 }], [{ answer: 42 }]]);
    await one.close();
  });

  test('a change whose statement fails is refused with that failure, and its neighbours are committed', async () => {
    const [first, taken, last] = [newId(), newId(), newId()].sort();
    assert.ok(first && taken && last);
    await database.write(taken, insert(taken, 'taken'));
    const inSteps = (tenantId: string) => async (tx: TenantTx) => {
      for (const step of [1, 2, 3]) await tx.run(INSERT_NOTE, [tenantId, `${tenantId} step ${step}`]);
      return tenantId;
    };
    const outcomes = await Promise.allSettled([
      database.write(first, inSteps(first)),
      database.write(taken, insert(taken, 'taken')),
      database.write(last, inSteps(last)),
    ]);
    const [before, duplicate, behind] = outcomes;
    assert.deepEqual(before, { status: 'fulfilled', value: first });
    assert.deepEqual(behind, { status: 'fulfilled', value: last });
    assert.ok(duplicate?.status === 'rejected' && isUniqueViolation(duplicate.reason));
    const stored = (await storedNotes(db.owner)).filter((id) => id.startsWith(first) || id.startsWith(last));
    assert.equal(stored.length, 6);
  });

  test('a change that waits for a lock too long does not take its neighbours along', async () => {
    const [stuck, free] = [newId(), newId()];
    await database.write(stuck, insert(stuck, 'stuck'));
    await db.owner.query('BEGIN');
    await db.owner.query('SELECT FROM notes WHERE tenant_id = $1 FOR UPDATE', [stuck]);
    const [waiting, neighbour] = await Promise.allSettled([
      database.write(stuck, (tx) => tx.run(LOCK_NOTE, [stuck])),
      database.write(free, insert(free, 'beside a stuck one')),
    ]);
    await db.owner.query('ROLLBACK');
    assert.ok(waiting.status === 'rejected' && isUnavailable(waiting.reason));
    assert.equal(neighbour.status, 'fulfilled');
  });

  test('a change with a 503 of its own, such as a key that does not open, does not take its neighbours along', async () => {
    const [closed, open] = [newId(), newId()];
    const [failing, neighbour] = await Promise.allSettled([
      database.write(closed, () => Promise.reject(storageUnavailable(new Error('a key does not open')))),
      database.write(open, insert(open, 'beside a closed one')),
    ]);
    assert.ok(failing.status === 'rejected' && isUnavailable(failing.reason));
    assert.equal(neighbour.status, 'fulfilled');
  });

  test('a constraint that fails at the commit is reported, and the neighbours are committed', async () => {
    const [good, bad] = [newId(), newId()];
    const collide = async (tx: TenantTx): Promise<void> => {
      await tx.run(INSERT_PAIRED_NOTE, [bad, 'left half', bad]);
      await tx.run(INSERT_PAIRED_NOTE, [bad, 'right half', bad]);
    };
    const [neighbour, collided] = await Promise.allSettled([
      database.write(good, insert(good, 'beside a deferred failure')),
      database.write(bad, collide),
    ]);
    assert.equal(neighbour.status, 'fulfilled');
    assert.ok(collided.status === 'rejected' && isUniqueViolation(collided.reason));
    const stored = await storedNotes(db.owner);
    assert.ok(stored.includes('beside a deferred failure'));
    assert.ok(!stored.includes('left half') && !stored.includes('right half'));
  });

  test('a change that swallows the failure of a statement is not acknowledged', async () => {
    const tenantId = newId();
    const careless = database.write(tenantId, async (tx) => {
      await tx.run(INSERT_NOTE, [tenantId, 'before the failure']);
      await tx.run(MISSPELT, []).catch(() => {});
      return 'done';
    });
    await assert.rejects(careless);
    assert.ok(!(await storedNotes(db.owner)).includes('before the failure'));
  });

  test('close waits for the changes under way and for the reads', async () => {
    const bounds = { ...BOUNDS, statementMs: HANGS_MS, lockMs: HANGS_MS };
    const short = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock, bounds });
    await db.owner.query('SELECT pg_advisory_lock(77)');
    const reading = short.read(newId(), (tx) => tx.run(WAIT_FOR_DOOR, []));
    const tenantId = newId();
    const writing = short.write(tenantId, async (tx) => {
      await tx.run(WAIT_FOR_DOOR, []);
      await tx.run(INSERT_NOTE, [tenantId, 'written while closing']);
    });
    await eventually('both wait', async () => (await waitersOf(`wait_event_type = 'Lock'`)) === 2);
    const closed = short.close();
    await assert.rejects(short.write(newId(), insert(newId(), 'too late')), isUnavailable);
    await db.owner.query('SELECT pg_advisory_unlock(77)');
    await Promise.all([reading, writing, closed]);
    assert.ok((await storedNotes(db.owner)).includes('written while closing'));
  });
});
