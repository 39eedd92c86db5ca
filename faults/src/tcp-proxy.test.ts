import assert from 'node:assert/strict';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { TcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import { startTcpProxy } from '@strongroom/test-servers/tcp-proxy.js';

/** Bounds a hang, not the speed of a machine that others use too. */
const HANGS_MS = 60_000;

describe('the proxy loses what it is told to lose', () => {
  const server = createServer((socket) => {
    accepted.push(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received += chunk.toString();
      socket.write(chunk.toString().toUpperCase());
    });
  });
  let accepted: Socket[] = [];
  let received = '';
  let proxy: TcpProxy;
  let client: Client;

  beforeEach(async () => {
    accepted = [];
    received = '';
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    proxy = await startTcpProxy((server.address() as AddressInfo).port); // A TCP listener has one.
    client = await open(proxy.port);
  });
  afterEach(async () => {
    client.socket.destroy();
    await proxy.close();
    for (const socket of accepted) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('passes both ways, and the end of a connection too', async () => {
    client.socket.end('hello');
    await client.until(() => client.answered() === 'HELLO');
    assert.equal(received, 'hello');
  });

  it('cuts after so many bytes of a chunk: those arrive, the rest never does, and the client gets a reset', async () => {
    proxy.setHook((_link, direction, chunk) =>
      direction === 'up' && chunk.includes('COMMIT') ? { deliver: 3, after: 'reset' } : 'pass',
    );
    client.socket.write('COMMIT;');
    await client.until(() => client.ending() !== undefined);
    assert.equal(client.ending(), 'ECONNRESET');
    assert.ok('COM'.startsWith(received), received);
    assert.equal(client.answered(), '');
  });

  it('cuts on the way back: the server has all of it, the client a part of the answer', async () => {
    proxy.setHook((_link, direction) => (direction === 'down' ? { deliver: 2, after: 'silence' } : 'pass'));
    client.socket.write('hello');
    await client.until(() => client.answered().length > 0);
    assert.equal(received, 'hello');
    assert.equal(client.answered(), 'HE');
    assert.equal(client.ending(), undefined);
  });

  it('holds everything in a hole, also the end, and delivers it in order when it is lifted', async () => {
    proxy.setWeather({ kind: 'hole' });
    client.socket.write('a');
    client.socket.end('b');
    await pause(50);
    assert.equal(received, '');
    proxy.setWeather({ kind: 'pass' });
    await client.until(() => received === 'ab');
  });

  it('delays by the latency that is set, in one direction alone', async () => {
    proxy.setWeather({ kind: 'latency', ms: 150 }, 'down');
    const startedMs = performance.now();
    client.socket.write('x');
    await client.until(() => received === 'x');
    await client.until(() => client.answered() === 'X');
    assert.ok(performance.now() - startedMs >= 149);
  });

  it('refuses new connections and breaks the old ones until it accepts again', async () => {
    await proxy.refuse();
    await client.until(() => client.ending() !== undefined);
    await assert.rejects(open(proxy.port), { code: 'ECONNREFUSED' });
    await proxy.accept();
    const again = await open(proxy.port);
    again.socket.write('y');
    await again.until(() => again.answered() === 'Y');
    again.socket.destroy();
  });
});

interface Client {
  readonly socket: Socket;
  readonly answered: () => string;
  /** The code of its error, or `closed`. */
  readonly ending: () => string | undefined;
  until(holds: () => boolean): Promise<void>;
}

async function open(port: number): Promise<Client> {
  const socket = connect(port, '127.0.0.1');
  let answered = '';
  let ending: string | undefined;
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  socket.on('data', (chunk) => {
    answered += chunk.toString();
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    ending = error.code;
  });
  socket.on('close', () => {
    ending ??= 'closed';
  });
  return {
    socket,
    answered: () => answered,
    ending: () => ending,
    async until(holds) {
      const deadlineMs = performance.now() + HANGS_MS;
      while (!holds()) {
        assert.ok(performance.now() < deadlineMs, 'in time');
        await pause(5);
      }
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
