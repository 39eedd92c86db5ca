import assert from 'node:assert/strict';
import type { ClientRequest } from 'node:http';
import { request as send } from 'node:http';
import { connect } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { exchange, message } from '../../testing/raw-http.js';
import type { RouteServer } from '../../testing/route-server.js';
import { CALLER, startRouteServer } from '../../testing/route-server.js';
import type { Seen } from './stream-fixture.js';
import { answerOf, authenticate, NOTHING_SEEN, PIECE, streamRoutes } from './stream-fixture.js';

describe('routes of the kind stream', () => {
  let server: RouteServer;
  const seen: Seen = { ...NOTHING_SEEN };
  const open: ClientRequest[] = [];
  before(async () => {
    server = await startRouteServer(streamRoutes(seen), { authenticate });
  });
  after(() => server.close());
  afterEach(() => {
    for (const each of open.splice(0)) each.destroy();
    Object.assign(seen, NOTHING_SEEN);
    server.faults.length = 0;
    server.answered.length = 0;
  });

  function start(method: string, path: string, headers: Record<string, string> = {}): ClientRequest {
    const sent = send({ port: server.port, method, path, headers, agent: false });
    sent.on('error', () => {});
    open.push(sent);
    return sent;
  }

  it('404 and any other problem before there is an answer, also where the source breaks before its first piece', async () => {
    const before = await server.call('GET', '/fails/before');
    assert.deepEqual([before.status, before.json.code], [404, 'not_found']);
    const first = await server.call('GET', '/fails/first');
    assert.deepEqual([first.status, first.json.code], [500, 'internal_error']);
    assert.match(String(server.faults), /the source broke/);
  });

  it('breaks off when the source breaks in the middle, so that nobody takes a part for the whole', async () => {
    const answer = await answerOf(start('GET', '/fails/after').end());
    assert.equal(answer.statusCode, 200);
    await assert.rejects(async () => {
      for await (const piece of answer) assert.ok(piece.length > 0);
    }, /aborted/);
    assert.match(String(server.faults), /the source broke/);
    assert.deepEqual(server.answered, ['GET /fails/:when 200']);
  });

  it('a client of HTTP/1.0, which knows no chunks, sees an error and no end when the source breaks in the middle', async () => {
    // A byte at a time: where more is asked for than there is, the platform takes a reset behind it for an end.
    const ended = (path: string) =>
      new Promise<{ readonly bytes: number; readonly code: string | undefined }>((resolve) => {
        let bytes = 0;
        let code: string | undefined;
        const callback = (): boolean => {
          bytes += 1;
          return true;
        };
        const socket = connect({ port: server.port, host: '127.0.0.1', onread: { buffer: Buffer.alloc(1), callback } });
        socket.on('error', (error: NodeJS.ErrnoException) => {
          code = error.code;
        });
        socket.once('close', () => resolve({ bytes, code }));
        socket.write(`GET ${path} HTTP/1.0\r\nHost: h\r\n\r\n`);
      });
    const whole = await ended('/any/x');
    assert.ok(whole.bytes > PIECE.length && whole.code === undefined, JSON.stringify(whole));
    for (const path of ['/fails/after', '/slow-body']) assert.equal((await ended(path)).code, 'ECONNRESET', path);
  });

  it('413 for more bytes than the record allows, told beforehand or not', async () => {
    const told = start('POST', '/sink', { 'Content-Length': '1000001' });
    told.flushHeaders();
    assert.equal((await answerOf(told)).statusCode, 413);
    assert.equal(seen.consumed, 0);
    const untold = start('POST', '/sink', { 'Transfer-Encoding': 'chunked' });
    for (let sent = 0; sent < 1_100_000; sent += PIECE.length) untold.write(PIECE);
    untold.end();
    assert.equal((await answerOf(untold)).statusCode, 413);
    assert.ok(seen.consumed <= 1_000_000);
  });

  it('100 only when the handler wants the body, and its answer at once when it does not', async () => {
    const expecting = (path: string) =>
      message(`POST ${path}`, 'Host: h', 'Content-Length: 5', 'Expect: 100-continue', 'Connection: close');
    const heard = await talk(expecting('/sink'), '12345');
    assert.match(heard, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 202 /);
    assert.match(await talk(expecting('/early')), /^HTTP\/1\.1 403 [\s\S]*\r\nConnection: close\r\n/);
  });

  /** Sends the rest once something was heard. */
  function talk(first: string, rest = ''): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(server.port, '127.0.0.1', () => socket.write(first));
      let heard = '';
      socket.setEncoding('latin1').on('data', (text) => {
        if (heard === '' && rest !== '') socket.write(rest);
        heard += text;
      });
      socket.once('end', () => resolve(heard)).once('error', reject);
    });
  }

  it('any path behind the open end, any of its methods, any status, and no header that is the server’s own', async () => {
    const { status, headers, text } = await server.call('DELETE', '/any/a%2Fb//c/?q=%20&q');
    assert.deepEqual([status, text.length, headers.get('x-own')], [207, PIECE.length, 'kept']);
    assert.deepEqual([headers.get('set-cookie'), headers.get('access-control-allow-origin')], [null, null]);
    assert.notEqual(headers.get('connection'), 'upgrade');
    assert.deepEqual([headers.get('cache-control'), headers.get('x-content-type-options')], ['no-store', 'nosniff']);
    assert.deepEqual([seen.asked?.params['*'], seen.asked?.rawQuery], ['/a%2Fb//c/', 'q=%20&q']);
    assert.equal((await server.call('GET', '/any')).status, 207);
    const refused = await server.call('PUT', '/any/x');
    assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD, POST, DELETE, OPTIONS']);
  });

  it('HEAD reaches the handler as such, and is answered without a body', async () => {
    const { status, text, headers } = await server.call('HEAD', '/any/x');
    assert.deepEqual([status, text, headers.get('content-type')], [207, '', 'text/plain']);
    assert.equal(seen.asked?.method, 'HEAD');
    assert.equal(seen.isSourceEnded, false, 'the source was never begun');
  });

  it('401 and 403 before a byte of the body is read, 200 without a key where it is optional, never with a bad one', async () => {
    assert.equal((await server.call('GET', '/keyed')).status, 401);
    assert.equal((await server.call('GET', '/keyed', { key: 'good' })).headers.get('x-tenant'), CALLER.tenantId);
    assert.equal((await server.call('GET', '/optional')).headers.get('x-tenant'), 'none');
    assert.equal((await server.call('GET', '/optional', { key: 'good' })).headers.get('x-tenant'), CALLER.tenantId);
    assert.equal((await server.call('GET', '/optional', { key: 'bad' })).status, 401);
    const withheld = message('POST /denied', 'Host: h', 'SVC-API-KEY: good', 'Content-Length: 5');
    assert.equal((await exchange(server.port, withheld, 1))[0]?.status, 403);
  });

  it('is open to other origins exactly where keys are used', async () => {
    const open = await server.call('GET', '/keyed', { key: 'good' });
    assert.equal(open.headers.get('access-control-allow-origin'), '*');
    assert.equal((await server.call('GET', '/keyed')).headers.get('access-control-allow-origin'), '*');
    assert.equal((await server.call('GET', '/any')).headers.get('access-control-allow-origin'), null);
  });
});
