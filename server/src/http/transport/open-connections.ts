import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { lastResponse } from './last-exchange.js';

export interface OpenConnections {
  /**
   * Closes idle connections, and each of the others behind its last answer. The platform takes a connection for idle once its
   * answer is written, although a slow client may still be reading it: so it is asked only when no such answer is left.
   */
  endAll(): void;
}

/** Knows a server's connections. */
export function watchOpenConnections(server: Server): OpenConnections {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });

  function closeIdle(): void {
    for (const socket of connections) {
      const last = lastResponse(socket);
      if (last?.writableEnded && !last.writableFinished) {
        last.once('close', closeIdle);
        return;
      }
    }
    server.closeIdleConnections();
  }

  return {
    endAll() {
      for (const socket of connections) {
        const last = lastResponse(socket);
        // A request that comes meanwhile ends the connection by its own answer.
        if (last?.writableFinished === false) {
          last.once('close', () => lastResponse(socket) === last && socket.destroySoon());
        }
      }
      closeIdle();
    },
  };
}
