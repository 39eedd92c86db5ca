// needs: PostgreSQL packages

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import { freePort } from '@strongroom/test-servers/programs.js';
import { promote, startStandby } from '@strongroom/test-servers/standby.js';
import { systemClock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { eventually } from '../testing/eventually.js';
import { startBlackHole, startMigratedServer, urlOn } from '../testing/migrated-server.js';
import { INSERT_NOTE, LIST_NOTES, makeNotesTable, storedNotes } from '../testing/notes-table.js';
import type { ChangeNotice } from './changes.js';
import { announce, listenForChanges, sendEcho } from './changes.js';
import { DEFAULT_TIME_BOUNDS } from './connection.js';
import type { Database } from './database.js';
import { createDatabase } from './database.js';
import { migrate } from './migrate.js';

/** The time to acquire a connection, and a slow machine. Requests that waited one after the other would take longer. */
const REFUSED_WITHIN_MS = 10 * DEFAULT_TIME_BOUNDS.acquireMs;

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'storage_unavailable';
}

suite('an address of several hosts', () => {
  let primary: PostgresServer;
  let standby: PostgresServer;
  let undo: (() => Promise<unknown>)[] = [];

  before(async () => {
    primary = await startMigratedServer();
    const superuser = await primary.connect();
    await makeNotesTable(superuser);
    await superuser.end();
    standby = await startStandby(primary, 'second');
  });
  after(async () => {
    await standby.remove();
    await primary.remove();
  });

  function open(hosts: readonly (number | string)[], parameters = ''): Database {
    const target = targetOf(hosts, parameters);
    const database = createDatabase({ target, clock: systemClock });
    undo.push(() => database.close());
    return database;
  }

  function targetOf(hosts: readonly (number | string)[], parameters = '') {
    const list = hosts.map((port) => `127.0.0.1:${port}`).join(',');
    return urlOn(primary.url('service'), list, parameters);
  }

  async function closing(act: () => Promise<void>): Promise<void> {
    undo = [];
    try {
      await act();
    } finally {
      for (const close of undo.reverse()) await close();
    }
  }

  function write(database: Database, id: string): Promise<unknown> {
    const tenantId = newId();
    return database.write(tenantId, (tx) => tx.run(INSERT_NOTE, [tenantId, id]));
  }

  async function storedOn(server: PostgresServer): Promise<string[]> {
    const client = await server.connect();
    try {
      return await storedNotes(client);
    } finally {
      await client.end();
    }
  }

  async function setReadOnly(isReadOnly: boolean): Promise<void> {
    const client = await primary.connect();
    await client.query('SET default_transaction_read_only = off');
    await client.query(
      `ALTER SYSTEM ${isReadOnly ? 'SET' : 'RESET'} default_transaction_read_only${isReadOnly ? ' = on' : ''}`,
    );
    await client.query('SELECT pg_reload_conf()');
    await client.end();
  }

  test('a standby that stands first is passed over, by changes, reads and migrations', () =>
    closing(async () => {
      const database = open([standby.port, primary.port]);
      await write(database, 'past-the-standby');
      assert.ok((await storedOn(primary)).includes('past-the-standby'));
      const owner = urlOn(primary.url('owner'), `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`);
      assert.deepEqual(await migrate({ owner, login: 'strongroom', createLogin: false }), []);
    }));

  test('target_session_attrs=primary passes over a standby too', () =>
    closing(async () => {
      await write(open([standby.port, primary.port], '?target_session_attrs=primary'), 'primary');
      assert.ok((await storedOn(primary)).includes('primary'));
    }));

  test('hosts that refuse, that do not exist and that never answer cost less than the time to acquire', () =>
    closing(async () => {
      const hole = await startBlackHole();
      undo.push(() => hole.close());
      const database = open([await freePort(), hole.port, primary.port]);
      const startedMs = performance.now();
      await write(database, 'past-the-dead');
      assert.ok(performance.now() - startedMs < REFUSED_WITHIN_MS);
    }));

  test('503 within the time to acquire when no host answers, for many requests at once', () =>
    closing(async () => {
      const hole = await startBlackHole();
      undo.push(() => hole.close());
      const database = open([hole.port, await freePort()]);
      const startedMs = performance.now();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 40 }, (_, i) => (i % 2 ? write(database, `never-${i}`) : database.lookUp(async () => {}))),
      );
      assert.ok(outcomes.every((outcome) => outcome.status === 'rejected' && isUnavailable(outcome.reason)));
      assert.ok(performance.now() - startedMs < REFUSED_WITHIN_MS);
    }));

  test('one host that takes no changes is 503 when read-write is asked, and read when any will do', () =>
    closing(async () => {
      await assert.rejects(write(open([standby.port], '?target_session_attrs=read-write'), 'never'), isUnavailable);
      const any = open([standby.port, primary.port], '?target_session_attrs=any');
      await any.read(newId(), (tx) => tx.run(LIST_NOTES, []));
      await assert.rejects(write(any, 'never'), isUnavailable);
    }));

  test('503 while the primary takes no changes, and the same connections write again when it does', () =>
    closing(async () => {
      const database = open([primary.port, standby.port]);
      await write(database, 'before-read-only');
      undo.push(() => setReadOnly(false));
      await setReadOnly(true);
      await eventually('changes are refused', () =>
        write(database, newId()).then(
          () => false,
          (error: unknown) => isUnavailable(error),
        ),
      );
      await assert.rejects(write(database, 'never'), isUnavailable);
      await setReadOnly(false);
      await eventually('it writes again', () =>
        write(database, 'after-read-only').then(
          () => true,
          () => false,
        ),
      );
      assert.ok(!(await storedOn(primary)).includes('never'));
    }));

  test('the primary is killed and the standby promoted: writes, reads and notices go on without a restart', () =>
    closing(async () => {
      const database = open([primary.port, standby.port]);
      const target = targetOf([primary.port, standby.port]);
      const heard: ChangeNotice[] = [];
      const listener = listenForChanges({
        target,
        onChange: (change) => heard.push(change),
        onGap: () => {},
        sendEcho: (echo) => sendEcho(database, echo),
      });
      undo.push(() => listener.close());
      await eventually('changes are heard', () => listener.isHearing());
      await write(database, 'before-the-fall');
      await eventually('the standby has it', async () => (await storedOn(standby)).includes('before-the-fall'));

      await primary.end('SIGQUIT');
      const startedMs = performance.now();
      await assert.rejects(write(database, 'during-the-fall'), isUnavailable);
      assert.ok(performance.now() - startedMs < REFUSED_WITHIN_MS);
      await eventually('nothing is trusted', () => !listener.isHearing());

      await promote(standby);
      await eventually('it writes again', () =>
        write(database, newId()).then(
          () => true,
          () => false,
        ),
      );
      await write(database, 'after-the-fall');
      const stored = await storedOn(standby);
      assert.ok(stored.includes('before-the-fall') && stored.includes('after-the-fall'));
      assert.ok(!stored.includes('during-the-fall'));

      await eventually('changes are heard again', () => listener.isHearing());
      const tenantId = newId();
      await database.write(tenantId, (tx) => announce(tx, { kind: 'access', tenantId }));
      await eventually('the notice arrives', () => heard.some((change) => change.tenantId === tenantId));
      const burst = await Promise.allSettled(Array.from({ length: 50 }, () => write(database, newId())));
      assert.ok(
        burst.every(({ status }) => status === 'fulfilled'),
        'every connection leads to the new primary',
      );
    }));

  test('the old primary comes back and takes changes: the promoted one is used, by old and new processes, or none', () =>
    closing(async () => {
      const running = open([primary.port, standby.port]);
      await write(running, 'before-the-return');
      await primary.start();
      await endConnections(standby);
      await eventually('it writes again', () => succeeds(write(running, 'after-the-return')));
      await write(open([primary.port, standby.port]), 'by-a-new-process');
      const stored = await storedOn(standby);
      assert.ok(stored.includes('after-the-return') && stored.includes('by-a-new-process'));

      await standby.end('SIGINT');
      await assert.rejects(write(running, 'on-the-old'), isUnavailable);
      await assert.rejects(write(running, 'on-the-old'), isUnavailable);
      await standby.start();
      await eventually('it writes again', () => succeeds(write(running, newId())));
      const lost = (await storedOn(primary)).filter((id) => /return|new-process|on-the-old/.test(id));
      assert.deepEqual(lost, []);
    }));
});

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

/** Breaks whatever the service holds, as a proxy or a restart would. */
async function endConnections(server: PostgresServer): Promise<void> {
  const client = await server.connect();
  await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'strongroom'");
  await client.end();
}
