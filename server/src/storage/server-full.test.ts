// needs: PostgreSQL packages

import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import pg from 'pg';
import { systemClock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { eventually } from '../testing/eventually.js';
import { startMigratedServer, urlOn } from '../testing/migrated-server.js';
import { INSERT_NOTE, LIST_NOTES, makeNotesTable, storedNotes } from '../testing/notes-table.js';
import type { ConnectionTarget } from './connection.js';
import type { Database } from './database.js';
import { createDatabase } from './database.js';
import { sqlStateOf } from './faults.js';
import { statement } from './statement.js';

const WAIT_FOR_DOOR = statement<{ pid: number }>(
  'wait_for_door',
  'SELECT pg_backend_pid() AS pid FROM pg_advisory_xact_lock_shared(77)',
);
/** Slots of the server that are neither kept for superusers nor taken by the one who watches. */
const SLOTS = 6;
const RESERVED = 3;
/** What waits for the door waits longer than anybody waits for a connection. */
const BOUNDS = { acquireMs: 2_000, statementMs: 60_000, lockMs: 60_000 };
/** Far more than a refusal takes on a busy machine, far less than the wait it must not be. */
const PATIENT = { ...BOUNDS, acquireMs: 60_000 };
const AT_ONCE_MS = 20_000;

function isFull(error: unknown): boolean {
  return error instanceof AppError && error.status === 503 && sqlStateOf(error) === '53300';
}

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.status === 503 && error.code === 'storage_unavailable';
}

