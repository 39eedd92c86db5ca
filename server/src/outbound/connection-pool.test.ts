import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { eventually } from '../testing/eventually.js';
import { OutboundConnection } from './connection.js';
import { OutboundConnections } from './connection-pool.js';
import type { Listening } from './outbound-fixture.js';
import { rawServer } from './outbound-fixture.js';

const PATIENT_MS = 120_000;

describe('connections that wait', () => {
  let server: Listening;
  const sockets: Socket[] = [];
  const open = async (): Promise<OutboundConnection> => {
    const socket = connect(server.port, '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    return new OutboundConnection(socket);
  };
  before(async () => {
    server = await rawServer(() => {});
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  after(() => server.close());

  it('the last one left is taken first, under its own name alone', async () => {
    const pool = new OutboundConnections({ idleMs: PATIENT_MS, idleMax: 9 });
    const [first, second] = [await open(), await open()];
    pool.keep('a', first, PATIENT_MS);
    pool.keep('a', second, PATIENT_MS);
    assert.equal(pool.take('b'), undefined);
    assert.deepEqual([pool.take('a') === second, pool.take('a') === first, pool.take('a')], [true, true, undefined]);
    assert.equal(pool.idleCount(), 0);
  });

  it('one that nobody may keep, or that has no room, is closed', async () => {
    const pool = new OutboundConnections({ idleMs: PATIENT_MS, idleMax: 1 });
    for (const keepMs of [0, -1_000]) pool.keep('a', await open(), keepMs);
    assert.equal(pool.idleCount(), 0);
    pool.keep('a', await open(), Number.POSITIVE_INFINITY);
    pool.keep('b', await open(), Number.POSITIVE_INFINITY);
    assert.equal(pool.idleCount(), 1);
    assert.deepEqual(
      sockets.map(({ destroyed }) => destroyed),
      [true, true, false, true],
    );
  });

  it('one that is closed meanwhile is not taken, and is counted once', async () => {
    const pool = new OutboundConnections({ idleMs: PATIENT_MS, idleMax: 9 });
    const kept = await open();
    pool.keep('a', kept, PATIENT_MS);
    const closed = await open();
    pool.keep('a', closed, PATIENT_MS);
    closed.destroy();
    assert.equal(pool.take('a'), kept);
    await eventually('it is closed', () => sockets[1]?.closed === true);
    assert.equal(pool.idleCount(), 0);
  });

  it('one whose time went by while it was used waits for all of its time again, and no longer', async () => {
    const idleMs = 20;
    const pool = new OutboundConnections({ idleMs, idleMax: 9 });
    const connection = await open();
    pool.keep('a', connection, PATIENT_MS);
    assert.equal(pool.take('a'), connection);
    let hasRun = false;
    // Timers of one length run in the order they were set: that of the pool runs before this one.
    setTimeout(() => (hasRun = true), idleMs);
    await eventually('the time went by', () => hasRun);
    assert.equal(sockets[0]?.destroyed, false);
    pool.keep('a', connection, PATIENT_MS);
    await eventually('it is closed', () => sockets[0]?.destroyed === true);
    await eventually('it is forgotten', () => pool.idleCount() === 0);
  });

  it('all are closed with the pool', async () => {
    const pool = new OutboundConnections({ idleMs: PATIENT_MS, idleMax: 9 });
    pool.keep('a', await open(), PATIENT_MS);
    pool.keep('b', await open(), PATIENT_MS);
    pool.destroy();
    assert.equal(pool.idleCount(), 0);
    assert.ok(sockets.every(({ destroyed }) => destroyed));
    await eventually('none is open', () => server.open() === 0);
    assert.equal(pool.idleCount(), 0);
  });
});
