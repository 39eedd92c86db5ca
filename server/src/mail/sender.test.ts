// needs: processes

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import type { MailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import { startMailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import { systemClock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import type { Database } from '../storage/database.js';
import { createDatabase } from '../storage/database.js';
import { eventually } from '../testing/eventually.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import { MAIL_AGE_MAX_MS } from './backoff.js';
import { queueMails, recipientsOf, startTestSender, testMailSeal } from './mail-fixture.js';
import { inMailScope } from './mail-scope.js';
import { enqueueMail } from './outbox.js';
import { MAIL_LEASE_MS } from './sender.js';

const MINUTE_MS = 60_000;
const NAMES = Array.from({ length: 20 }, (_, at) => `n${String(at).padStart(2, '0')}`);

describe('queued mail', () => {
  let db: TestDatabase;
  let database: Database;
  let catcher: MailCatcher;
  let senders: { close(): Promise<void> }[];
  /** How far the senders that are started here are ahead of the database. */
  let aheadMs: number;

  before(async () => {
    db = await createTestDatabase();
    database = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
  });
  after(async () => {
    await database.close();
    await db.drop();
  });
  beforeEach(async () => {
    catcher = await startMailCatcher();
    [senders, aheadMs] = [[], 0];
  });
  afterEach(async () => {
    await Promise.all(senders.map((sender) => sender.close()));
    await catcher.close();
    await db.owner.query('DELETE FROM mails');
  });

  const rows = async () =>
    (
      await db.owner.query<{ id: string; attempts: number; due_ms: number }>(
        `SELECT id, attempts, (extract(epoch FROM due_at - clock_timestamp()) * 1000)::float8 AS due_ms
         FROM mails ORDER BY created_at`,
      )
    ).rows;
  const isEmpty = async () => (await rows()).length === 0;

  function start(options: Parameters<typeof startTestSender>[2] = {}) {
    const sender = startTestSender(database, catcher.port, { timeOf: (ms) => ms + aheadMs, ...options });
    senders.push(sender);
    return sender;
  }

  it('is sent, and nothing of it stays', async () => {
    await queueMails(database, NAMES);
    const sender = start();
    await eventually('the queue is empty', isEmpty);
    assert.deepEqual(recipientsOf(catcher), NAMES);
    assert.deepEqual([sender.failed, sender.dropped, sender.faults], [[], [], []]);
  });

  it('is not sent when the change it tells of is rolled back', async () => {
    const message = { kind: 'test', subject: 's', text: 't', html: 'h' };
    const rolledBack = inMailScope(database, async (tx) => {
      await enqueueMail({ seal: testMailSeal, clock: systemClock }, tx, { recipient: 'no@example.com', message });
      throw new Error('changed my mind');
    });
    await assert.rejects(rolledBack, /changed my mind/);
    assert.deepEqual(await rows(), []);
  });

  it('503 when as much waits as may', async () => {
    const message = { kind: 'test', subject: 's', text: 't', html: 'h' };
    const queue = () =>
      inMailScope(database, (tx) =>
        enqueueMail({ seal: testMailSeal, clock: systemClock, waitingMax: 2 }, tx, {
          recipient: 'a@example.com',
          message,
        }),
      );
    await queue();
    await queue();
    await assert.rejects(queue(), (error) => error instanceof AppError && error.code === 'overloaded');
    assert.equal((await rows()).length, 2);
  });

  it('shows neither recipient nor text to whoever reads the table', async () => {
    await queueMails(database, ['ann']);
    const { rows: stored } = await db.owner.query<{ row: string }>('SELECT mails::text AS row FROM mails');
    const text = `${stored[0]?.row} ${Buffer.from(/\\x([0-9a-f]+)/.exec(stored[0]?.row ?? '')?.[1] ?? '', 'hex')}`;
    assert.doesNotMatch(text, /ann|example|s3cr3t|Hello/);
  });

  it('is dropped where its row was altered or moved, and told of', async () => {
    await queueMails(database, ['ann', 'eve']);
    await db.owner.query(`UPDATE mails SET sealed = (SELECT sealed FROM mails ORDER BY created_at, id LIMIT 1)`);
    const sender = start();
    await eventually('the queue is empty', isEmpty);
    assert.equal(catcher.caught.length, 1);
    await eventually('it is told', () => sender.dropped.length === 1);
    assert.deepEqual(
      sender.dropped.map(({ code, mailKind }) => [code, mailKind]),
      [['EALTERED', undefined]],
    );
  });

  it('waits while the server is down, and leaves when it is back', async () => {
    await catcher.refuse();
    await queueMails(database, ['ann', 'bob']);
    const sender = start();
    await eventually('both failed', () => sender.failed.length === 2);
    const waiting = await rows();
    assert.deepEqual(
      waiting.map(({ attempts }) => attempts),
      [1, 1],
    );
    assert.ok(waiting.every(({ due_ms }) => due_ms > 0 && due_ms <= MINUTE_MS));
    await catcher.accept();
    aheadMs = MINUTE_MS;
    sender.wake();
    await eventually('the queue is empty', isEmpty);
    assert.deepEqual(recipientsOf(catcher), ['ann', 'bob']);
  });

  it('to a recipient whom the server refuses is given up after three tries; others leave meanwhile', async () => {
    catcher.setReplies((command) =>
      /RCPT TO:<eve@/.test(command) ? '550 5.1.1 <eve@example.com> unknown' : undefined,
    );
    await queueMails(database, ['eve', 'ann']);
    const sender = start();
    await eventually('one is left', async () => (await rows()).length === 1);
    for (const tries of [1, 2]) {
      await eventually('it failed', () => sender.failed.length === tries);
      aheadMs += 5 * MINUTE_MS;
      sender.wake();
    }
    await eventually('it is given up', () => sender.dropped.length === 1);
    const [{ mailId, ...story } = assert.fail()] = sender.dropped;
    assert.ok(mailId.length > 0);
    assert.deepEqual(story, { mailKind: 'test', tries: 3, code: 'EENVELOPE', status: 550 });
    assert.deepEqual([await isEmpty(), recipientsOf(catcher)], [true, ['ann']]);
  });

  it('that the server puts off is given up after nine tries in a day', async () => {
    catcher.setReplies((command) => (command.startsWith('RCPT') ? '451 4.3.0 later' : undefined));
    await queueMails(database, ['ann']);
    const sender = start();
    for (let tries = 1; tries <= 8; tries += 1) {
      await eventually(`try ${tries} failed`, () => sender.failed.length === tries);
      const [row = assert.fail()] = await rows();
      aheadMs = Math.max(aheadMs, Math.ceil(row.due_ms) + 1);
      sender.wake();
    }
    await eventually('it is given up', () => sender.dropped.length === 1);
    assert.equal(sender.dropped[0]?.tries, 9);
    assert.ok(aheadMs >= 24 * 60 * MINUTE_MS - MINUTE_MS && aheadMs <= 24 * 60 * MINUTE_MS + MINUTE_MS);
    assert.ok(await isEmpty());
  });

  it('that lay here for two days is not sent: its links are dead', async () => {
    await queueMails(database, ['ann']);
    aheadMs = MAIL_AGE_MAX_MS + MINUTE_MS;
    const sender = start();
    await eventually('it is dropped', () => sender.dropped.length === 1);
    assert.deepEqual([sender.dropped[0]?.code, catcher.commands], ['ETOOOLD', []]);
  });

  it('whose tries brought down their processes is given up in the end', async () => {
    await queueMails(database, ['ann']);
    await db.owner.query('UPDATE mails SET attempts = 9');
    const sender = start();
    await eventually('it is dropped', () => sender.dropped.length === 1);
    assert.deepEqual([sender.dropped[0]?.code, catcher.commands], ['ETOOOFTEN', []]);
  });

  it('is sent once by several processes', async () => {
    await queueMails(database, NAMES);
    const other = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    start();
    start({ database: other });
    await eventually('the queue is empty', isEmpty);
    assert.deepEqual(recipientsOf(catcher), NAMES);
    await Promise.all(senders.splice(0).map((sender) => sender.close()));
    await other.close();
  });

  it('is nobody else’s while a lease holds, and another one’s right after; who lost it changes nothing', async () => {
    catcher.setReplies((command) => (command === '.' ? 'silence' : undefined));
    await queueMails(database, ['ann']);
    const slow = start({ timeOf: (ms) => ms });
    await eventually('it is under way', () => catcher.caught.length === 1);
    const second = start();
    aheadMs = MAIL_LEASE_MS - MINUTE_MS;
    await queueMails(database, ['bob']);
    second.wake();
    await eventually('the second looked', () => catcher.caught.length === 2);
    assert.deepEqual(recipientsOf(catcher), ['ann', 'bob']);
    aheadMs = 2 * MAIL_LEASE_MS;
    start();
    await eventually('it was taken over', () => recipientsOf(catcher).filter((name) => name === 'ann').length === 2);
    await Promise.all([slow.close(), second.close()]);
    const [row = assert.fail()] = await rows();
    assert.equal(row.attempts, 2);
    assert.ok(row.due_ms > 2 * MAIL_LEASE_MS, 'the lease of the last one holds');
    assert.deepEqual([slow.faults, second.faults], [[], []]);
  });

  it('is given back by a process that is told to end, and the try is not counted', async () => {
    catcher.setReplies((command) => (command.startsWith('RCPT') ? 'silence' : undefined));
    await queueMails(database, ['ann']);
    const ending = start();
    await eventually('it is under way', () => catcher.commands.some((command) => command.startsWith('RCPT')));
    await ending.close();
    const [row = assert.fail()] = await rows();
    assert.ok(row.attempts === 0 && row.due_ms <= 0);
    catcher.setReplies(() => undefined);
    start();
    await eventually('the queue is empty', isEmpty);
    assert.deepEqual(recipientsOf(catcher), ['ann']);
  });

  it('survives a database that cannot be reached', async () => {
    let isDown = true;
    const flaky: Database = {
      ...database,
      people: (work) => (isDown ? Promise.reject(new AppError('storage_unavailable', 'down')) : database.people(work)),
    };
    await queueMails(database, ['ann']);
    const sender = start({ database: flaky });
    await eventually('the fault is told', () => sender.faults.length > 0);
    isDown = false;
    sender.wake();
    await eventually('the queue is empty', isEmpty);
    assert.deepEqual(recipientsOf(catcher), ['ann']);
  });

  it('tells nothing of recipients or texts, whatever fails', async () => {
    await queueMails(database, ['ann', 'bob', 'eve']);
    catcher.setReplies((command) => {
      if (/RCPT TO:<ann@/.test(command)) return '550 5.1.1 <ann@example.com> unknown';
      return command === '.' ? '554 5.7.1 https://vault.example.com/portal/reset#s3cr3t' : undefined;
    });
    const sender = start();
    await eventually('all failed', () => sender.failed.length === 3);
    assert.doesNotMatch(inspect(sender, { depth: 9 }), /ann|bob|eve@|example|s3cr3t|Hello/);
  });

  /** Kills the process that sends once the catcher has seen enough, and lets another one go on after the lease. */
  async function killWhen(isTime: () => boolean): Promise<void> {
    const program = fileURLToPath(new URL('./sender-program.js', import.meta.url));
    const child = spawn(process.execPath, [program, JSON.stringify(db.target), String(catcher.port)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    try {
      await eventually('it is time', isTime);
    } finally {
      child.kill('SIGKILL');
      await exited;
    }
  }

  it('of a process that was killed between the server’s yes and the end of the row arrives again', async () => {
    await queueMails(database, ['ann']);
    catcher.setReplies((command) => (command === '.' ? 'silence' : undefined));
    await killWhen(() => catcher.caught.length === 1);
    assert.deepEqual(
      (await rows()).map(({ attempts }) => attempts),
      [1],
    );
    catcher.setReplies(() => undefined);
    aheadMs = MAIL_LEASE_MS;
    start();
    await eventually('the queue is empty', isEmpty);
    assert.deepEqual(recipientsOf(catcher), ['ann', 'ann']);
    const ids = catcher.caught.map(({ data }) => /^Message-ID: (.+)$/m.exec(data)?.[1]);
    assert.ok(ids[0] !== undefined && ids[0] === ids[1]);
  });

  it('of a process that was killed with a full queue arrives, all of it', async () => {
    await queueMails(database, NAMES);
    catcher.setReplies((command) => (command === '.' && catcher.caught.length >= 5 ? 'silence' : undefined));
    await killWhen(() => catcher.caught.length >= 5);
    assert.ok((await rows()).length >= NAMES.length - 5);
    catcher.setReplies(() => undefined);
    aheadMs = MAIL_LEASE_MS;
    start();
    await eventually('the queue is empty', isEmpty);
    assert.deepEqual([...new Set(recipientsOf(catcher))], NAMES);
    assert.ok(catcher.caught.length <= NAMES.length + 4, 'at most those under way came twice');
  });
});
