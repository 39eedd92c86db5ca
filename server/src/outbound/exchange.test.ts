import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../testing/eventually.js';
import type { Listening, Way } from './outbound-fixture.js';
import { bodyText, failureFrom, OTHER_TENANT, rawServer, wayOut } from './outbound-fixture.js';

let endlessBytes = 0;

/** Answers by hand, by path. What it says nothing about stays without an answer. */
const SCRIPT: Readonly<Record<string, (socket: Socket, text: string) => void>> = {
  '/plain': (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\n\r\nhello'),
  '/echo': (socket, text) =>
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`),
  '/chunked': (socket) =>
    socket.write(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n',
    ),
  '/to-the-end': (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nuntil it closes'),
  '/information': (socket) =>
    socket.write(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    ),
  '/204': (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'),
  '/304': (socket) => socket.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 700\r\n\r\n'),
  '/head': (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 700\r\n\r\n'),
  '/redirect': (socket) =>
    socket.write('HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\n\r\n'),
  '/cookies': (socket) =>
    socket.write(
      'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=9\r\nProxy-Authenticate: Basic\r\nX-Bytes: \xe9\r\nContent-Length: 0\r\n\r\n',
    ),
  '/gzip': (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8bzz', 'latin1'),
  '/upgrade': (socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nraw'),
  '/garbage': (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
  '/both-lengths': (socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
  '/two-lengths': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd'),
  '/huge-head': (socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`),
  '/large-head': (socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(60_000)}\r\nContent-Length: 0\r\n\r\n`),
  '/many-headers': (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(5_000)}Content-Length: 0\r\n\r\n`),
  '/endless-head': (socket) => {
    const more = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 1);
    socket.once('close', () => clearInterval(more));
  },
  '/nothing': (socket) => socket.end(),
  '/reset': (socket) => socket.resetAndDestroy(),
  '/half': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'),
  '/half-chunk': (socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhalf'),
  '/slow-body': (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nslow'),
  '/endless': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    const piece = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const more = (): void => {
      let isTaken = true;
      while (!socket.destroyed && isTaken) {
        isTaken = socket.write(piece);
        endlessBytes += piece.length;
      }
    };
    socket.on('drain', more);
    more();
  },
  '/announced': (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n'),
};

describe('a request and its answer', () => {
  let server: Listening;
  let way: Way;
  let at: (path: string) => string;
  before(async () => {
    server = await rawServer((socket, text) => {
      const [, path = ''] = text.split(' ');
      SCRIPT[path]?.(socket, text);
    });
    way = wayOut({ allow: [`http://127.0.0.1:${server.port}`], names: { 'public.test': ['127.0.0.1'] } });
    at = (path) => `http://public.test:${server.port}${path}`;
  });
  after(async () => {
    await way.close();
    await server.close();
  });

  for (const [path, body] of [
    ['/plain', 'hello'],
    ['/chunked', 'abcde'],
    ['/to-the-end', 'until it closes'],
    ['/information', 'ok'],
    ['/large-head', ''],
    ['/204', ''],
    ['/304', ''],
    ['/gzip', '\x1f\x8bzz'],
  ] as const) {
    it(`${path}: the body is what was received`, async () => {
      const answer = await way.get(at(path));
      assert.equal(answer.status, Number(/^\/\d+$/.test(path) ? path.slice(1) : 200));
      assert.equal(await bodyText(answer), body);
    });
  }

  it('HEAD has headers and no body, and its connection is free at once, read or not', async () => {
    const answer = await way.get(at('/head'), { method: 'HEAD' });
    assert.deepEqual(answer.headers, [['Content-Length', '700']]);
    await eventually('it is over', () => way.figure('requests_in_flight') === 0);
    assert.equal(await bodyText(answer), '');
  });

  it('302 is an answer: nobody follows it', async () => {
    const answer = await way.get(at('/redirect'));
    assert.equal(answer.status, 302);
    assert.deepEqual(answer.headers[0], ['Location', 'http://10.0.0.1/']);
    await bodyText(answer);
    assert.ok(way.dialled.every((address) => address === '127.0.0.1'));
  });

  it('headers of an answer come in order and one by one, without those about the connection', async () => {
    const answer = await way.get(at('/cookies'));
    assert.deepEqual(answer.headers, [
      ['Set-Cookie', 'a=1'],
      ['set-cookie', 'b=2'],
      ['X-Bytes', '\xc3\xa9'],
      ['Content-Length', '0'],
    ]);
    await bodyText(answer);
    const many = await way.get(at('/many-headers'));
    assert.equal(many.headers.length, 5_001);
    await bodyText(many);
  });

  for (const [path, code] of [
    ['/upgrade', 'bad_answer'],
    ['/garbage', 'bad_answer'],
    ['/both-lengths', 'bad_answer'],
    ['/two-lengths', 'bad_answer'],
    ['/huge-head', 'too_large'],
    ['/nothing', 'unreachable'],
    ['/reset', 'unreachable'],
    ['/half', 'unreachable'],
    ['/half-chunk', 'unreachable'],
  ] as const) {
    it(`${path} is ${code}`, async () => {
      const before = way.figure('requests_total', code);
      const failure = await failureFrom(way.get(at(path)).then(bodyText));
      assert.equal(failure.code, code);
      assert.doesNotMatch(`${failure.message} ${failure.stack?.split('\n')[0]}`, /public\.test|127\.0\.0\.1|half|SSH/);
      await eventually('it is counted once', () => way.figure('requests_total', code) === before + 1);
    });
  }

  for (const [path, bounds, code] of [
    ['/silent', { headersMs: 50 }, 'timeout'],
    ['/endless-head', { headersMs: 50 }, 'timeout'],
    ['/slow-body', { idleMs: 50 }, 'timeout'],
    ['/endless', { totalMs: 100 }, 'timeout'],
    ['/silent', { totalMs: 50 }, 'timeout'],
    ['/endless', { answerBytesMax: 100_000 }, 'too_large'],
    ['/announced', { answerBytesMax: 100_000 }, 'too_large'],
  ] as const) {
    it(`${path} within ${JSON.stringify(bounds)} is ${code}, and its connection is closed`, async () => {
      const failure = await failureFrom(way.get(at(path), { bounds }).then(bodyText));
      assert.equal(failure.code, code);
      await eventually('nothing is in flight', () => way.figure('requests_in_flight') === 0);
      await eventually('only idle ones are open', () => server.open() === way.figure('connections_idle'));
    });
  }

  it('a body that nobody reads is given up, and so is its connection', async () => {
    const answer = await way.get(at('/endless'), { bounds: { unreadMs: 50 } });
    await eventually('nothing is in flight', () => way.figure('requests_in_flight') === 0);
    assert.equal((await failureFrom(bodyText(answer))).code, 'aborted');
    const small = await way.get(at('/plain'), { bounds: { unreadMs: 50 } });
    await eventually('nothing is in flight', () => way.figure('requests_in_flight') === 0);
    assert.equal((await failureFrom(bodyText(small))).code, 'aborted');
  });

  it('a slow reader holds the destination back, and one who leaves frees the connection', async () => {
    endlessBytes = 0;
    for await (const piece of (await way.get(at('/endless'))).body) {
      assert.ok(piece.length > 0);
      for (let sent = 0; sent < 200; sent += 1) await bodyText(await way.get(at('/plain')));
      break;
    }
    assert.ok(endlessBytes < 32 * 1024 * 1024, `${endlessBytes} bytes were sent to a reader who had taken one piece`);
    await eventually('nothing is in flight', () => way.figure('requests_in_flight') === 0);
    await eventually('only idle ones are open', () => server.open() === way.figure('connections_idle'));
  });

  it('a connection is used again by the same tenant, and by no other', async () => {
    await bodyText(await way.get(at('/plain')));
    await eventually('it is idle', () => way.figure('connections_idle') > 0);
    const count = server.count();
    for (let sent = 0; sent < 5; sent += 1) await bodyText(await way.get(at('/plain')));
    assert.equal(server.count(), count);
    await bodyText(await way.get(at('/plain'), { tenantId: OTHER_TENANT }));
    assert.equal(server.count(), count + 1);
  });

  it('a destination that speaks on an idle connection loses it: its words are not the next answer', async () => {
    const sockets: Socket[] = [];
    const talker = await rawServer((socket, text) => {
      sockets.push(socket);
      SCRIPT[text.split(' ')[1] ?? '']?.(socket, text);
    });
    const patient = wayOut({ allow: [`http://127.0.0.1:${talker.port}`], idleMs: 600_000 });
    const url = `http://127.0.0.1:${talker.port}/plain`;
    assert.equal(await bodyText(await patient.get(url)), 'hello');
    await eventually('it is idle', () => patient.figure('connections_idle') === 1);
    sockets[0]?.write('HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\npoisoned');
    await eventually('it is closed', () => talker.open() === 0);
    assert.equal(await bodyText(await patient.get(url)), 'hello');
    assert.equal(talker.count(), 2);
    await patient.close();
    await talker.close();
  });

  it('idle connections are closed after a while', async () => {
    const hasty = wayOut({ allow: [`http://127.0.0.1:${server.port}`], idleMs: 20 });
    await bodyText(await hasty.get(`http://127.0.0.1:${server.port}/plain`));
    await eventually('none is idle', () => hasty.figure('connections_idle') === 0);
    await hasty.close();
  });
});
