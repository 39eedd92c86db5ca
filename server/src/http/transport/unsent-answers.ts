import type { Socket } from 'node:net';
import type { Clock } from '../../kernel/clock.js';
import { breakOffConnection } from './break-off.js';
import type { Exchange } from './respond.js';
import { subtract } from './tally.js';
import { UnsentConnection } from './unsent-connection.js';

/** How long a connection may take no byte of an answer that waits for it. */
export const STALL_MS = 60_000;

/** What answers that wait for their clients may keep in memory, all together. */
export const UNSENT_BYTES_MAX = 33_554_432;

/** Answers that were given and have not left the process: their clients read slowly, or not at all. */
export interface UnsentAnswers {
  /** Has `onOut` called once the answer is out or its connection gone; at once for most, which the system takes whole. */
  follow(exchange: Exchange): void;
  /** Closes connections that have taken no byte, or with a share of memory too few, for too long: to be called now and then. */
  look(): void;
  /** How many unsent answers of a client have a place. */
  countOf(limitKey: string): number;
}

export interface UnsentOptions {
  readonly clock: Clock;
  readonly onOut: (exchange: Exchange) => void;
  /**
   * Told of an answer that waits and must not have a place meanwhile: a refusal, or one behind another answer on its
   * connection. One connection has one place at most for what its client does not read.
   */
  readonly onAside: (exchange: Exchange) => void;
  readonly stallMs?: number;
  readonly bytesMax?: number;
}

const REFUSED = 400;

export function createUnsentAnswers(options: UnsentOptions): UnsentAnswers {
  const { clock, onOut, onAside, stallMs = STALL_MS, bytesMax = UNSENT_BYTES_MAX } = options;
  const connections = new Map<Socket, UnsentConnection>();
  const counts = new Map<string, number>();

  /** One listener a connection: a client may send many requests before it reads an answer. */
  function connectionOf(socket: Socket, limitKey: string): UnsentConnection {
    const known = connections.get(socket);
    if (known) return known;
    const made = new UnsentConnection(socket, limitKey, clock.monotonicMs());
    connections.set(socket, made);
    socket.once('close', onClose);
    return made;
  }

  function onClose(this: Socket): void {
    const connection = connections.get(this);
    if (connection === undefined) return;
    for (const exchange of connection.exchanges.keys()) leave(connection, exchange);
  }

  function leave({ socket, exchanges, limitKey }: UnsentConnection, exchange: Exchange): void {
    const hasPlace = exchanges.get(exchange);
    if (hasPlace === undefined) return;
    exchanges.delete(exchange);
    if (exchanges.size === 0) {
      connections.delete(socket);
      socket.off('close', onClose);
    }
    if (hasPlace) subtract(counts, limitKey, 1);
    onOut(exchange);
  }

  return {
    follow(exchange) {
      if (isOut(exchange)) {
        onOut(exchange);
        return;
      }
      const connection = connectionOf(exchange.request.socket, exchange.context.limitKey);
      const hasPlace = mayHavePlace(exchange);
      connection.exchanges.set(exchange, hasPlace);
      exchange.response.once('close', () => leave(connection, exchange));
      if (hasPlace) counts.set(connection.limitKey, (counts.get(connection.limitKey) ?? 0) + 1);
      else onAside(exchange);
      connection.boundWaiting();
      makeRoom(connections, bytesMax, clock);
    },
    look() {
      const nowMs = clock.monotonicMs();
      for (const connection of connections.values()) {
        connection.note(nowMs);
        if (connection.isTooSlow(nowMs, stallMs)) breakOffConnection(connection.socket);
      }
    },
    countOf: (limitKey) => counts.get(limitKey) ?? 0,
  };
}

function isOut({ request, response }: Exchange): boolean {
  return (response.writableEnded && response.socket?.writableLength === 0) || request.socket.destroyed;
}

/** Not one behind another answer on its connection, nor a refusal. A stream has given its place back when it began. */
function mayHavePlace({ response, context }: Exchange): boolean {
  return response.socket !== null && response.statusCode < REFUSED && context.hasPlace;
}

/** Where more waits than may, the client that holds most gives up what it has left lying longest. */
function makeRoom(connections: ReadonlyMap<Socket, UnsentConnection>, bytesMax: number, clock: Clock): void {
  const bytesOf = new Map<string, number>();
  let bytes = 0;
  for (const connection of connections.values()) {
    const unsent = connection.unsentBytes();
    bytes += unsent;
    bytesOf.set(connection.limitKey, (bytesOf.get(connection.limitKey) ?? 0) + unsent);
  }
  if (bytes <= bytesMax) return;
  const nowMs = clock.monotonicMs();
  for (const connection of connections.values()) connection.note(nowMs);
  const [most] = [...bytesOf].sort(([, a], [, b]) => b - a);
  const [victim] = [...connections.values()]
    .filter(({ limitKey, socket }) => limitKey === most?.[0] && socket.writableLength > 0)
    .sort((a, b) => a.atMs - b.atMs || b.unsentBytes() - a.unsentBytes());
  if (victim) breakOffConnection(victim.socket);
}
