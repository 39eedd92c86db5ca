import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { listenForScrapes } from '../../telemetry/metrics-listener.js';
import { exchange } from '../../testing/raw-http.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

/** Sends bytes and resets the connection once they are handed to the kernel. Resolves when the socket is gone. */
function sendAndReset(port: number, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      socket.write(bytes, 'latin1', () => socket.resetAndDestroy());
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve());
  });
}

/** Sends bytes and resets the connection when the first byte of an answer comes: the server is writing then. */
function resetDuringAnswer(port: number, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      socket.write(bytes, 'latin1');
    });
    socket.once('data', () => socket.resetAndDestroy());
    socket.on('error', () => {});
    socket.once('close', () => resolve());
  });
}

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n';
const CONNECT = 'CONNECT x HTTP/1.1\r\n\r\n';

/** One request for each event with which Node hands out a bare socket, and for those that end before a request is known. */
const REQUESTS: Readonly<Record<string, string>> = {
  connect: CONNECT,
  'connect with a host and bytes for the tunnel': 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n\x16\x03\x01\x02\x00',
  'connect behind another request': HEALTH + CONNECT,
  upgrade: 'GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'an expectation': 'POST /tokens HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}',
  'an unknown expectation': 'POST /tokens HTTP/1.1\r\nHost: h\r\nExpect: x\r\nContent-Length: 2\r\n\r\n{}',
  'text that is not HTTP': 'hello there\r\n\r\n',
  'a TLS greeting': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
};

const HEADERS_TOO_LARGE = `GET / HTTP/1.1\r\nX: ${'a'.repeat(20_000)}`;
const AT_ONCE = 250;
const MANY = 10_000;

describe('connections that the client resets', () => {
  let app: TestApp;
  let scrapes: Awaited<ReturnType<typeof listenForScrapes>>;
  before(async () => {
    app = await startTestApp();
    scrapes = await listenForScrapes({ render: () => 'up 1\n' }, '127.0.0.1', 0);
  });
  after(async () => {
    await scrapes.close();
    await app.close();
  });

  async function assertServing(): Promise<void> {
    for (const [port, target] of [
      [app.port, '/healthz'],
      [scrapes.port, '/metrics'],
    ] as const) {
      const [answer] = await exchange(port, `GET ${target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
      assert.equal(answer?.status, 200, target);
    }
  }

  for (const [name, request] of Object.entries(REQUESTS)) {
    it(`at every byte of ${name}: the process serves on`, async () => {
      for (const { port } of [app, scrapes]) {
        await Promise.all(
          Array.from({ length: request.length }, (_, at) => sendAndReset(port, request.slice(0, at + 1))),
        );
        await Promise.all(Array.from({ length: 20 }, () => resetDuringAnswer(port, request)));
      }
      await assertServing();
    });
  }

  it('behind headers that are too large: the process serves on', async () => {
    for (const { port } of [app, scrapes]) {
      await Promise.all(Array.from({ length: 50 }, () => sendAndReset(port, HEADERS_TOO_LARGE)));
    }
    await assertServing();
  });

  it('behind ten thousand CONNECT requests: the process serves on', async () => {
    for (let sent = 0; sent < MANY; sent += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => sendAndReset(app.port, CONNECT)));
    }
    await assertServing();
  });

  it('405 for CONNECT, after the answer to an earlier request on the same connection', async () => {
    const answers = await exchange(app.port, HEALTH + CONNECT);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 405],
    );
    assert.equal(JSON.parse(answers[1]?.body ?? '{}').code, 'method_not_allowed');
  });
});
