import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { eventually } from '../testing/eventually.js';
import { INSERT_NOTE, LIST_NOTES, makeNotesTable } from '../testing/notes-table.js';
import { PATIENT_BOUNDS } from '../testing/test-app.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { Database } from './database.js';
import { createDatabase } from './database.js';
import type { TenantTx } from './scope.js';
import { statement } from './statement.js';

const ECHO = statement<{ mark: string; scope: string }>(
  'echo',
  `SELECT $1 || repeat('.', 0) AS mark, current_setting('strongroom.tenants') AS scope`,
);
const SLOW_ECHO = statement<{ mark: string; scope: string }>(
  'slow_echo',
  `SELECT $1 || coalesce(pg_sleep(0.002)::text, '') AS mark, current_setting('strongroom.tenants') AS scope`,
);

const TENANTS = 24;
const KILLS = 60;
const QUESTIONS_AT_ONCE = 12;

interface Tally {
  answered: number;
  refused: number;
}

/** Many questions in one round trip, each with an answer that says whose it is. */
async function ask(tx: TenantTx, isWrite: boolean, turn: number): Promise<void> {
  const marks = Array.from({ length: QUESTIONS_AT_ONCE }, (_, index) => `${tx.tenantId}/${turn}/${index}`);
  const answers = await Promise.all(marks.map((mark, index) => tx.run(index % 4 === 0 ? SLOW_ECHO : ECHO, [mark])));
  for (const [index, rows] of answers.entries()) {
    const [answer] = rows;
    assert.equal(rows.length, 1);
    assert.equal(answer?.mark, marks[index]);
    const scope = answer?.scope.split(',') ?? [];
    if (isWrite) assert.ok(scope.includes(tx.tenantId), 'a batch works on its members alone');
    else assert.deepEqual(scope, [tx.tenantId]);
  }
  if (isWrite) return;
  const notes = await tx.run(LIST_NOTES, []);
  for (const note of notes) assert.equal(note.tenant_id, tx.tenantId, 'rows of another tenant');
}

interface Journal {
  readonly acknowledged: string[];
  readonly undone: string[];
  readonly unknown: string[];
}

/** Reads and writes of one tenant until told to stop; only an honest 503 may go wrong. */
async function liveOn(database: Database, isOver: () => boolean, tally: Tally, journal: Journal): Promise<void> {
  const tenantId = newId();
  for (let turn = 0; !isOver(); turn += 1) {
    const id = `${tenantId} ${turn}`;
    const outcomes = await Promise.allSettled([
      database.read(tenantId, (tx) => ask(tx, false, turn)),
      database.write(tenantId, async (tx) => {
        await ask(tx, true, turn);
        await tx.run(INSERT_NOTE, [tenantId, id]);
      }),
    ]);
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') tally.answered += 1;
      else if (outcome.reason instanceof AppError && outcome.reason.code === 'storage_unavailable') tally.refused += 1;
      else throw outcome.reason;
    }
    const [, written] = outcomes;
    if (written.status === 'fulfilled') journal.acknowledged.push(id);
    else if (/may or may not/.test(String(written.reason))) journal.unknown.push(id);
    else journal.undone.push(id);
  }
}

test('connections killed with many questions in flight: no answer goes to another tenant, no 503 lies', async (t) => {
  const db = await createTestDatabase();
  await makeNotesTable(db.owner);
  const { target, isDistributed } = db;
  const database = createDatabase({ target, isDistributed, clock: systemClock, bounds: PATIENT_BOUNDS });
  const tally: Tally = { answered: 0, refused: 0 };
  const journal: Journal = { acknowledged: [], undone: [], unknown: [] };
  let killed = 0;

  async function killOne(): Promise<void> {
    const { rows } = await db.owner.query<{ ended: boolean }>(
      `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
       WHERE datname = current_database() AND usename = 'strongroom' AND state <> 'idle'
       ORDER BY random() LIMIT 1`,
    );
    if (rows[0]?.ended) killed += 1;
  }

  try {
    const lives = Array.from({ length: TENANTS }, () => liveOn(database, () => killed >= KILLS, tally, journal));
    const deadlineMs = performance.now() + 60_000;
    while (killed < KILLS) {
      assert.ok(performance.now() < deadlineMs, `only ${killed} connections could be killed`);
      const answered = tally.answered;
      await eventually('something is answered between two kills', () => tally.answered >= answered + TENANTS);
      await killOne();
    }
    await Promise.all(lives);
    t.diagnostic(`${killed} connections killed, ${tally.answered} answered, ${tally.refused} refused`);
    t.diagnostic(`${journal.acknowledged.length} writes acknowledged, ${journal.unknown.length} unknown`);

    const { rows } = await db.owner.query<{ id: string }>('SELECT id FROM notes');
    const stored = new Set(rows.map(({ id }) => id));
    for (const id of journal.acknowledged) assert.ok(stored.has(id), 'an acknowledged write is lost');
    for (const id of journal.undone) assert.ok(!stored.has(id), 'a write that was said to be undone is there');
    assert.ok(tally.refused > 0, 'no kill hit anything');
    assert.ok(tally.answered > TENANTS);
  } finally {
    killed = KILLS;
    await database.close();
    await db.drop();
  }
});
