import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../kernel/clock.js';
import { lastResponse } from './last-exchange.js';

/** How many bytes had passed over a connection when it last did anything, and when that was seen. */
interface Seen {
  bytes: number;
  atMs: number;
}

export interface IdleConnections {
  /** Closes those that have had their answer and did nothing since: to be called now and then. */
  look(): void;
  /**
   * Lets the platform close what it takes for idle, except where an answer is still on its way to a slow client: it counts
   * as given once it is written, and would be cut off. Such a connection ends behind its answer.
   */
  sparing(closeIdle: () => void): void;
}

/**
 * Watches a server's connections.
 *
 * Node would set a timer for each answer and clear it for the next request, which is a twentieth of a small request. This
 * may be late by one look and is never early: a client that was told the time must not be cut off before it.
 */
export function watchIdleConnections(server: Server, clock: Clock, idleMs: number): IdleConnections {
  const connections = new Map<Socket, Seen>();
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { bytes: 0, atMs: clock.monotonicMs() });
    socket.once('close', () => connections.delete(socket));
  });
  return {
    look() {
      const nowMs = clock.monotonicMs();
      for (const [socket, seen] of connections) {
        const bytes = socket.bytesRead + socket.bytesWritten;
        if (bytes !== seen.bytes || isBusy(socket)) {
          seen.bytes = bytes;
          seen.atMs = nowMs;
        } else if (nowMs - seen.atMs >= idleMs) socket.destroy();
      }
    },
    sparing(closeIdle) {
      const busy = [...connections.keys()].filter(isBusy);
      for (const socket of busy) socket.destroy = () => socket;
      closeIdle();
      for (const socket of busy) {
        Reflect.deleteProperty(socket, 'destroy');
        const last = lastResponse(socket);
        // A request that came meanwhile ends the connection by its own answer.
        last?.once('close', () => lastResponse(socket) === last && socket.destroySoon());
      }
    },
  };
}

function isBusy(socket: Socket): boolean {
  return lastResponse(socket)?.writableFinished === false;
}
