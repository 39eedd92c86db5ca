import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Exchange } from './respond.js';
import type { UnsentAnswers } from './unsent-answers.js';
import { createUnsentAnswers, STALL_MS } from './unsent-answers.js';
import { RATE_MS, UNSENT_PER_CONNECTION_MAX } from './unsent-connection.js';
import { writeSlices } from './write-pieces.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';
/** More than the system keeps for a connection, on both its ends. */
const ANSWER_BYTES = 40_000_000;

describe('answers that clients do not read', () => {
  let clock: FakeClock;
  let server: Server;
  let unsent: UnsentAnswers;
  let clients: Socket[];
  let places: { out: number; aside: number };
  let client: string;
  let held: object[] | undefined;
  const answer = Buffer.alloc(ANSWER_BYTES, 'x');

  function start(bytesMax: number): void {
    const own = { out: 0, aside: 0 };
    places = own;
    const onOut = (): void => {
      own.out += 1;
    };
    const onAside = (): void => {
      own.aside += 1;
    };
    unsent = createUnsentAnswers({ clock, bytesMax, onOut, onAside });
  }

  beforeEach(async () => {
    clock = createFakeClock(0);
    clients = [];
    client = 'a';
    held = undefined;
    start(10 * ANSWER_BYTES);
    server = createServer({ keepAliveTimeout: 0 }, (request: IncomingMessage, response: ServerResponse) => {
      if (request.url === '/refused') response.statusCode = 503;
      // Of the context no more is looked at.
      const context = { limitKey: client, held, hasPlace: true, unwrittenBytes: 0 };
      const exchange = { request, response, context } as Exchange;
      if (request.url === '/small') response.end('small');
      else writeSlices(exchange, answer);
      unsent.follow(exchange);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    for (const each of clients) each.destroy();
    server.close();
    await once(server, 'close');
  });

  async function ask(times = 1, request = REQUEST): Promise<Socket> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause(); // It listens on a port.
    socket.on('error', () => {});
    clients.push(socket);
    await once(socket, 'connect');
    let seen = 0;
    const arrived = new Promise<void>((resolve) => {
      server.on('request', () => {
        seen += 1;
        if (seen === times) resolve();
      });
    });
    socket.write(request.repeat(times));
    await arrived;
    return socket;
  }

  it('are out at once when the system takes them whole', async () => {
    await ask(1, REQUEST.replace('/', '/small'));
    assert.equal(places.out, 1);
    assert.equal(unsent.countOf('a'), 0);
  });

  it('are out only when they are read, and not when they are written', async () => {
    const socket = await ask();
    assert.deepEqual([places.out, unsent.countOf('a')], [0, 1]);
    socket.resume();
    await eventually('the answer is out', () => places.out === 1);
    assert.equal(unsent.countOf('a'), 0);
  });

  it('are closed after a minute without a byte taken, and not before', async () => {
    const socket = await ask();
    unsent.look();
    clock.advance(STALL_MS - 1);
    unsent.look();
    assert.equal(places.out, 0);
    clock.advance(1);
    unsent.look();
    await eventually('its place is free', () => places.out === 1);
    socket.resume();
    await once(socket, 'close');
  });

  it('stay open while some of it is taken each minute, however slowly', async () => {
    const socket = await ask();
    let read = 0;
    for (let minutes = 0; minutes < 4; minutes += 1) {
      unsent.look();
      clock.advance(STALL_MS - 1);
      const wanted = read + 7_000_000;
      while (read < wanted) {
        const piece: Buffer | null = socket.read();
        if (piece === null) await once(socket, 'readable');
        else read += piece.length;
      }
      unsent.look();
      assert.equal(socket.closed, false);
    }
  });

  it('are closed after half a minute in which too little was taken, where memory is set aside for them', async () => {
    await ask();
    held = [{}];
    const socket = await ask();
    clock.advance(RATE_MS - 1);
    unsent.look();
    for (let read = 0; read < 7_000_000; ) {
      const piece: Buffer | null = socket.read();
      if (piece === null) await once(socket, 'readable');
      else read += piece.length;
    }
    unsent.look();
    clock.advance(RATE_MS - 1);
    unsent.look();
    assert.equal(places.out, 0, 'enough was taken');
    clock.advance(1);
    unsent.look();
    await eventually('one is closed', () => places.out === 1);
    await once(socket.resume(), 'close');
  });

  it('are all out when their connection closes, those behind the first one too', async () => {
    const socket = await ask(3);
    assert.equal(places.out, 0);
    socket.destroy();
    await eventually('every place is free', () => places.out === 3);
    assert.equal(unsent.countOf('a'), 0);
  });

  it('have one place a connection: those behind the first one have none', async () => {
    await ask(3);
    assert.deepEqual([places.out, places.aside, unsent.countOf('a')], [0, 2, 1]);
  });

  it('have no place when they are refusals', async () => {
    await ask(1, REQUEST.replace('/', '/refused'));
    assert.deepEqual([places.out, places.aside, unsent.countOf('a')], [0, 1, 0]);
  });

  it('are so many at most on one connection: then it is closed', async () => {
    start(Infinity);
    await ask(UNSENT_PER_CONNECTION_MAX);
    assert.equal(places.out, 0);
    const other = await ask(UNSENT_PER_CONNECTION_MAX + 1);
    await eventually('every answer is given up', () => places.out === UNSENT_PER_CONNECTION_MAX + 1);
    await once(other.resume(), 'close');
  });

  it('hold no more than a bound: the client that holds most loses what it has left lying longest', async () => {
    start(2 * ANSWER_BYTES);
    const first = await ask();
    clock.advance(1);
    await ask();
    client = 'b';
    await ask();
    await eventually('one is closed', () => places.out === 1);
    assert.deepEqual([unsent.countOf('a'), unsent.countOf('b')], [1, 1]);
    await once(first.resume(), 'close');
  });
});

describe('places of requests whose answers are not read', () => {
  const IN_FLIGHT_MAX = 8;
  const path = '/docs/swagger-ui-bundle.js';
  let app: TestApp;
  const clients: Socket[] = [];
  before(async () => {
    app = await startTestApp({ env: { STRONGROOM_REQUESTS_IN_FLIGHT_MAX: String(IN_FLIGHT_MAX) } });
  });
  after(async () => {
    for (const socket of clients) socket.destroy();
    await app.close();
  });
  const inFlight = (of = app): number =>
    Number(/^strongroom_http_requests_in_flight (\d+)$/m.exec(of.metrics.render())?.[1] ?? Number.NaN);
  const answered = ({ logLines }: TestApp): number => logLines.join('').split(`GET ${path}`).length;

  /** A client that sends requests all at once and reads none of their answers. */
  function ask({ port }: TestApp, times: number, asked = path): Socket {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET ${asked} HTTP/1.1\r\nHost: h\r\n\r\n`.repeat(times));
    });
    socket.on('error', () => {});
    clients.push(socket.pause());
    return socket;
  }

  /** A client that sends one request behind the other, until an answer waits for it. */
  async function fill(of: TestApp): Promise<Socket> {
    const before = inFlight(of);
    const socket = ask(of, 0);
    while (inFlight(of) === before) {
      const earlier = answered(of);
      socket.write(REQUEST.replace('/', path));
      await eventually('it is answered', () => answered(of) > earlier);
    }
    return socket;
  }

  it('200 for others while one connection has sent as many requests as there are places, and reads nothing', async () => {
    const earlier = answered(app);
    const socket = ask(app, IN_FLIGHT_MAX);
    await eventually('all are answered', () => answered(app) - earlier === IN_FLIGHT_MAX);
    assert.ok(inFlight() <= 1, 'those behind the first one have no place');
    assert.equal((await app.call('GET', '/openapi.json')).status, 200);
    socket.destroy();
    await eventually('every place is free', () => inFlight() === 0);
  });

  it('a connection that sends a thousand requests and reads nothing is closed, and others are served', async () => {
    const socket = ask(app, 1_000, '/openapi.json');
    await once(socket.resume(), 'close');
    await eventually('every place is free', () => inFlight() === 0);
    assert.equal((await app.call('GET', '/openapi.json')).status, 200);
  });

  it('503 for a client that holds half of all places with answers it does not read, until it reads them', async () => {
    const sockets: Socket[] = [];
    while (sockets.length <= IN_FLIGHT_MAX / 2) sockets.push(await fill(app));
    assert.equal(inFlight(), sockets.length);
    const refused = await app.call('GET', '/openapi.json');
    assert.deepEqual([refused.status, refused.json.code], [503, 'overloaded']);
    assert.equal((await app.call('GET', '/healthz')).status, 200, 'a probe is answered');
    for (const socket of sockets) socket.resume();
    await eventually('every place is free', () => inFlight() === 0);
    assert.equal((await app.call('GET', '/openapi.json')).status, 200);
  });

  it('are given back when the client goes away', async () => {
    const sockets: Socket[] = [];
    while (sockets.length <= IN_FLIGHT_MAX / 2) sockets.push(await fill(app));
    assert.equal(inFlight(), sockets.length);
    for (const socket of sockets) socket.destroy();
    await eventually('every place is free', () => inFlight() === 0);
  });

  it('are given back after a minute by a client that reads nothing and stays', async () => {
    const clock = createFakeClock(Date.UTC(2030, 0, 1));
    const own = await startTestApp({ clock });
    try {
      await fill(own);
      const startedMs = clock.monotonicMs();
      await eventually('every place is free', () => {
        clock.advance(STALL_MS / 50);
        return inFlight(own) === 0;
      });
      assert.ok(clock.monotonicMs() - startedMs >= STALL_MS);
    } finally {
      await own.close();
    }
  });
});
