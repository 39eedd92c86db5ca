import type { Server, Socket } from 'node:net';
import { createConnection, createServer } from 'node:net';
import { freePort } from './programs.js';

/** `up` goes from the client to the server, `down` comes back. */
export type Direction = 'up' | 'down';

/**
 * What the way does to bytes from now on.
 * - `pass`: they arrive.
 * - `hole`: they are held, and so is the end of a connection; nothing is closed. Once it is lifted they arrive, late.
 * - `latency`: they arrive so much later, in order.
 */
export type Weather =
  | { readonly kind: 'pass' }
  | { readonly kind: 'hole' }
  | { readonly kind: 'latency'; readonly ms: number };

/** What becomes of one chunk: it passes, or only its first bytes do and then the connection is over in a certain way. */
export type Fate = 'pass' | { readonly deliver: number; readonly after: 'reset' | 'silence' };

/** One connection through the proxy, for hooks. */
export interface Link {
  readonly id: number;
  /** Bytes that arrived from either side, the chunk at hand not counted. */
  readonly seen: Readonly<Record<Direction, number>>;
  /** Breaks both halves, without a goodbye. */
  reset(): void;
}

export type Hook = (link: Link, direction: Direction, chunk: Buffer) => Fate;

export interface TcpProxy {
  readonly port: number;
  setWeather(weather: Weather, direction?: Direction): void;
  /** Looks at every chunk until it is taken away again by undefined. */
  setHook(hook: Hook | undefined): void;
  /** New connections lead to another port from now on. */
  leadTo(port: number): void;
  /** Breaks every connection there is; new ones are taken. */
  resetAll(): void;
  /** Nobody listens on the port any more, and what is connected is broken. */
  refuse(): Promise<void>;
  /** Listens on the same port again. */
  accept(): Promise<void>;
  readonly connections: () => number;
  close(): Promise<void>;
}

interface Half {
  weather: Weather;
  /** Resolves when a hole is lifted. */
  lifted: Promise<void>;
  lift: () => void;
}

/** A way to a server on loopback that loses, delays and breaks what it is told to. */
export async function startTcpProxy(firstTargetPort: number): Promise<TcpProxy> {
  const port = await freePort();
  const road: Road = {
    targetPort: firstTargetPort,
    links: new Set(),
    ways: { up: openHalf(), down: openHalf() },
    hook: undefined,
    nextId: 1,
  };
  const take = (client: Socket): void => connectThrough(road, client);
  let server = await listen(port, take);

  const proxy: TcpProxy = {
    port,
    setWeather(weather, direction) {
      for (const way of direction ? [road.ways[direction]] : [road.ways.up, road.ways.down]) change(way, weather);
    },
    setHook(next) {
      road.hook = next;
    },
    leadTo(targetPort) {
      road.targetPort = targetPort;
    },
    resetAll() {
      for (const link of [...road.links]) link.reset();
    },
    async refuse() {
      const closed = new Promise((resolve) => server.close(resolve));
      proxy.resetAll();
      await closed;
    },
    async accept() {
      if (!server.listening) server = await listen(port, take);
    },
    connections: () => road.links.size,
    async close() {
      proxy.setWeather({ kind: 'pass' });
      if (server.listening) await proxy.refuse();
    },
  };
  return proxy;
}

/** What all connections through one proxy share. */
interface Road {
  targetPort: number;
  readonly links: Set<Link>;
  readonly ways: Readonly<Record<Direction, Half>>;
  hook: Hook | undefined;
  nextId: number;
}

function connectThrough(road: Road, client: Socket): void {
  const upstream = createConnection({ port: road.targetPort, host: '127.0.0.1', allowHalfOpen: true });
  const seen = { up: 0, down: 0 };
  const isDeaf = { up: false, down: false };
  let isOver = false;
  const link: Link = {
    id: road.nextId,
    seen,
    reset() {
      isOver = true;
      road.links.delete(link);
      for (const socket of [client, upstream]) breakOff(socket);
    },
  };
  road.nextId += 1;
  road.links.add(link);

  function carry(direction: Direction, from: Socket, to: Socket): void {
    let sent: Promise<void> = Promise.resolve();
    const inOrder = (act: () => void): void => {
      const atMs = performance.now();
      sent = sent.then(() => delay(road.ways[direction], atMs)).then(() => void (isOver || act()));
    };
    from.on('data', (chunk: Buffer) => {
      if (isDeaf[direction]) return;
      const fate = road.hook?.(link, direction, chunk) ?? 'pass';
      seen[direction] += chunk.length;
      if (fate === 'pass') return inOrder(() => void to.write(chunk));
      isDeaf[direction] = true;
      if (fate.after === 'silence') isDeaf[direction === 'up' ? 'down' : 'up'] = true;
      // What was let through has to leave before the connection breaks, or it would be lost with it.
      const finish = (): void => (fate.after === 'reset' ? link.reset() : undefined);
      inOrder(() => void (fate.deliver > 0 ? to.write(chunk.subarray(0, fate.deliver), finish) : finish()));
    });
    from.on('end', () => inOrder(() => void (isDeaf[direction] || to.end())));
    from.on('error', () => inOrder(() => void to.destroy()));
    from.on('close', () =>
      inOrder(() => {
        to.destroy();
        road.links.delete(link);
      }),
    );
  }
  carry('up', client, upstream);
  carry('down', upstream, client);
}

/** A socket that is half closed or not open yet has nobody to send a reset to; asking for one keeps the process from ending. */
function breakOff(socket: Socket): void {
  if (socket.readyState === 'open') socket.resetAndDestroy();
  else socket.destroy();
}

function openHalf(): Half {
  return { weather: { kind: 'pass' }, lifted: Promise.resolve(), lift: () => {} };
}

function change(way: Half, weather: Weather): void {
  if (weather.kind === 'hole' && way.weather.kind !== 'hole') {
    way.lifted = new Promise((resolve) => {
      way.lift = resolve;
    });
  }
  way.weather = weather;
  if (weather.kind !== 'hole') way.lift();
}

async function delay(way: Half, arrivedMs: number): Promise<void> {
  while (way.weather.kind === 'hole') await way.lifted;
  if (way.weather.kind !== 'latency') return;
  const waitMs = arrivedMs + way.weather.ms - performance.now();
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
}

function listen(port: number, onConnection: (client: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
