import type { RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '../../kernel/clock.js';
import { answerClientError, refuseConnect } from './client-error.js';
import { HEADER_BYTES_MAX } from './hostile.js';
import { watchIdleConnections } from './idle-connections.js';
import { trackExchange } from './last-exchange.js';
import { KEEP_ALIVE_SECONDS } from './plain-answer.js';

export interface HttpListener {
  /** Resolves with the port it listens on. */
  listen(host: string, port: number): Promise<number>;
  /** Takes no new connections and waits for the requests under way. */
  close(): Promise<void>;
  isClosing(): boolean;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const CONNECTIONS_CHECK_MS = 1_000;
const IDLE_LOOK_MS = 2_000;
const CLOSE_GRACE_MS = 10_000;

/** The bounds of a connection, and what Node would otherwise answer by itself without a body. */
export function createListener(clock: Clock, receive: RequestListener, look: () => void): HttpListener {
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
      // Ours to watch, see below.
      keepAliveTimeout: 0,
      // A missing Host header is refused by the gate, with a problem body.
      requireHostHeader: false,
    },
    (request, response) => {
      trackExchange(request, response);
      receive(request, response);
    },
  );
  // The bound is on their size: headers past a number would be dropped in silence.
  server.maxHeadersCount = 0;
  server.on('checkContinue', (request, response: ServerResponse) => server.emit('request', request, response));
  server.on('checkExpectation', (request, response: ServerResponse) => server.emit('request', request, response));
  server.on('connect', (_request, socket: Socket) => refuseConnect(socket));
  server.on('clientError', answerClientError);

  const idle = watchIdleConnections(server, clock, KEEP_ALIVE_SECONDS * 1_000);
  const looking = setInterval(() => {
    idle.look();
    look();
  }, IDLE_LOOK_MS).unref();
  const closeIdle = server.closeIdleConnections.bind(server);
  // Closing the server calls it too.
  server.closeIdleConnections = () => idle.sparing(closeIdle);
  server.once('close', () => clearInterval(looking));

  let isClosing = false;
  return {
    isClosing: () => isClosing,
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.removeListener('error', reject);
          resolve((server.address() as AddressInfo).port); // A TCP listener has one.
        });
      }),
    close: () =>
      new Promise((resolve) => {
        isClosing = true;
        if (!server.listening) {
          resolve();
          return;
        }
        // Idle connections close at once, the others when their answer is out. What is left after the grace waits for a
        // client, not for us: every piece of work is bounded to less.
        const grace = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
        server.close(() => {
          clearTimeout(grace);
          resolve();
        });
      }),
  };
}
