import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../kernel/clock.js';
import { lastResponse } from './last-exchange.js';

/** How many bytes had passed over a connection when it last did anything, and when that was seen. */
interface Seen {
  bytes: number;
  atMs: number;
}

/**
 * Watches a server's connections. Each call of what it returns closes those that have had their answer and did nothing
 * since: it is to be called now and then.
 *
 * Node would set a timer for each answer and clear it for the next request, which is a twentieth of a small request. This
 * may be late by one look and is never early: a client that was told the time must not be cut off before it.
 */
export function watchIdleConnections(server: Server, clock: Clock, idleMs: number): () => void {
  const connections = new Map<Socket, Seen>();
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { bytes: 0, atMs: clock.monotonicMs() });
    socket.once('close', () => connections.delete(socket));
  });
  return () => {
    const nowMs = clock.monotonicMs();
    for (const [socket, seen] of connections) {
      const bytes = socket.bytesRead + socket.bytesWritten;
      if (bytes !== seen.bytes || isBusy(socket)) {
        seen.bytes = bytes;
        seen.atMs = nowMs;
      } else if (nowMs - seen.atMs >= idleMs) socket.destroy();
    }
  };
}

function isBusy(socket: Socket): boolean {
  return lastResponse(socket)?.writableFinished === false;
}
