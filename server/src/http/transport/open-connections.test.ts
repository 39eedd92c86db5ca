import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import { startTestApp } from '../../testing/test-app.js';
import type { HttpListener } from './listener.js';
import { createListener } from './listener.js';

const IDLE_SECONDS = 1;
const REQUEST = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

describe('connections that do nothing', () => {
  let listener: HttpListener;
  let port: number;
  let clients: Socket[];
  /** Answers wait here until a test sends them. */
  let held: ServerResponse[];
  let isHolding: boolean;

  beforeEach(async () => {
    clients = [];
    held = [];
    isHolding = false;
    listener = createListener({
      keepAliveSeconds: IDLE_SECONDS,
      look: () => {},
      receive: (_request, response) => {
        if (isHolding) held.push(response);
        else response.end('answer');
      },
    });
    port = await listener.listen('127.0.0.1', 0);
  });
  afterEach(async () => {
    for (const client of clients) client.destroy();
    await listener.close();
  });

  async function open(): Promise<Socket> {
    const client = connect(port, '127.0.0.1');
    clients.push(client);
    await once(client, 'connect');
    return client;
  }

  async function ask(client: Socket): Promise<string> {
    client.write(REQUEST);
    const [answer]: Buffer[] = await once(client, 'data');
    return String(answer);
  }

  /** An idle connection of its own tells when the time of all that were idle before is over. */
  async function idleTime(): Promise<void> {
    const other = await open();
    await ask(other);
    await once(other.resume(), 'close');
  }

  it('are closed once the time they were told is over, and not before', async () => {
    const client = await open();
    assert.match(await ask(client), new RegExp(`\\r\\nKeep-Alive: timeout=${IDLE_SECONDS}\\r\\n`));
    const sinceMs = performance.now();
    await once(client.resume(), 'close');
    const ms = performance.now() - sinceMs;
    assert.ok(ms >= IDLE_SECONDS * 1_000, `closed after ${ms} ms`);
  });

  it('stay open while they wait for an answer, and their time begins with it', async () => {
    isHolding = true;
    const client = await open();
    client.write(REQUEST);
    await eventually('the request is there', () => held.length === 1);
    isHolding = false;
    await idleTime();
    const answered = once(client, 'data');
    held[0]?.end('late');
    await answered;
    assert.match(await ask(client), /^HTTP\/1\.1 200 /);
  });

  it('count the beginning of a request as something', async () => {
    const longer = createListener({
      keepAliveSeconds: IDLE_SECONDS + 2,
      look: () => {},
      receive: (_request, response) => response.end('answer'),
    });
    const longPort = await longer.listen('127.0.0.1', 0);
    try {
      const [client, other] = [connect(longPort, '127.0.0.1'), connect(longPort, '127.0.0.1')];
      clients.push(client, other);
      await Promise.all([ask(client), ask(other)]);
      await idleTime();
      assert.equal(other.closed, false, 'the longer time is not over');
      client.write(REQUEST.slice(0, 20));
      await once(other.resume(), 'close');
      assert.equal(client.closed, false);
      client.write(REQUEST.slice(20));
      let heard = '';
      client.on('data', (text) => {
        heard += String(text);
      });
      await eventually('it is answered', () => heard.endsWith('answer'));
    } finally {
      await longer.close();
    }
  });

  it('stay open as long as the service tells its clients', async () => {
    const app = await startTestApp();
    try {
      const client = connect(app.port, '127.0.0.1', () => client.write('GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n'));
      clients.push(client);
      const [answer]: Buffer[] = await once(client, 'data');
      assert.match(String(answer), /\r\nKeep-Alive: timeout=72\r\n/);
    } finally {
      await app.close();
    }
  });

  it('are closed at once when the service stops, and those that wait for an answer behind it', async () => {
    const [idle, busy] = [await open(), await open()];
    await ask(idle);
    isHolding = true;
    busy.write(REQUEST);
    await eventually('the request is there', () => held.length === 1);
    const closed = listener.close();
    await once(idle.resume(), 'close');
    let heard = '';
    busy.setEncoding('latin1').on('data', (text) => {
      heard += text;
    });
    held[0]?.end('late');
    await Promise.all([once(busy, 'close'), closed]);
    assert.match(heard, /late$/);
  });

  it('do not count as such while a slow client is still reading its answer: a service that stops lets it finish', async () => {
    const app = await startTestApp();
    const path = '/docs/swagger-ui-bundle.js';
    const answers = 8; // More than the system keeps for a connection.
    const client = connect(app.port, '127.0.0.1').pause();
    client.write(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`.repeat(answers));
    const answered = (): number => app.logLines.join('').split(`GET ${path}`).length - 1;
    await eventually('all are answered', () => answered() === answers);
    let heard = '';
    client.setEncoding('latin1').on('data', (text) => {
      heard += text;
    });
    const left = new Promise((resolve) => client.once('error', resolve).once('close', resolve));
    client.resume();
    await Promise.all([app.close(), left]);
    const [, ...bodies] = heard.split(/HTTP\/1\.1 200 OK\r\n(?:[^\r]+\r\n)+\r\n/);
    assert.equal(bodies.length, answers);
    assert.equal(bodies.at(-1)?.length, bodies[0]?.length);
  });
});