suite('a server that takes no further connection', () => {
  let server: PostgresServer;
  let watcher: pg.Client;
  /** Undone after each test, newest first. */
  let undo: (() => Promise<unknown>)[] = [];

  before(async () => {
    server = await startMigratedServer({
      max_connections: String(SLOTS + RESERVED + 1),
      superuser_reserved_connections: String(RESERVED),
    });
    watcher = await server.connect();
    await makeNotesTable(watcher);
  });
  afterEach(async () => {
    for (const act of undo.reverse()) await act();
    undo = [];
    // A connection takes a moment to be gone, and the next test counts on its slot.
    await eventually('all slots are free', async () => (await taken()) === 0);
  });
  after(async () => {
    await watcher?.end();
    await server?.remove();
  });

  async function taken(where = 'true'): Promise<number> {
    const { rows } = await watcher.query(
      `SELECT 1 FROM pg_stat_activity WHERE usename = 'strongroom' AND backend_type = 'client backend' AND ${where}`,
    );
    return rows.length;
  }

  function open(bounds = BOUNDS, target: ConnectionTarget = urlOn(server.url('service'), `127.0.0.1:${server.port}`)) {
    const connections = { readMax: 8, writeMax: 2 };
    const database = createDatabase({ target, clock: systemClock, bounds, connections });
    undo.push(() => database.close());
    return database;
  }

  /** Others take every slot that is left; what it returns has them leave again. */
  async function fill(): Promise<() => Promise<void>> {
    const others: pg.Client[] = [];
    const leave = async (): Promise<void> => {
      for (const client of others.splice(0)) await client.end();
    };
    undo.push(leave);
    for (;;) {
      const client = new pg.Client({ connectionString: server.url('service') });
      client.on('error', () => {});
      try {
        await client.connect();
      } catch (error) {
        assert.equal(sqlStateOf(error), '53300');
        return leave;
      }
      others.push(client);
    }
  }

  async function limitLogin(connections: number): Promise<void> {
    await watcher.query(`ALTER ROLE strongroom CONNECTION LIMIT ${connections}`);
    undo.push(() => watcher.query('ALTER ROLE strongroom CONNECTION LIMIT -1'));
  }

  /** Holds whoever waits for the door; what it returns opens it. */
  async function shutDoor(): Promise<() => Promise<unknown>> {
    await watcher.query('SELECT pg_advisory_lock(77)');
    const openDoor = () => watcher.query('SELECT pg_advisory_unlock_all()');
    undo.push(openDoor);
    return openDoor;
  }

  // Reads of tenants leave some connections free; look-ups by key may take them all.
  const enter = (database: Database) => database.lookUp((tx) => tx.run(WAIT_FOR_DOOR, []));
  const look = (database: Database) => database.read(newId(), (tx) => tx.run(LIST_NOTES, []));
  const atDoor = (count: number) =>
    eventually(`${count} at the door`, async () => (await taken(`wait_event = 'advisory'`)) === count);

  test('who cannot have a further connection waits for one of our own, and is served when it is free', async () => {
    const database = open(PATIENT);
    const openDoor = await shutDoor();
    const first = enter(database);
    await atDoor(1);
    await fill();
    const waiting = Promise.all(Array.from({ length: 30 }, () => look(database)));
    const early = await Promise.race([
      waiting.then(() => 'served'),
      taken()
        .then(() => taken())
        .then(() => 'waiting'),
    ]);
    assert.equal(early, 'waiting');
    await openDoor();
    await first;
    assert.equal((await waiting).length, 30);
    assert.equal(await taken(), SLOTS);
  });

  test('the same with several hosts in the address', async () => {
    const database = open(PATIENT, urlOn(server.url('service'), `127.0.0.1:1,127.0.0.1:${server.port}`));
    const openDoor = await shutDoor();
    const first = enter(database);
    await atDoor(1);
    await fill();
    const waiting = Promise.all(Array.from({ length: 5 }, () => look(database)));
    await openDoor();
    await Promise.all([first, waiting]);
  });

  test('with several hosts the loss of one of our own leaves us the others, though the server cannot be asked', async () => {
    const database = open(PATIENT, urlOn(server.url('service'), `127.0.0.1:1,127.0.0.1:${server.port}`));
    const openDoor = await shutDoor();
    const entering = [enter(database), enter(database)];
    await atDoor(2);
    await limitLogin(1);
    await openDoor();
    await Promise.all(entering);
    await watcher.query(`SELECT pg_terminate_backend(min(pid)) FROM pg_stat_activity WHERE usename = 'strongroom'`);
    await eventually('one is gone', async () => (await taken()) === 1);
    for (let turn = 0; turn < 5; turn += 1) await look(database);
    assert.equal(await taken(), 1);
  });

  test('503 in time when none of our own becomes free, and the one at work is not disturbed', async () => {
    const database = open();
    const openDoor = await shutDoor();
    const first = enter(database);
    await atDoor(1);
    await fill();
    const startedMs = performance.now();
    await assert.rejects(look(database), isUnavailable);
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs > BOUNDS.acquireMs - 50 && tookMs < BOUNDS.lockMs / 2, `${tookMs} ms`);
    await openDoor();
    await first;
    await look(database);
  });

  test('503 at once when we have none, for one as for many', async () => {
    const database = open(PATIENT);
    await fill();
    const startedMs = performance.now();
    await assert.rejects(look(database), isFull);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => look(database)));
    assert.ok(outcomes.every((outcome) => outcome.status === 'rejected' && isFull(outcome.reason)));
    const tenantId = newId();
    await assert.rejects(
      database.write(tenantId, (tx) => tx.run(INSERT_NOTE, [tenantId, 'refused'])),
      isFull,
    );
    assert.ok(performance.now() - startedMs < AT_ONCE_MS);
    assert.ok(!(await storedNotes(watcher)).includes('refused'));
  });

  test('503 for those who wait when the connection they wait for breaks and there is no other', async () => {
    const database = open(PATIENT);
    await shutDoor();
    const first = enter(database);
    await atDoor(1);
    await fill();
    const waiting = [look(database), look(database), look(database)];
    await watcher.query('ALTER ROLE strongroom CONNECTION LIMIT 0');
    undo.push(() => watcher.query('ALTER ROLE strongroom CONNECTION LIMIT -1'));
    await watcher.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'advisory'`);
    const startedMs = performance.now();
    const outcomes = await Promise.allSettled([first, ...waiting]);
    assert.ok(performance.now() - startedMs < AT_ONCE_MS);
    assert.ok(outcomes.every((outcome) => outcome.status === 'rejected' && isUnavailable(outcome.reason)));
  });

  test('within the limit of the login everything is served, however much comes at once', async () => {
    const database = open(PATIENT);
    const tenantId = newId();
    // One of each kind is there before the burst.
    await Promise.all([look(database), database.write(tenantId, (tx) => tx.run(INSERT_NOTE, [tenantId, 'note 0']))]);
    await limitLogin(3);
    const insert = (n: number) => database.write(tenantId, (tx) => tx.run(INSERT_NOTE, [tenantId, `note ${n}`]));
    await Promise.all(Array.from({ length: 100 }, (_, n) => Promise.all([look(database), insert(n + 1)])));
    const notes = (await storedNotes(watcher)).filter((id) => id.startsWith('note '));
    assert.equal(notes.length, 101);
  });

  test('who waits is served as soon as the server has room, also while our own stay busy', async () => {
    const database = open(PATIENT);
    const openDoor = await shutDoor();
    const first = enter(database);
    await atDoor(1);
    const leave = await fill();
    const waiting = [look(database), look(database)];
    // By the time others who come later have been refused, those who wait have been too.
    const other = open();
    for (let turn = 0; turn < 5; turn += 1) await assert.rejects(look(other), isFull);
    await leave();
    await Promise.all(waiting);
    assert.equal(await taken(`wait_event = 'advisory'`), 1);
    await openDoor();
    await first;
  });

  test('the pool grows again once the server has room', async () => {
    const database = open(PATIENT);
    await look(database);
    const leave = await fill();
    await Promise.all(Array.from({ length: 10 }, () => look(database)));
    await leave();
    const openDoor = await shutDoor();
    const entering: Promise<unknown>[] = [];
    await eventually('several work side by side', async () => {
      if (entering.length < 500) entering.push(enter(database));
      return (await taken(`wait_event = 'advisory'`)) >= SLOTS;
    });
    await openDoor();
    await Promise.all(entering);
  });
});
