import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { eventually } from '../testing/eventually.js';
import type { FakeClock } from '../testing/fake-clock.js';
import { createFakeClock } from '../testing/fake-clock.js';
import type { TestApp } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import type { Exchange } from './respond.js';
import type { UnsentAnswers } from './unsent-answers.js';
import { createUnsentAnswers, RATE_MS, STALL_MS } from './unsent-answers.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';
/** More than the system keeps for a connection, on both its ends. */
const ANSWER_BYTES = 40_000_000;

describe('answers that clients do not read', () => {
  let clock: FakeClock;
  let server: Server;
  let unsent: UnsentAnswers;
  let clients: Socket[];
  let places: { out: number };
  let client: string;
  let held: object[] | undefined;
  const answer = Buffer.alloc(ANSWER_BYTES, 'x');

  function start(bytesMax: number): void {
    const own = { out: 0 };
    places = own;
    const onOut = (): void => {
      own.out += 1;
    };
    unsent = createUnsentAnswers({ clock, bytesMax, onOut });
  }

  beforeEach(async () => {
    clock = createFakeClock(0);
    clients = [];
    client = 'a';
    held = undefined;
    start(10 * ANSWER_BYTES);
    server = createServer({ keepAliveTimeout: 0 }, (request: IncomingMessage, response: ServerResponse) => {
      response.end(request.url === '/small' ? 'small' : answer);
      // Of the context only the client and its share are looked at.
      unsent.follow({ request, response, context: { limitKey: client, held } } as Exchange);
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
  const inFlight = (): number =>
    Number(/^strongroom_http_requests_in_flight (\d+)$/m.exec(app.metrics.render())?.[1] ?? Number.NaN);

  it('503 for a client that holds half of all places with answers it does not read, until it reads them', async () => {
    const socket = connect(app.port, '127.0.0.1').pause();
    clients.push(socket);
    const asked = 12;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`.repeat(asked));
    await eventually('places are held', () => inFlight() > IN_FLIGHT_MAX / 2);
    const refused = await app.call('GET', '/openapi.json');
    assert.deepEqual([refused.status, refused.json.code], [503, 'overloaded']);
    assert.equal((await app.call('GET', '/healthz')).status, 200, 'a probe is answered');
    socket.resume();
    await eventually('every place is free', () => inFlight() === 0);
    assert.equal((await app.call('GET', '/openapi.json')).status, 200);
  });

  it('are given back when the client goes away', async () => {
    const socket = connect(app.port, '127.0.0.1').pause();
    clients.push(socket);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`.repeat(12));
    await eventually('places are held', () => inFlight() > IN_FLIGHT_MAX / 2);
    socket.destroy();
    await eventually('every place is free', () => inFlight() === 0);
  });

  it('are given back after a minute by a client that reads nothing and stays', async () => {
    const clock = createFakeClock(Date.UTC(2030, 0, 1));
    const own = await startTestApp({ clock });
    const socket = connect(own.port, '127.0.0.1').pause();
    socket.on('error', () => {});
    clients.push(socket);
    const held = () => /^strongroom_http_requests_in_flight [1-9]/m.test(own.metrics.render());
    try {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`.repeat(12));
      await eventually('places are held', held);
      const startedMs = clock.monotonicMs();
      await eventually(
        'every place is free',
        () => {
          clock.advance(STALL_MS / 50);
          return !held();
        },
        20_000,
      );
      assert.ok(clock.monotonicMs() - startedMs >= STALL_MS);
    } finally {
      await own.close();
    }
  });
});
