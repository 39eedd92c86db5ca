import type { AddressInfo, Server as TcpServer } from 'node:net';
import { createServer as createTcpServer, Socket } from 'node:net';
import { createFakeClock } from '../testing/fake-clock.js';
import type { DialTarget } from './connect.js';
import { dialTcp } from './connect.js';
import type { Outbound, OutboundAnswer, OutboundOptions, OutboundRequest } from './outbound.js';
import { createOutbound } from './outbound.js';
import { OutboundError } from './outbound-error.js';
import type { OutboundRefusal } from './refusal-log.js';
import { parseAllowRules, parseDenyRules } from './rules.js';

export const TENANT = '1eee6405-e772-4f90-afd5-65b6f8a2f156';
export const OTHER_TENANT = '2fff6405-e772-4f90-afd5-65b6f8a2f156';
/** For bounds that must not be what ends a test on a busy machine. */
const PATIENT_MS = 120_000;

export interface Way extends Outbound {
  readonly refusals: OutboundRefusal[];
  /** Every address that was dialled, or would have been. */
  readonly dialled: string[];
  readonly clock: ReturnType<typeof createFakeClock>;
  get(url: string, more?: Partial<OutboundRequest>): Promise<OutboundAnswer>;
  figure(name: string, label?: string): number;
}

export interface WayOptions extends Partial<OutboundOptions> {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly public?: 'allowed' | 'refused';
  /** Addresses by name. A name that is not here does not exist. Nothing is ever asked of a real name server. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
  /** Only what a test wants dialled is: the rest is written down and fails. */
  readonly isDialled?: boolean;
}

export function wayOut({ allow = [], deny = [], names = {}, isDialled = true, ...more }: WayOptions): Way {
  const refusals: OutboundRefusal[] = [];
  const dialled: string[] = [];
  const clock = createFakeClock(0);
  const bounds = { connectMs: PATIENT_MS, headersMs: PATIENT_MS, idleMs: PATIENT_MS, unreadMs: PATIENT_MS };
  const outbound = createOutbound({
    rules: { allow: parseAllowRules(allow), deny: parseDenyRules(deny), public: more.public ?? 'allowed' },
    tenants: new Map(),
    authorities: [],
    requestsMax: 512,
    clock,
    onRefused: (refusal) => refusals.push(refusal),
    resolve: async (name) => names[name] ?? [],
    dial(target) {
      dialled.push(...target.addresses.map(({ address }) => address));
      const isLoopback = target.addresses.every(({ address }) => address === '127.0.0.1');
      return isDialled && isLoopback ? dialTcp(target) : refuseToDial(target);
    },
    bounds,
    idleMs: PATIENT_MS,
    ...more,
  });
  return {
    ...outbound,
    refusals,
    dialled,
    clock,
    get: (url, given) => outbound.send({ tenantId: TENANT, method: 'GET', url, headers: [], ...given }),
    figure(name, label) {
      const value = outbound.gauges.find((gauge) => gauge.name === `strongroom_outbound_${name}`)?.read();
      return typeof value === 'number' ? value : (value?.get(label ?? '') ?? 0);
    },
  };
}

/** A connection that fails at once, and reaches nobody. */
export function refuseToDial(_target: DialTarget): Socket {
  const socket = new Socket();
  queueMicrotask(() => socket.destroy(Object.assign(new Error('not dialled'), { code: 'ENOTDIALLED' })));
  return socket;
}

/** How a call fails; fails the test if it does not. */
export async function failureFrom(call: Promise<unknown>): Promise<OutboundError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof OutboundError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

export async function bodyText({ body }: OutboundAnswer): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString('latin1');
}

export interface Listening {
  readonly port: number;
  /** Connections that are open, and how many there were. */
  open(): number;
  count(): number;
  close(): Promise<void>;
}

/** Counts the connections of any server, and ends them with it. */
export async function listening(server: TcpServer): Promise<Listening> {
  const sockets = new Set<Socket>();
  let count = 0;
  server.on('connection', (socket: Socket) => {
    count += 1;
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port, // Listening on TCP.
    open: () => sockets.size,
    count: () => count,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** A server that answers the first bytes of every connection by hand. */
export function rawServer(onRequest: (socket: Socket, text: string) => void): Promise<Listening> {
  const server = createTcpServer((socket) => {
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      const whole = text;
      text = '';
      onRequest(socket, whole);
    });
  });
  return listening(server);
}
