import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../kernel/errors.js';
import type { Verdict } from '../limits/rate-counter.js';
import { ALLOWED } from '../limits/rate-counter.js';
import { docsRunners } from './openapi/docs-page.js';
import { homeRunner } from './routes/home.js';
import type { PrepareOptions, RouteRunner } from './routes/prepare-route.js';
import { prepareRoute } from './routes/prepare-route.js';
import type { RouteRecord } from './routes/route.js';
import { createRouter } from './routes/router.js';
import { answerUnrouted } from './routes/unrouted.js';
import { createBodyWaits } from './transport/body-waits.js';
import type { GateOptions } from './transport/gate.js';
import { createGate } from './transport/gate.js';
import type { HttpListener } from './transport/listener.js';
import { createListener } from './transport/listener.js';
import { createPipelines } from './transport/pipeline.js';
import { createPlaces } from './transport/places.js';
import { isPreflight } from './transport/preflight.js';
import { isProbe } from './transport/probe-paths.js';
import type { Exchange, OnAnswered } from './transport/respond.js';
import { createResponder } from './transport/respond.js';
import { readTarget } from './transport/target.js';
import { createUnsentAnswers } from './transport/unsent-answers.js';

export interface HttpServerOptions extends GateOptions, Omit<PrepareOptions, 'bodies'> {
  readonly routes: readonly RouteRecord[];
  readonly onAnswered: OnAnswered;
}

export interface HttpServer extends HttpListener {
  readonly inFlight: () => number;
  readonly bodiesWaiting: () => number;
}

const BODIES_PER_SLOT = 4;
/** How much of all places one client may hold with answers it does not read. */
const UNSENT_SHARE_MAX = 0.5;
const READINESS_ROUTE = 'GET /readyz';

/**
 * The way of a request:
 *   gate           trace id, client address, rate limits, in-flight bound, hostile requests
 *   router         unknown path, wrong method, OPTIONS
 *   prepare-route  authenticate, authorize, replay under an idempotency key, read and check the input, handle, audit a
 *                  read, serialise
 *   respond        the one way out, problems included
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const gate = createGate(options);
  const places = createPlaces({ max: options.inFlightMax });
  // A request has its place until its answer has left: what a client does not read is memory too.
  const unsent = createUnsentAnswers({
    clock: options.clock,
    onOut: ({ context }) => {
      places.leave(context);
      const { held } = context;
      context.held = undefined;
      for (const release of held ?? []) release();
    },
    onAside: ({ context }) => places.leave(context),
  });
  const pipelines = createPipelines();
  const respond = createResponder({
    clock: options.clock,
    onAnswered(exchange, status) {
      options.onAnswered(exchange, status);
      pipelines.leave(exchange.request.socket);
    },
    onWritten: unsent.follow,
    isClosing: () => listener.isClosing(),
  });
  const bodies = createBodyWaits({
    waitingMax: options.inFlightMax * BODIES_PER_SLOT,
    // Waiting for a slow client is no work: its place is free for others meanwhile.
    onWait: places.leave,
    onArrived: places.takeAgain,
  });
  const route = createRouter<RouteRunner>([
    ...options.routes.map((record) => ({ ...record, target: prepareRoute(record, { ...options, bodies }, respond) })),
    homeRunner(respond),
    ...docsRunners(respond),
  ]);

  function receive(request: IncomingMessage, response: ServerResponse): void {
    if (pipelines.enter(request, () => begin(request, response))) return;
    respond.overloaded(enterPlace(request, response));
  }

  function enterPlace(request: IncomingMessage, response: ServerResponse): Exchange {
    const exchange: Exchange = { request, response, context: gate.identify(request) };
    places.enter(exchange.context);
    return exchange;
  }

  function begin(request: IncomingMessage, response: ServerResponse): void {
    // What Node had read of a connection before we closed it.
    if (request.socket.destroyed) return;
    const exchange = enterPlace(request, response);
    const { pathname, rawQuery } = readTarget(request);
    const verdict = gate.count(request, exchange.context, pathname);
    if (verdict instanceof Promise) void verdict.then((known) => enter(exchange, known, pathname, rawQuery));
    else enter(exchange, verdict, pathname, rawQuery);
  }

  function enter(exchange: Exchange, verdict: Verdict, pathname: string, rawQuery: string): void {
    try {
      // A browser that is refused here would tell its page nothing but that something failed.
      const judged = isPreflight(exchange.request) ? ALLOWED : verdict;
      if (judged.isAllowed && isTooMuch(exchange) && !isProbe(pathname)) {
        respond.overloaded(exchange);
        return;
      }
      gate.admit(exchange.request, exchange.context, judged);
      const running = run(exchange, pathname, rawQuery);
      if (running) running.catch((error: unknown) => fail(exchange, error));
    } catch (error) {
      fail(exchange, error);
    }
  }

  /** Also for a client that reads none of its answers: it must not use up the places of all others. */
  function isTooMuch({ context }: Exchange): boolean {
    return gate.isFull(places.taken()) || unsent.countOf(context.limitKey) > options.inFlightMax * UNSENT_SHARE_MAX;
  }

  function run(exchange: Exchange, pathname: string, rawQuery: string): void | Promise<void> {
    const match = route(pathname);
    const method = exchange.request.method ?? 'GET';
    const runner = match?.byMethod.get(method === 'HEAD' ? 'GET' : method);
    if (match && runner) return runner(exchange, rawQuery, match.params);
    answerUnrouted(exchange, pathname, match?.byMethod.keys() ?? [], respond);
  }

  function fail(exchange: Exchange, error: unknown): void {
    if (isOurFault(error, exchange.context.route)) options.onFault(error, exchange.context.traceId);
    const { response } = exchange;
    // An answer that is out cannot be taken back; of one that is half out the client must see that it broke off.
    if (!response.headersSent) respond.problem(exchange, error);
    else if (!response.writableEnded) {
      options.onAnswered(exchange, response.statusCode);
      response.destroy();
    }
  }

  const listener = createListener(options.clock, receive, unsent.look);
  return { ...listener, inFlight: places.taken, bodiesWaiting: bodies.waiting };
}

/**
 * Too many requests at once are seen in the request lines and the metrics; a story for each would only add to the load.
 * A probe that is told no is no failure: that something is missing is reported once, when it goes.
 */
function isOurFault(error: unknown, route: string): boolean {
  if (!(error instanceof AppError)) return true;
  return error.status >= 500 && error.code !== 'overloaded' && route !== READINESS_ROUTE;
}
