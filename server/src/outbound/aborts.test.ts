import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { createDeferred } from '../kernel/deferred.js';
import { eventually } from '../testing/eventually.js';
import type { Listening, Way } from './outbound-fixture.js';
import { bodyText, failureFrom, rawServer, wayOut } from './outbound-fixture.js';

describe('a caller who gives up', () => {
  let server: Listening;
  let way: Way;
  let origin: string;
  let requests = 0;
  const silentName = createDeferred<readonly string[]>();
  before(async () => {
    server = await rawServer((socket, text) => {
      requests += 1;
      if (text.startsWith('GET /begin')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
      if (text.startsWith('GET /whole')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhalf');
    });
    way = wayOut({
      allow: [`http://127.0.0.1:${server.port}`, `127.0.0.1:${server.port}`, 'http://127.0.0.9'],
      resolve: (name) => (name === 'silent.test' ? silentName.promise : Promise.resolve(['127.0.0.1'])),
    });
    origin = `http://public.test:${server.port}`;
  });
  afterEach(async () => {
    await eventually('nothing is in flight', () => way.figure('requests_in_flight') === 0);
    await eventually('only idle ones are open', () => server.open() === way.figure('connections_idle'));
  });
  after(async () => {
    await way.close();
    await server.close();
  });

  it('before it began: nothing is dialled', async () => {
    const dialled = way.dialled.length;
    assert.equal((await failureFrom(way.get(origin, { signal: AbortSignal.abort() }))).code, 'aborted');
    assert.equal(way.dialled.length, dialled);
  });

  it('before it began, where a connection waits for the next request: nothing is sent on it', async () => {
    assert.equal(await bodyText(await way.get(`${origin}/whole`)), 'half');
    await eventually('it waits', () => way.figure('connections_idle') === 1);
    const before = requests;
    assert.equal((await failureFrom(way.get(`${origin}/whole`, { signal: AbortSignal.abort() }))).code, 'aborted');
    assert.equal(await bodyText(await way.get(`${origin}/whole`)), 'half');
    assert.equal(requests, before + 1);
  });

  it('while the name is resolved', async () => {
    const caller = new AbortController();
    const call = failureFrom(way.get(`http://silent.test:${server.port}/`, { signal: caller.signal }));
    await eventually('it has its place', () => way.figure('requests_in_flight') === 1);
    caller.abort();
    assert.equal((await call).code, 'aborted');
  });

  it('while the connection is made: it is closed', async () => {
    const sockets: Socket[] = [];
    const stuck = wayOut({
      names: { 'public.test': ['93.184.216.34'] },
      dial() {
        const socket = new Socket(); // Never connects.
        sockets.push(socket);
        return socket;
      },
    });
    const caller = new AbortController();
    const call = failureFrom(stuck.get('https://public.test/', { signal: caller.signal }));
    await eventually('it is dialled', () => sockets.length === 1);
    caller.abort();
    assert.equal((await call).code, 'aborted');
    await eventually('the socket is closed', () => sockets[0]?.destroyed === true);
    assert.equal(stuck.figure('requests_in_flight'), 0);
    await stuck.close();
  });

  it('while TLS is negotiated', async () => {
    const caller = new AbortController();
    const call = failureFrom(way.get(`https://public.test:${server.port}/`, { signal: caller.signal }));
    await eventually('it is connected', () => server.open() > way.figure('connections_idle'));
    caller.abort();
    assert.equal((await call).code, 'aborted');
  });

  it('while the answer is awaited', async () => {
    const caller = new AbortController();
    const before = requests;
    const call = failureFrom(way.get(`${origin}/silent`, { signal: caller.signal }));
    await eventually('it has arrived', () => requests === before + 1);
    caller.abort();
    assert.equal((await call).code, 'aborted');
  });

  it('while the body is sent: the body is left', async () => {
    const caller = new AbortController();
    let isLeft = false;
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        for (;;) yield Buffer.alloc(65_536);
      } finally {
        isLeft = true;
      }
    }
    const before = requests;
    const call = failureFrom(way.get(origin, { method: 'POST', body: endless(), signal: caller.signal }));
    await eventually('it has begun', () => requests > before);
    caller.abort();
    assert.equal((await call).code, 'aborted');
    await eventually('the body is left', () => isLeft);
  });

  for (const [path, what] of [
    ['/begin', 'half of the answer'],
    ['/whole', 'the whole answer, unread'],
  ] as const) {
    it(`with ${what} there`, async () => {
      const caller = new AbortController();
      const answer = await way.get(`${origin}${path}`, { signal: caller.signal });
      caller.abort();
      assert.equal((await failureFrom(bodyText(answer))).code, 'aborted');
    });
  }

  it('in the middle of reading', async () => {
    const caller = new AbortController();
    const answer = await way.get(`${origin}/begin`, { signal: caller.signal });
    const reading = failureFrom(
      (async () => {
        for await (const _piece of answer.body) caller.abort();
      })(),
    );
    assert.equal((await reading).code, 'aborted');
  });

  it('after the end changes nothing: the connection serves the next request', async () => {
    const caller = new AbortController();
    assert.equal(await bodyText(await way.get(`${origin}/whole`, { signal: caller.signal })), 'half');
    const count = server.count();
    caller.abort();
    assert.equal(await bodyText(await way.get(`${origin}/whole`)), 'half');
    assert.equal(server.count(), count);
  });

  it('close aborts what is under way and refuses what comes later', async () => {
    const closing = wayOut({ allow: [`http://127.0.0.1:${server.port}`] });
    const url = `http://127.0.0.1:${server.port}`;
    const awaited = failureFrom(closing.get(`${url}/silent`));
    const unread = await closing.get(`${url}/begin`);
    await closing.close();
    assert.equal((await awaited).code, 'aborted');
    assert.equal((await failureFrom(bodyText(unread))).code, 'aborted');
    assert.equal((await failureFrom(closing.get(url))).code, 'aborted');
    assert.equal(closing.figure('requests_in_flight'), 0);
  });
});
