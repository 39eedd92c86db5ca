import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import { startTestApp } from '../../testing/test-app.js';
import { watchIdleConnections } from './idle-connections.js';
import { trackExchange } from './last-exchange.js';

const IDLE_MS = 72_000;
const REQUEST = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

describe('connections that do nothing', () => {
  let clock: FakeClock;
  let server: Server;
  let look: () => void;
  let clients: Socket[];
  /** Answers wait here until a test sends them. */
  let held: ServerResponse[];
  let isHolding: boolean;
  /** The server's ends. */
  let accepted: Socket[];

  beforeEach(async () => {
    clock = createFakeClock(0);
    clients = [];
    held = [];
    isHolding = false;
    accepted = [];
    server = createServer({ keepAliveTimeout: 0 }, (request: IncomingMessage, response: ServerResponse) => {
      trackExchange(request, response);
      if (isHolding) held.push(response);
      else response.end('answer');
    });
    server.on('connection', (socket) => accepted.push(socket));
    ({ look } = watchIdleConnections(server, clock, IDLE_MS));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    for (const client of clients) client.destroy();
    server.close();
    await once(server, 'close');
  });

  async function open(): Promise<Socket> {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1'); // It listens on a port.
    clients.push(client);
    await Promise.all([once(client, 'connect'), once(server, 'connection')]);
    return client;
  }

  async function ask(client: Socket): Promise<void> {
    client.write(REQUEST);
    await once(client, 'data');
  }

  it('are closed once the time is over, and not before', async () => {
    const client = await open();
    await ask(client);
    look();
    clock.advance(IDLE_MS - 1);
    look();
    await ask(client);
    look();
    clock.advance(IDLE_MS);
    const closed = once(client, 'close');
    look();
    await closed;
  });

  it('stay open while they wait for an answer, and their time begins with it', async () => {
    isHolding = true;
    const client = await open();
    client.write(REQUEST);
    await once(server, 'request');
    for (let times = 0; times < 5; times += 1) {
      look();
      clock.advance(IDLE_MS);
    }
    look();
    const answered = once(client, 'data');
    held[0]?.end('late');
    await answered;
    look();
    clock.advance(IDLE_MS - 1);
    look();
    isHolding = false;
    await ask(client);
    assert.equal(client.destroyed, false);
  });

  it('count the beginning of a request as something', async () => {
    const client = await open();
    await ask(client);
    look();
    clock.advance(IDLE_MS - 1);
    client.write(REQUEST.slice(0, 20));
    const arrived = REQUEST.length + 20;
    await eventually('the server has read the beginning', () => accepted[0]?.bytesRead === arrived);
    look();
    clock.advance(IDLE_MS - 1);
    look();
    client.write(REQUEST.slice(20));
    await once(client, 'data');
  });

  it('are watched no longer once the client has left', async () => {
    const client = await open();
    await ask(client);
    look();
    const [socket] = accepted;
    assert.ok(socket);
    client.destroy();
    await once(socket, 'close');
    clock.advance(IDLE_MS);
    let destroyed = 0;
    socket.destroy = () => {
      destroyed += 1;
      return socket;
    };
    look();
    assert.equal(destroyed, 0);
  });

  it('are closed by the service itself, after the time it tells', async () => {
    const app = await startTestApp({ clock });
    try {
      const client = connect(app.port, '127.0.0.1', () => client.write('GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n'));
      const [answer]: Buffer[] = await once(client, 'data');
      assert.match(String(answer), /\r\nKeep-Alive: timeout=72\r\n/);
      client.resume();
      await eventually('the service has closed the connection', () => {
        clock.advance(IDLE_MS / 100);
        return client.closed;
      });
      assert.ok(clock.monotonicMs() >= IDLE_MS, `closed after ${clock.monotonicMs()} ms`);
    } finally {
      await app.close();
    }
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
