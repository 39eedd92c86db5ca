import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { createDeferred } from '../kernel/deferred.js';
import { eventually } from '../testing/eventually.js';
import { dialTcp } from './connect.js';
import type { OutboundRequest } from './outbound.js';
import type { Listening, Way } from './outbound-fixture.js';
import { bodyText, failureFrom, rawServer, wayOut } from './outbound-fixture.js';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n';
const POISON = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\npoisoned';

describe('a hostile destination', () => {
  let server: Listening;
  let way: Way;
  /** Of the destination and of ours, in the order of the connections. */
  const theirs: Socket[] = [];
  const ours: Socket[] = [];
  let onRequest: (socket: Socket) => void = () => {};
  const get = (more?: Partial<OutboundRequest>) => way.get(`http://127.0.0.1:${server.port}/`, more);
  const received = (bytes: number) => eventually(`${bytes} bytes came`, () => ours[0]?.bytesRead === bytes);
  const bodyStuck = () =>
    eventually('no more is taken', () => theirs.length === 1 && ours[0]?.writableNeedDrain === true);

  before(async () => {
    server = await rawServer((socket) => {
      theirs.push(socket);
      onRequest(socket);
    });
    way = wayOut({
      allow: [`http://127.0.0.1:${server.port}`],
      dial(target) {
        const socket = dialTcp(target);
        ours.push(socket);
        return socket;
      },
    });
  });
  afterEach(async () => {
    await eventually('nothing is in flight', () => way.figure('requests_in_flight') === 0);
    for (const socket of [...ours, ...theirs]) socket.destroy();
    await eventually('none is open', () => server.open() === 0 && way.figure('connections_idle') === 0);
    theirs.length = 0;
    ours.length = 0;
  });
  after(async () => {
    await way.close();
    await server.close();
  });

  it('whose body came before anybody read it: its connection still serves the next request', async () => {
    onRequest = (socket) => socket.write(HEAD);
    const answer = await get();
    theirs[0]?.write('hello');
    await received(HEAD.length + 5);
    assert.equal(await bodyText(answer), 'hello');
    assert.equal(way.figure('connections_idle'), 1);
    onRequest = (socket) => socket.write(`${HEAD}again`);
    assert.equal(await bodyText(await get({ bounds: { headersMs: 5_000 } })), 'again');
    assert.equal(ours.length, 1);
  });

  it('that speaks behind a body nobody read yet: its words are not the next answer', async () => {
    onRequest = (socket) => socket.write(HEAD);
    const answer = await get();
    theirs[0]?.write('hello');
    await received(HEAD.length + 5);
    theirs[0]?.write(POISON);
    await received(HEAD.length + 5 + POISON.length);
    onRequest = (socket) => socket.write(`${HEAD}again`);
    assert.equal(await bodyText(answer), 'hello');
    assert.equal(await bodyText(await get({ bounds: { headersMs: 5_000 } })), 'again');
    assert.equal(ours.length, 2);
  });

  it('that closes an idle connection loses it, however its answer came', async () => {
    onRequest = (socket) => socket.write(HEAD);
    const answer = await get();
    theirs[0]?.write('hello');
    await received(HEAD.length + 5);
    assert.equal(await bodyText(answer), 'hello');
    theirs[0]?.end();
    await eventually('it is given up', () => way.figure('connections_idle') === 0);
    assert.equal(ours[0]?.destroyed, true);
  });

  it('that answers without taking the body: the body is left, and the connection closed', async () => {
    let isLeft = false;
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        for (;;) yield Buffer.alloc(65_536);
      } finally {
        isLeft = true;
      }
    }
    onRequest = (socket) => socket.pause();
    const call = get({ method: 'POST', body: endless() });
    await bodyStuck();
    theirs[0]?.write(`${HEAD}early`);
    assert.equal(await bodyText(await call), 'early');
    await eventually('the body is left', () => isLeft);
    assert.equal(ours[0]?.destroyed, true);
  });

  for (const [how, isEnded] of [
    ['ends and breaks', true],
    ['breaks', false],
  ] as const) {
    it(`that answers without taking the body and ${how}: the answer that came whole is one`, async () => {
      onRequest = (socket) => socket.pause();
      const call = get({ method: 'POST', body: Buffer.alloc(32 * 1024 * 1024) });
      await bodyStuck();
      theirs[0]?.write(`${HEAD}early`);
      const answer = await call;
      if (isEnded) {
        theirs[0]?.end();
        await eventually('it has ended', () => ours[0]?.readableEnded === true);
      }
      theirs[0]?.resetAndDestroy();
      await eventually('it is broken', () => ours[0]?.closed === true);
      assert.equal(await bodyText(answer), 'early');
    });
  }

  it('that breaks within a body: what came is read, and it is not whole', async () => {
    onRequest = (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const answer = await get();
    theirs[0]?.write('half');
    await received(23);
    theirs[0]?.resetAndDestroy();
    const pieces: string[] = [];
    const failure = await failureFrom(
      (async () => {
        for await (const piece of answer.body) pieces.push(piece.toString());
      })(),
    );
    assert.equal(failure.code, 'unreachable');
    assert.deepEqual(pieces, ['half']);
  });

  it('that breaks while a body waits for its reader: whoever gives up then is told so', async () => {
    onRequest = (socket) => socket.write(`${HEAD}hell`);
    const caller = new AbortController();
    const answer = await get({ signal: caller.signal });
    theirs[0]?.resetAndDestroy();
    await eventually('it is broken', () => ours[0]?.closed === true);
    caller.abort();
    assert.equal((await failureFrom(bodyText(answer))).code, 'aborted');
  });

  it('whose last piece makes its reader give up: it is aborted, once, and its connection closed', async () => {
    onRequest = (socket) => socket.write(`${HEAD}hello`);
    const caller = new AbortController();
    const [answered, aborted] = [way.figure('requests_total', 'answered'), way.figure('requests_total', 'aborted')];
    const { flow } = await get({ signal: caller.signal });
    const write = (): boolean => {
      caller.abort();
      return true;
    };
    assert.equal((await failureFrom(flow({ write, onRoom: () => {} }))).code, 'aborted');
    assert.equal(way.figure('requests_total', 'answered'), answered);
    assert.equal(way.figure('requests_total', 'aborted'), aborted + 1);
    assert.deepEqual([ours[0]?.destroyed, way.figure('connections_idle')], [true, 0]);
  });

  it('that says it goes on working, for ever: too much of that is no answer', async () => {
    onRequest = (socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(3_000));
    assert.equal((await failureFrom(get())).code, 'too_large');
  });

  it('that never ends its trailers', async () => {
    onRequest = (socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${'a: b\r\n'.repeat(20_000)}`);
    assert.equal((await failureFrom(get().then(bodyText))).code, 'too_large');
  });

  it('whose answer is a hundred thousand chunks of one byte: streamed in order to a client, and refused where it is read', async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => 0x30 + (at % 64)));
    const chunks = [...bytes].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`).join('');
    onRequest = (socket) => socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    const flowed: Buffer[] = [];
    const { flow } = await get();
    await flow({
      write: (piece) => flowed.push(piece) % 3 !== 0,
      onRoom: (goOn) => void setImmediate(goOn),
    });
    assert.equal(Buffer.concat(flowed).toString('latin1'), bytes.toString('latin1'));
    assert.ok(flowed.length < 200, `${flowed.length} pieces: chunks of one read are handed on together`);
    assert.equal(ours.length, 1);
    const { code } = await failureFrom(get().then(bodyText));
    assert.equal(code, 'bad_answer');
  });

  it('whose answer is very many chunks of one byte is read by turns, in order, also while nobody takes more', async () => {
    const turns: (() => void)[] = [];
    const paced = wayOut({
      allow: [`http://127.0.0.1:${server.port}`],
      pace: (_tenantId, work) =>
        new Promise((resolve) => {
          turns.push(() => {
            work();
            resolve();
          });
        }),
    });
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => 0x30 + (at % 64)));
    const chunks = [...bytes].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`).join('');
    onRequest = (socket) => socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    const { flow } = await paced.get(`http://127.0.0.1:${server.port}/`);
    const flowed: Buffer[] = [];
    let taken = 0;
    let isDone = false;
    const done = flow({
      write: (piece) => flowed.push(piece) % 3 !== 0,
      onRoom: (goOn) => void setImmediate(goOn),
    }).then(() => {
      isDone = true;
    });
    await eventually('all of it is read', () => {
      const turn = turns.shift();
      if (turn) taken += 1;
      turn?.();
      return isDone;
    });
    await done;
    assert.equal(Buffer.concat(flowed).toString('latin1'), bytes.toString('latin1'));
    assert.ok(taken > 5, `${taken} turns`);
    await paced.close();
  });

  it('whose answer is a thousand chunks of one byte: all are there, in order', async () => {
    const chunks = '1\r\nx\r\n'.repeat(1_000);
    onRequest = (socket) => socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    assert.equal(await bodyText(await get()), 'x'.repeat(1_000));
  });

  it('that answers while the body waits for its source: the source is left when it goes on', async () => {
    const more = createDeferred<void>();
    let isLeft = false;
    async function* waiting(): AsyncGenerator<Buffer> {
      try {
        yield Buffer.from('begin');
        await more.promise;
        yield Buffer.from('end');
      } finally {
        isLeft = true;
      }
    }
    onRequest = (socket) => socket.write(`${HEAD}early`);
    assert.equal(await bodyText(await get({ method: 'POST', body: waiting() })), 'early');
    assert.equal(ours[0]?.destroyed, true);
    more.resolve();
    await eventually('the source is left', () => isLeft);
  });
});
