import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ErrorCode } from '../kernel/errors.js';
import { AppError } from '../kernel/errors.js';
import type { Verdict } from '../limits/rate-counter.js';
import { ALLOWED } from '../limits/rate-counter.js';
import { docsPages } from './openapi/docs-page.js';
import { portalPages } from './portal-pages.js';
import type { AnyRoute } from './routes/any-route.js';
import { homePage } from './routes/home.js';
import { jsonRunner } from './routes/json-runner.js';
import { pageRunner } from './routes/page-runner.js';
import type { Found, Routing } from './routes/routing.js';
import { createRouting, prepare, targetOf } from './routes/routing.js';
import type { RouteRunner, RunnerOptions } from './routes/runner.js';
import { streamRunner } from './routes/stream-runner.js';
import { answerUnrouted } from './routes/unrouted.js';
import { breakOff } from './transport/break-off.js';
import type { RequestContext } from './transport/context.js';
import type { GateOptions } from './transport/gate.js';
import { createGate } from './transport/gate.js';
import { noted } from './transport/last-exchange.js';
import type { HttpListener } from './transport/listener.js';
import { createListener } from './transport/listener.js';
import type { Load } from './transport/load.js';
import { createLoad } from './transport/load.js';
import { isPreflight } from './transport/preflight.js';
import { isProbe } from './transport/probe-paths.js';
import type { Exchange, Responder } from './transport/respond.js';
import type { Target } from './transport/target.js';
import { readTarget } from './transport/target.js';
import type { OnAnswered } from './transport/write-answer.js';

export interface HttpServerOptions
  extends GateOptions,
    Omit<RunnerOptions, 'bodies' | 'streams' | 'passed' | 'stopping'> {
  readonly routes: readonly AnyRoute[];
  readonly onAnswered: OnAnswered;
  /** How long an idle connection stays open; 72 unless told. */
  readonly keepAliveSeconds?: number;
}

export interface HttpServer extends HttpListener {
  readonly inFlight: () => number;
  readonly bodiesWaiting: () => number;
}

/** How much of all places one client may hold with answers it does not read. */
const UNSENT_SHARE_MAX = 0.5;
const READINESS_ROUTE = 'GET /readyz';

/**
 * The way of a request:
 *   routing   its route, and by the record what it counts in and who may read the answer
 *   gate      trace id, client address, rate limits, in-flight bound, hostile requests
 *   unrouted  unknown path, wrong method, OPTIONS
 *   runner    by the kind of its route. json: authenticate, authorize, replay under an idempotency key, read and check the
 *             input, handle, audit a read, serialise. stream: authenticate, authorize, pieces in and out. page: a file
 *   respond   the one way out, problems included
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const stopping = new AbortController();
  const load = createLoad(options, stopping.signal);
  const { bodies, streams, passed, respond } = load;
  const runnerOptions = { ...options, bodies, streams, passed, stopping: stopping.signal };
  const routing = createRouting(
    [...options.routes, homePage(), ...docsPages(), ...portalPages()].map((route) => ({
      route,
      prepared: prepare(route, runnerOf(route, runnerOptions, respond)),
    })),
  );
  const { keepAliveSeconds } = options;
  const listener = createListener({
    receive: createReceive(options, routing, load),
    look: load.unsent.look,
    ...(keepAliveSeconds && { keepAliveSeconds }),
  });
  return {
    listen: listener.listen,
    close() {
      stopping.abort();
      return listener.close();
    },
    inFlight: load.places.taken,
    bodiesWaiting: bodies.waiting,
  };
}

function createReceive(options: HttpServerOptions, routing: Routing, load: Load): RequestListener {
  const { places, unsent, pipelines, respond } = load;
  const gate = createGate(options);
  const fail = createFail(options, respond);

  function open(request: IncomingMessage, response: ServerResponse): Exchange {
    const exchange: Exchange = { request, response, context: noted(response, gate.contextOf(request)) };
    places.take(exchange.context);
    return exchange;
  }

  function begin(request: IncomingMessage, response: ServerResponse): void {
    // What Node had read of a connection before we closed it.
    if (request.socket.destroyed) return;
    const exchange = open(request, response);
    const target = readTarget(request);
    const found = routing.find(target.pathname);
    const { context } = exchange;
    routing.describe(request, context, target.pathname, found);
    const verdict = gate.count(context, routing.limitsOf(request, context, target.pathname, found));
    if (verdict instanceof Promise) void verdict.then((known) => proceed(exchange, known, target, found));
    else proceed(exchange, verdict, target, found);
  }

  function proceed(exchange: Exchange, verdict: Verdict, { pathname, rawQuery }: Target, found: Found): void {
    const { request, context } = exchange;
    try {
      // A browser that is refused here would tell its page nothing but that something failed.
      const judged = isPreflight(request) ? ALLOWED : verdict;
      if (judged.isAllowed && isTooMuch(context) && !isProbe(pathname)) {
        respond.overloaded(exchange);
        return;
      }
      gate.check(request, context, judged);
      if (found instanceof AppError) throw found;
      const target = targetOf(found, request.method ?? 'GET');
      if (found === undefined || target === undefined) {
        answerUnrouted(exchange, pathname, found?.byMethod.keys() ?? [], respond);
        return;
      }
      const running = target.run(exchange, rawQuery, found.params);
      if (running) running.catch((error: unknown) => fail(exchange, error));
    } catch (error) {
      fail(exchange, error);
    }
  }

  // Also for a client that reads none of its answers: it must not use up the places of all others.
  const isTooMuch = ({ limitKey }: RequestContext): boolean =>
    gate.isFull(places.taken()) || unsent.countOf(limitKey) > options.inFlightMax * UNSENT_SHARE_MAX;

  return (request, response) => {
    if (pipelines.startNow(request)) return begin(request, response);
    if (pipelines.wait(request, () => begin(request, response))) return;
    const exchange = open(request, response);
    const { pathname } = readTarget(request);
    routing.describe(request, exchange.context, pathname, routing.find(pathname));
    respond.overloaded(exchange);
  };
}

/** Answers a request that went wrong. */
function createFail({ onFault, onAnswered }: HttpServerOptions, respond: Responder) {
  return (exchange: Exchange, error: unknown): void => {
    const { response, context } = exchange;
    if (isOurFault(error, context.route)) onFault(error, context.traceId);
    // An answer that is out cannot be taken back; of one that is half out the client must see that it broke off.
    if (!response.headersSent) respond.problem(exchange, context.refusal ?? error);
    else if (!response.writableEnded) {
      onAnswered(exchange, response.statusCode);
      breakOff(response);
    }
  };
}

function runnerOf(route: AnyRoute, options: RunnerOptions, respond: Responder): RouteRunner {
  switch (route.kind) {
    case 'json':
      return jsonRunner(route, options, respond);
    case 'stream':
      return streamRunner(route, options, respond);
    case 'page':
      return pageRunner(route, respond);
  }
}

/** Seen in the request lines and the metrics, and otherwise the tenant's affair: what its code throws may hold anything. */
const NOT_OURS: ReadonlySet<ErrorCode> = new Set([
  'overloaded',
  'reactor_error',
  'reactor_timeout',
  'reactors_unavailable',
  'destination_unreachable',
]);

/**
 * Too many requests at once are seen in the request lines and the metrics; a story for each would only add to the load.
 * A probe that is told no is no failure: that something is missing is reported once, when it goes.
 */
function isOurFault(error: unknown, route: string): boolean {
  if (!(error instanceof AppError)) return true;
  return error.status >= 500 && !NOT_OURS.has(error.code) && route !== READINESS_ROUTE;
}
