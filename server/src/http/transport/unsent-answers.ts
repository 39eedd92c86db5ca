import type { Socket } from 'node:net';
import type { Clock } from '../../kernel/clock.js';
import type { Exchange } from './respond.js';

/** How long a connection may take no byte of an answer that waits for it. */
export const STALL_MS = 60_000;

/** Who has a share of memory takes at least so much of its answer in this time: others wait for it. */
export const RATE_BYTES = 65_536;
export const RATE_MS = 30_000;

/** What answers that wait for their clients may keep in memory, all together. */
export const UNSENT_BYTES_MAX = 33_554_432;

/** More than this many answers on one connection that takes no more bytes, and it is closed: its client reads nothing. */
export const UNSENT_PER_CONNECTION_MAX = 32;

/** More than this many, and it is closed whatever it takes: they wait behind an answer that is not there yet. */
const WAITING_PER_CONNECTION_MAX = 1_024;

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

/** A connection with answers that wait for it. */
interface Followed {
  readonly socket: Socket;
  readonly limitKey: string;
  /** With whether each has a place. */
  readonly exchanges: Map<Exchange, boolean>;
  readonly onClose: () => void;
  /** It is about to be seen whether its client reads. */
  isQuestioned: boolean;
  /** How many bytes it had taken when it last took any, and when that was seen. */
  takenBytes: number;
  atMs: number;
  /** The same for the last time it had taken enough since the time before. */
  rateBytes: number;
  rateAtMs: number;
}

export function createUnsentAnswers(options: UnsentOptions): UnsentAnswers {
  const { clock, onOut, onAside, stallMs = STALL_MS, bytesMax = UNSENT_BYTES_MAX } = options;
  const connections = new Map<Socket, Followed>();
  const counts = new Map<string, number>();

  /** One listener a connection: a client may send many requests before it reads an answer. */
  function followedOn(socket: Socket, limitKey: string): Followed {
    const known = connections.get(socket);
    if (known) return known;
    const takenBytes = takenBy(socket);
    const atMs = clock.monotonicMs();
    const made: Followed = {
      socket,
      limitKey,
      exchanges: new Map(),
      onClose: () => {
        for (const exchange of made.exchanges.keys()) leave(made, exchange);
      },
      isQuestioned: false,
      takenBytes,
      atMs,
      rateBytes: takenBytes,
      rateAtMs: atMs,
    };
    connections.set(socket, made);
    socket.once('close', made.onClose);
    return made;
  }

  function leave({ socket, exchanges, limitKey, onClose }: Followed, exchange: Exchange): void {
    const hasPlace = exchanges.get(exchange);
    if (hasPlace === undefined) return;
    exchanges.delete(exchange);
    if (exchanges.size === 0) {
      connections.delete(socket);
      socket.off('close', onClose);
    }
    if (hasPlace) {
      const left = (counts.get(limitKey) ?? 1) - 1;
      if (left === 0) counts.delete(limitKey);
      else counts.set(limitKey, left);
    }
    onOut(exchange);
  }

  function note(followed: Followed, nowMs: number): void {
    const takenBytes = takenBy(followed.socket);
    if (takenBytes === followed.takenBytes && followed.socket.writableLength > 0) return;
    followed.takenBytes = takenBytes;
    followed.atMs = nowMs;
    if (takenBytes - followed.rateBytes < RATE_BYTES && followed.socket.writableLength > 0) return;
    followed.rateBytes = takenBytes;
    followed.rateAtMs = nowMs;
  }

  function isTooSlow({ exchanges, atMs, rateAtMs }: Followed, nowMs: number): boolean {
    if (nowMs - atMs >= stallMs) return true;
    return nowMs - rateAtMs >= RATE_MS && [...exchanges.keys()].some(({ context }) => context.held !== undefined);
  }

  /** The client that holds most gives up what it has left lying longest. */
  function makeRoom(): void {
    const bytesOf = new Map<string, number>();
    let bytes = 0;
    for (const followed of connections.values()) {
      const unsent = unsentOn(followed);
      bytes += unsent;
      bytesOf.set(followed.limitKey, (bytesOf.get(followed.limitKey) ?? 0) + unsent);
    }
    if (bytes <= bytesMax) return;
    const nowMs = clock.monotonicMs();
    for (const followed of connections.values()) note(followed, nowMs);
    const [most] = [...bytesOf].sort(([, a], [, b]) => b - a);
    const [victim] = [...connections.values()]
      .filter(({ limitKey, socket }) => limitKey === most?.[0] && socket.writableLength > 0)
      .sort((a, b) => a.atMs - b.atMs || unsentOn(b) - unsentOn(a));
    victim?.socket.destroy();
  }

  return {
    follow(exchange) {
      const { request, response, context } = exchange;
      const { socket } = request;
      const isOut = response.writableEnded && response.socket?.writableLength === 0;
      if (isOut || socket.destroyed) {
        onOut(exchange);
        return;
      }
      const followed = followedOn(socket, context.limitKey);
      // A stream has given its place back when it began.
      const hasPlace = response.socket !== null && response.statusCode < REFUSED && context.hasPlace;
      followed.exchanges.set(exchange, hasPlace);
      response.once('close', () => leave(followed, exchange));
      if (hasPlace) counts.set(followed.limitKey, (counts.get(followed.limitKey) ?? 0) + 1);
      else onAside(exchange);
      if (followed.exchanges.size > WAITING_PER_CONNECTION_MAX) socket.destroy();
      else if (followed.exchanges.size > UNSENT_PER_CONNECTION_MAX) question(followed);
      makeRoom();
    },
    look() {
      const nowMs = clock.monotonicMs();
      for (const followed of connections.values()) {
        note(followed, nowMs);
        if (isTooSlow(followed, nowMs)) followed.socket.destroy();
      }
    },
    countOf: (limitKey) => counts.get(limitKey) ?? 0,
  };
}

/** In a turn of its own: what is written now is on its way only then, and a client that sends a burst may well read. */
function question(followed: Followed): void {
  if (followed.isQuestioned) return;
  followed.isQuestioned = true;
  setImmediate(() => {
    followed.isQuestioned = false;
    const { socket, exchanges } = followed;
    if (exchanges.size > UNSENT_PER_CONNECTION_MAX && socket.writableLength > 0) socket.destroy();
  });
}

/** Bytes the system has taken. A write only counts once all of it is taken, so a long answer is written in slices. */
function takenBy(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}

function unsentOn({ exchanges }: Followed): number {
  let bytes = 0;
  for (const { response, context } of exchanges.keys()) bytes += response.writableLength + context.unwrittenBytes;
  return bytes;
}
