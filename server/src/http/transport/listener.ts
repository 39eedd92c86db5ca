import type { RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Server as NetServer } from 'node:net';
import { answerClientError, refuseConnect } from './client-error.js';
import { HEADER_BYTES_MAX } from './hostile.js';
import { trackExchange } from './last-exchange.js';
import { watchOpenConnections } from './open-connections.js';

export interface HttpListener {
  /** Resolves with the port it listens on. */
  listen(host: string, port: number): Promise<number>;
  /** Takes no new connections and waits for the requests under way. */
  close(): Promise<void>;
}

/** How long an idle connection stays open; the answers say so. */
export const KEEP_ALIVE_SECONDS = 72;
/** A client that was told the time must not be cut off before it. The platform tells whole seconds, rounded down. */
const KEEP_ALIVE_MARGIN_MS = 900;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const CONNECTIONS_CHECK_MS = 1_000;
const LOOK_MS = 2_000;
const CLOSE_GRACE_MS = 10_000;
/** Bytes of a body that Node buffers, each chunk as a piece of its own. Newer lines of Node buffer four times as much. */
const UNTAKEN_BYTES_MAX = 16_384;
/**
 * Connections that may wait to be accepted; the kernel bounds it by its own setting. Past it the kernel drops the last word of a
 * handshake, and a client that believes to be connected is neither answered nor told. The platform's 511 are one burst.
 */
const ACCEPT_QUEUE = 4_096;

export interface ListenerOptions {
  readonly receive: RequestListener;
  /** Called now and then. */
  readonly look: () => void;
  readonly keepAliveSeconds?: number;
}

/** The bounds of a connection, and what Node would otherwise answer by itself without a body. */
export function createListener(options: ListenerOptions): HttpListener {
  const { receive, look, keepAliveSeconds = KEEP_ALIVE_SECONDS } = options;
  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    highWaterMark: UNTAKEN_BYTES_MAX,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    keepAliveTimeout: keepAliveSeconds * 1_000 + KEEP_ALIVE_MARGIN_MS,
    // A missing Host header is refused by the gate, with a problem body.
    requireHostHeader: false,
  });
  server.on('request', trackExchange);
  server.on('request', receive);
  // The bound is on their size: headers past a number would be dropped in silence.
  server.maxHeadersCount = 0;
  server.on('checkContinue', (request, response: ServerResponse) => server.emit('request', request, response));
  server.on('checkExpectation', (request, response: ServerResponse) => server.emit('request', request, response));
  server.on('connect', (_request, socket: Socket) => refuseConnect(socket));
  server.on('clientError', answerClientError);

  const connections = watchOpenConnections(server);
  const looking = setInterval(look, LOOK_MS).unref();
  server.once('close', () => clearInterval(looking));

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ port, host, backlog: ACCEPT_QUEUE }, () => {
          server.removeListener('error', reject);
          resolve((server.address() as AddressInfo).port); // A TCP listener has one.
        });
      }),
    close: () =>
      new Promise((resolve) => {
        if (!server.listening) {
          resolve();
          return;
        }
        // Idle connections close at once, the others when their answer is out. What is left after the grace waits for a
        // client, not for us: every piece of work is bounded to less.
        const grace = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
        // Only the listening ends here: closing as an HTTP server would also cut off answers that slow clients still read.
        NetServer.prototype.close.call(server, () => {
          clearTimeout(grace);
          // Nothing is left to close but the platform's own timer.
          server.close();
          resolve();
        });
        connections.endAll();
      }),
  };
}
