import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createDeferred } from '../kernel/deferred.js';
import { eventually } from '../testing/eventually.js';
import type { Listening, Way } from './outbound-fixture.js';
import { bodyText, failureFrom, listening, OTHER_TENANT, TENANT, wayOut } from './outbound-fixture.js';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: readonly string[];
  readonly body: string;
}

describe('what a destination gets', () => {
  let server: Listening;
  let way: Way;
  let seen: Seen[] = [];
  let origin: string;
  let hold: Promise<void> | undefined;
  let atOnce = 0;
  let atOnceMost = 0;
  before(async () => {
    server = await listening(
      createServer({ keepAliveTimeout: 600_000 }, async (request, response) => {
        if (request.url === '/early') {
          response.end('enough');
          return;
        }
        atOnce += 1;
        atOnceMost = Math.max(atOnceMost, atOnce);
        const pieces: Buffer[] = [];
        request.on('error', () => {});
        try {
          for await (const piece of request.iterator({ destroyOnReturn: false })) pieces.push(piece);
        } catch {
          atOnce -= 1; // One that was given up in the middle.
          return;
        }
        const { method, url, rawHeaders } = request;
        seen.push({ method, url, headers: rawHeaders, body: Buffer.concat(pieces).toString('latin1') });
        await hold;
        atOnce -= 1;
        response.end('ok');
      }),
    );
    origin = `http://public.test:${server.port}`;
    way = wayOut({
      allow: [`http://127.0.0.1:${server.port}`],
      names: { 'public.test': ['127.0.0.1'] },
      requestsMax: 64,
    });
  });
  after(async () => {
    await way.close();
    await server.close();
  });

  async function sent(more: Partial<Parameters<Way['send']>[0]>): Promise<Seen> {
    seen = [];
    await bodyText(await way.get(`${origin}/p?q=1#fragment`, more));
    return seen[0] ?? assert.fail('nothing arrived');
  }

  it('a connection that the caller wants closed in any of its words is not used again, whatever the destination says', async () => {
    let connections = 0;
    const raw = await listening(
      createTcpServer((socket) => {
        connections += 1;
        socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')).on('error', () => {});
      }),
    );
    const own = wayOut({ allow: [`http://127.0.0.1:${raw.port}`] });
    try {
      const call = async (...words: string[]) =>
        bodyText(
          await own.get(`http://127.0.0.1:${raw.port}/`, {
            connectionHeaders: words.map((word) => ['Connection', word]),
          }),
        );
      await call('keep-alive');
      await call('keep-alive', 'keep-alive');
      assert.equal(connections, 1);
      await call('keep-alive', 'Close');
      await call();
      assert.equal(connections, 2);
      await call('close', 'keep-alive');
      await call();
      assert.equal(connections, 3);
    } finally {
      await own.close();
      await raw.close();
    }
  });

  it('method, path and query, headers as they were written and in order, and the host of the URL', async () => {
    const headers = [
      ['X-One', 'a'],
      ['x-one', 'b'],
      ['Authorization', 'Bearer x'],
      ['X-Bytes', '\xe9'],
      ['X-Empty', ''],
    ] as const;
    const arrived = await sent({ headers });
    assert.deepEqual(arrived, {
      method: 'GET',
      url: '/p?q=1',
      headers: ['Host', `public.test:${server.port}`, ...headers.flat(), 'Connection', 'keep-alive'],
      body: '',
    });
  });

  it('no header about the connection, nor one of ours, by whatever spelling', async () => {
    const headers = [
      ...['Connection', 'keep-alive', 'TE', 'Trailer', 'Transfer-encoding', 'upgrade', 'HTTP2-Settings'],
      ...['host', 'HOST', 'Content-Length', 'Expect', 'Proxy-Authorization', 'proxy-connection', 'Proxy-X', 'X-Named'],
    ].map((name) => [name, name === 'Connection' ? 'close, x-named' : '100-continue'] as const);
    const arrived = await sent({ headers, method: 'POST', body: Buffer.from('abc') });
    assert.deepEqual(arrived.headers, [
      ...['Host', `public.test:${server.port}`],
      ...['Content-Length', '3', 'Connection', 'keep-alive'],
    ]);
    assert.equal(arrived.body, 'abc');
  });

  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    it(`${method} with a body, without one, and with one in pieces`, async () => {
      const lengthOf = ({ headers }: Seen): string | undefined => headers[headers.indexOf('Content-Length') + 1];
      const withBody = await sent({ method, body: Buffer.from('body') });
      assert.equal(withBody.body, 'body');
      assert.equal(lengthOf(withBody), '4');
      const bare = await sent({ method });
      assert.equal(bare.headers.includes('Content-Length'), ['POST', 'PUT', 'PATCH'].includes(method));
      assert.ok(!bare.headers.includes('Transfer-Encoding'));
      const inPieces = await sent({ method, body: pieces('one', 'two') });
      assert.equal(inPieces.body, 'onetwo');
      assert.ok(inPieces.headers.includes('chunked'));
      const announced = await sent({ method, body: pieces('one', 'two'), bodyBytes: 6 });
      assert.equal(announced.body, 'onetwo');
      assert.equal(lengthOf(announced), '6');
    });
  }

  it('large bodies in pieces, as fast as it takes them', async () => {
    const arrived = await sent({ method: 'POST', body: pieces(...Array(64).fill('x'.repeat(64 * 1024))) });
    assert.equal(arrived.body.length, 4 * 1024 * 1024);
  });

  for (const [why, more] of [
    ['throws', { body: failing() }],
    ['is shorter than announced', { body: pieces('abc'), bodyBytes: 4 }],
    ['is longer than announced', { body: pieces('abc', 'de'), bodyBytes: 4 }],
  ] as const) {
    it(`fails the call when the body ${why}`, async () => {
      const failure = await failureFrom(way.get(origin, { method: 'POST', ...more }));
      assert.equal(failure.code, 'body_failed');
      assert.doesNotMatch(failure.message, /secret/);
      await eventually('nothing is in flight', () => way.figure('requests_in_flight') === 0);
    });
  }

  it('an answer that is complete before the body is sent ends the request; the connection is not used again', async () => {
    const never = createDeferred<void>();
    async function* stuck(): AsyncGenerator<Buffer> {
      yield Buffer.from('begin');
      await never.promise;
    }
    const answer = await way.get(`${origin}/early`, { method: 'POST', body: stuck() });
    assert.equal(await bodyText(answer), 'enough');
    await eventually('nothing is in flight', () => way.figure('requests_in_flight') === 0);
    await eventually('only idle ones are open', () => server.open() === way.figure('connections_idle'));
    never.resolve();
  });

  for (const [what, more] of [
    ['a header name with a line end', { headers: [['x\r\nHost', 'y']] }],
    ['a header value with a line end', { headers: [['x', 'y\r\nHost: z']] }],
    ['a header value with NUL', { headers: [['x', 'a\0b']] }],
    ['a header value beyond a byte', { headers: [['x', 'ā']] }],
    ['an empty header name', { headers: [['', 'x']] }],
    ['a header name with a colon', { headers: [['a:b', 'x']] }],
    ['64 KiB of headers', { headers: [['x', 'y'.repeat(65_536)]] }],
    ['headers of another shape', { headers: 'zzz' }],
    ['a header that is no pair', { headers: [['x']] }],
    ['a header that is no text', { headers: [['x', 7]] }],
    ['CONNECT', { method: 'CONNECT' }],
    ['TRACE', { method: 'TRACE' }],
    ['a method in lower case', { method: 'get' }],
    ['a method with more in it', { method: 'GET / HTTP/1.1\r\nHost: x\r\n\r\nGET' }],
    ['a method that is no text', { method: ['GET'] }],
    ['a URL that is no text', { url: { toString: () => 'https://x.test' } }],
    ['a relative URL', { url: '/x' }],
    ['a URL of 16 KiB', { url: `https://x.test/${'x'.repeat(16_400)}` }],
  ] as const) {
    it(`nothing, and the caller "invalid", for ${what}`, async () => {
      seen = [];
      const given = { tenantId: TENANT, method: 'GET', url: `${origin}/`, headers: [], ...more };
      const failure = await failureFrom(way.send(given as never)); // Hostile input is of any shape.
      assert.equal(failure.code, 'invalid');
      assert.deepEqual(seen, []);
    });
  }

  it('of 1,000 parallel requests no more than the shares at once, and all in the end', async () => {
    atOnceMost = 0;
    const count = server.count();
    const calls = Array.from({ length: 1_000 }, () => way.get(origin).then(bodyText));
    assert.deepEqual(new Set(await Promise.all(calls)), new Set(['ok']));
    assert.ok(atOnceMost <= 16, `${atOnceMost} at once, a quarter of 64 for one destination`);
    assert.ok(server.count() - count <= 64, 'connections were used again');
    await eventually('nothing is in flight', () => way.figure('requests_in_flight') === 0);
    assert.equal(way.figure('requests_waiting'), 0);
  });

  it('one tenant’s flood leaves places for another, and past 1,024 waiting it is told', async () => {
    const gate = createDeferred<void>();
    hold = gate.promise;
    const flood = Array.from({ length: 1_100 }, () =>
      way.get(origin).then(bodyText, (error: { code: string }) => error.code),
    );
    const other = way.get(origin, { tenantId: OTHER_TENANT }).then(bodyText);
    await eventually('both are served', () => atOnce === 17);
    assert.equal(way.figure('requests_waiting'), 1_024);
    const late = await failureFrom(way.get(origin, { tenantId: TENANT, bounds: { connectMs: 5 } }));
    assert.equal(late.code, 'busy');
    gate.resolve();
    hold = undefined;
    assert.equal(await other, 'ok');
    const outcomes = await Promise.all(flood);
    assert.equal(outcomes.filter((outcome) => outcome === 'busy').length, 1_100 - 1_024 - 16);
    assert.equal(outcomes.filter((outcome) => outcome === 'ok').length, 1_024 + 16);
  });

  it('one who waits for a place gives up in time', async () => {
    const gate = createDeferred<void>();
    hold = gate.promise;
    const held = Array.from({ length: 16 }, () => way.get(origin).then(bodyText));
    await eventually('the places are taken', () => atOnce === 16);
    const late = await failureFrom(way.get(origin, { bounds: { connectMs: 20 } }));
    assert.equal(late.code, 'busy');
    const caller = new AbortController();
    const waiting = failureFrom(way.get(origin, { signal: caller.signal }));
    await eventually('it waits', () => way.figure('requests_waiting') === 1);
    caller.abort();
    assert.equal((await waiting).code, 'aborted');
    assert.equal(way.figure('requests_waiting'), 0);
    gate.resolve();
    hold = undefined;
    await Promise.all(held);
  });
});

async function* pieces(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

async function* failing(): AsyncGenerator<Buffer> {
  yield Buffer.from('begin');
  throw new Error('secret');
}
