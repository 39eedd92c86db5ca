import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { eventually } from '../testing/eventually.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { ChangeListenerOptions } from './changes.js';
import { listenForChanges, sendEcho } from './changes.js';
import type { ConnectionTarget } from './connection.js';
import type { Database } from './database.js';
import { createDatabase } from './database.js';

const NOTICE = 'A'.charCodeAt(0);

interface Proxy {
  readonly target: ConnectionTarget;
  /** Notices that were kept back so far. */
  readonly kept: () => number;
  close(): Promise<void>;
}

/** Passes a notice on only together with an answer to something else, as a pooling proxy does by luck. */
async function startLuckyProxy(target: ConnectionTarget): Promise<Proxy> {
  assert.ok('socketDir' in target);
  const socketDir = await mkdtemp('/tmp/sr-luck-');
  const name = `.s.PGSQL.${target.port}`;
  const open = new Set<{ destroy(): void }>();
  let kept = 0;
  const server = createServer((client) => {
    const upstream = createConnection(join(target.socketDir, name));
    const held: Buffer[] = [];
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.destroy());
    }
    client.on('data', (chunk) => upstream.write(chunk));
    // On loopback a notice to an idle connection comes alone; an answer never begins with one.
    upstream.on('data', (chunk: Buffer) => {
      if (chunk[0] === NOTICE) {
        kept += 1;
        held.push(chunk);
      } else {
        client.write(Buffer.concat([...held.splice(0), chunk]));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(join(socketDir, name), resolve));
  return {
    target: { ...target, socketDir },
    kept: () => kept,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(socketDir, { recursive: true, force: true });
    },
  };
}

suite('the echo that proves a listener', () => {
  let db: TestDatabase;
  let database: Database;

  before(async () => {
    db = await createTestDatabase();
    database = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
  });
  after(async () => {
    await database.close();
    await db.drop();
  });

  function listen(options: Partial<ChangeListenerOptions>) {
    const told: string[] = [];
    const listener = listenForChanges({
      target: db.target,
      onChange: () => told.push('change'),
      onGap: () => told.push('gap'),
      onHeard: () => told.push('heard'),
      onDeaf: () => told.push('deaf'),
      sendEcho: (echo) => sendEcho(database, echo),
      ...options,
    });
    return { listener, told };
  }

  test('one that comes only with an answer to something else is luck: nothing is trusted, and it is told once', async () => {
    const proxy = await startLuckyProxy(db.target);
    const { listener, told } = listen({ target: proxy.target });
    try {
      await eventually('deafness is told', () => told.includes('deaf'));
      await eventually('it has tried anew', () => proxy.kept() > 3);
      assert.ok(!told.includes('heard') && !listener.isHearing());
      assert.equal(told.filter((word) => word === 'deaf').length, 1);
    } finally {
      await listener.close();
      await proxy.close();
    }
  });

  test('a listener that cannot even connect while notices can be sent is told once: its address is wrong', async () => {
    assert.ok('socketDir' in db.target);
    const { listener, told } = listen({ target: { ...db.target, user: 'nobody_of_that_name' } });
    try {
      await eventually('deafness is told', () => told.includes('deaf'));
      await eventually('it has tried anew', () => told.filter((word) => word === 'gap').length > 8);
      assert.equal(told.filter((word) => word === 'deaf').length, 1);
    } finally {
      await listener.close();
    }
  });

  test('a server that is out of reach altogether is not called a wrong address', async () => {
    assert.ok('socketDir' in db.target);
    const { listener, told } = listen({
      target: { ...db.target, user: 'nobody_of_that_name' },
      sendEcho: () => Promise.reject(new Error('no way out')),
    });
    try {
      await eventually('it has tried often', () => told.filter((word) => word === 'gap').length > 8);
      assert.ok(!told.includes('deaf'));
    } finally {
      await listener.close();
    }
  });

  test('one that cannot be sent says nothing about the listener, which waits and trusts nothing', async () => {
    let isBroken = true;
    let attempts = 0;
    const { listener, told } = listen({
      sendEcho: (echo) => {
        attempts += 1;
        return isBroken ? Promise.reject(new Error('no way out')) : sendEcho(database, echo);
      },
    });
    try {
      await eventually('it was tried twice', () => attempts >= 2);
      assert.ok(!listener.isHearing());
      assert.ok(!told.includes('deaf'));
      isBroken = false;
      await eventually('it hears', () => listener.isHearing());
    } finally {
      await listener.close();
    }
  });

  test('a later loss is noticed too: a gap is called, then it hears again', async () => {
    let isLost = false;
    const { listener, told } = listen({
      echoIntervalMs: 20,
      sendEcho: (echo) => (isLost ? Promise.resolve() : sendEcho(database, echo)),
    });
    try {
      await eventually('it hears', () => listener.isHearing());
      isLost = true;
      await eventually('the loss is noticed', () => !listener.isHearing() && told.includes('deaf'));
      assert.equal(told[told.indexOf('deaf') + 1], 'gap');
      isLost = false;
      await eventually('it hears again', () => listener.isHearing());
    } finally {
      await listener.close();
    }
  });

  test('the echoes of others are neither changes nor gaps', async () => {
    const { listener, told } = listen({});
    try {
      await eventually('it hears', () => listener.isHearing());
      told.length = 0;
      await sendEcho(database, 'of-somebody-else');
      await db.owner.query('SELECT pg_notify($1, $2)', ['strongroom_changes', `tenant:${'0'.repeat(36)}`]);
      await eventually('the change behind it arrives', () => told.includes('change'));
      assert.deepEqual(told, ['change']);
    } finally {
      await listener.close();
    }
  });
});
