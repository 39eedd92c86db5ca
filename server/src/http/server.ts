import type { Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import fastify from 'fastify';
import type { Authenticate } from '../access/authenticate.js';
import { AppError } from '../kernel/errors.js';
import { createAllowedMethods } from './allowed-methods.js';
import { answerClientError, markAnswered, rawAnswer } from './client-error.js';
import { contextOf } from './context.js';
import { DOCS_ROUTES, mountDocsPage } from './docs-page.js';
import type { Gate, GateOptions } from './gate.js';
import { createGate } from './gate.js';
import type { MountOptions } from './mount-route.js';
import { mountRoute } from './mount-route.js';
import { problemOf } from './problem.js';
import type { RouteRecord } from './route.js';
import { createUnrouted } from './unrouted.js';

export interface HttpServerOptions extends Omit<GateOptions, 'onFinished'>, Omit<MountOptions, 'authenticate'> {
  readonly authenticate: Authenticate;
  readonly routes: readonly RouteRecord[];
  readonly onFinished: GateOptions['onFinished'];
  /** Told of every failure that is ours, with its inside story. */
  readonly onFault: (error: unknown, traceId: string) => void;
}

export interface HttpServer {
  readonly fastify: FastifyInstance;
  readonly inFlight: Gate['inFlight'];
}

const HEADER_BYTES_MAX = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const CONNECTIONS_CHECK_MS = 1_000;
const KEEP_ALIVE_MS = 72_000;

/**
 * The way of a request:
 *   gate           trace id, client address, rate limits, in-flight bound, hostile requests
 *   router         unknown path, wrong method, OPTIONS
 *   mount-route    authenticate, authorize, read and check the input, handle, audit a read
 *   serialiser     the response schema lets declared fields out and nothing else
 *   problem        every failure on the way
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  let gate: Gate | undefined;
  const server = fastify({
    serverFactory: (enter) => {
      gate = createGate(options, enter);
      return listenerFor(gate);
    },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      // The same reply object, typed for routes that declare a schema; a problem is sent past any schema.
      sendProblem(translateFrameworkError(error), request.raw, reply as unknown as FastifyReply);
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1_000, querystringParser: (raw) => ({ raw }) },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    logger: false,
  });

  function sendProblem(error: unknown, request: Parameters<typeof contextOf>[0], reply: FastifyReply): unknown {
    const context = contextOf(request);
    if (!(error instanceof AppError) || error.status >= 500) options.onFault(error, context.traceId);
    const problem = problemOf(error, context);
    return reply.code(problem.status).headers(problem.headers).send(problem.body);
  }

  server.setErrorHandler((error, request, reply) => sendProblem(translateFrameworkError(error), request.raw, reply));
  server.setNotFoundHandler(createUnrouted(createAllowedMethods([...options.routes, ...DOCS_ROUTES])));
  server.removeAllContentTypeParsers();
  // Bodies are read by the routes that have one, after the rights are checked; the framework leaves them alone.
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  mountDocsPage(server);
  for (const route of options.routes) mountRoute(server, route, options);
  return { fastify: server, inFlight: () => gate?.inFlight() ?? 0 };
}

function listenerFor(gate: Gate): Server {
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // A missing Host header is answered by the gate, with a problem body.
      requireHostHeader: false,
    },
    (request, response) => {
      response.once('finish', () => markAnswered(request.socket));
      gate.pass(request, response);
    },
  );
  server.on('checkExpectation', (request, response: ServerResponse) => gate.pass(request, response));
  server.on('connect', (_request, socket: Socket) => socket.end(rawAnswer(405, { Allow: 'GET' }, '')));
  return server;
}

/** The framework's own refusals in our words. Anything else passes through unchanged. */
function translateFrameworkError(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  switch (
    (error as { code?: unknown }).code // Read as unknown and compared below.
  ) {
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new AppError(
        'malformed_request',
        'The path has broken percent-encoding. Encode each byte as % and two hex digits.',
      );
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new AppError('unsupported_media_type', 'Send the body as JSON with Content-Type: application/json.');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new AppError('payload_too_large', 'The body is too large.', { headers: { Connection: 'close' } });
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new AppError('malformed_request', 'The body is not as long as Content-Length says.');
    default:
      return error;
  }
}
