import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../kernel/errors.js';
import type { Verdict } from '../limits/rate-counter.js';
import { ALLOWED } from '../limits/rate-counter.js';
import { docsPages } from './openapi/docs-page.js';
import type { AnyRoute } from './routes/any-route.js';
import { homePage } from './routes/home.js';
import { jsonRunner } from './routes/json-runner.js';
import { pageRunner } from './routes/page-runner.js';
import type { Found } from './routes/routing.js';
import { createRouting, prepare, targetOf } from './routes/routing.js';
import type { RouteRunner, RunnerOptions } from './routes/runner.js';
import { streamRunner } from './routes/stream-runner.js';
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
import type { Exchange, OnAnswered, Responder } from './transport/respond.js';
import { createResponder } from './transport/respond.js';
import { createStreamSlots } from './transport/stream-slots.js';
import type { Target } from './transport/target.js';
import { readTarget } from './transport/target.js';
import { createUnsentAnswers } from './transport/unsent-answers.js';

export interface HttpServerOptions extends GateOptions, Omit<RunnerOptions, 'bodies' | 'streams' | 'stopping'> {
  readonly routes: readonly AnyRoute[];
  readonly onAnswered: OnAnswered;
  /** How long an idle connection stays open; 72 unless told. */
  readonly keepAliveSeconds?: number;
}

export interface HttpServer extends HttpListener {
  readonly inFlight: () => number;
  readonly bodiesWaiting: () => number;
}

const BODIES_PER_SLOT = 4;
const STREAMS_PER_SLOT = 4;
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
  const gate = createGate(options);
  const load = createLoad(options, stopping.signal);
  const { places, unsent, pipelines, respond } = load;
  const runnerOptions = { ...options, bodies: load.bodies, streams: load.streams, stopping: stopping.signal };
  const routing = createRouting(
    [...options.routes, homePage(), ...docsPages()].map((route) => ({
      route,
      prepared: prepare(route, runnerOf(route, runnerOptions, respond)),
    })),
  );

  function receive(request: IncomingMessage, response: ServerResponse): void {
    if (pipelines.enter(request, () => begin(request, response))) return;
    const exchange = enterPlace(request, response);
    const { pathname } = readTarget(request);
    exchange.context.isCrossOrigin = routing.isCrossOrigin(request.method, pathname, routing.find(pathname));
    respond.overloaded(exchange);
  }

  function enterPlace(request: IncomingMessage, response: ServerResponse): Exchange {
    const exchange: Exchange = { request, response, context: gate.identify(request) };
    places.take(exchange.context);
    return exchange;
  }

  function begin(request: IncomingMessage, response: ServerResponse): void {
    // What Node had read of a connection before we closed it.
    if (request.socket.destroyed) return;
    const exchange = enterPlace(request, response);
    const target = readTarget(request);
    const found = routing.find(target.pathname);
    const { context } = exchange;
    context.isCrossOrigin = routing.isCrossOrigin(request.method, target.pathname, found);
    const verdict = gate.count(context, routing.limitsOf(request, context, target.pathname, found));
    if (verdict instanceof Promise) void verdict.then((known) => enter(exchange, known, target, found));
    else enter(exchange, verdict, target, found);
  }

  function enter(exchange: Exchange, verdict: Verdict, target: Target, found: Found): void {
    try {
      // A browser that is refused here would tell its page nothing but that something failed.
      const judged = isPreflight(exchange.request) ? ALLOWED : verdict;
      if (judged.isAllowed && isTooMuch(exchange) && !isProbe(target.pathname)) {
        respond.overloaded(exchange);
        return;
      }
      gate.admit(exchange.request, exchange.context, judged);
      const running = run(exchange, target, found);
      if (running) running.catch((error: unknown) => fail(exchange, error));
    } catch (error) {
      fail(exchange, error);
    }
  }

  /** Also for a client that reads none of its answers: it must not use up the places of all others. */
  function isTooMuch({ context }: Exchange): boolean {
    return gate.isFull(places.taken()) || unsent.countOf(context.limitKey) > options.inFlightMax * UNSENT_SHARE_MAX;
  }

  function run(exchange: Exchange, { pathname, rawQuery }: Target, found: Found): void | Promise<void> {
    if (found instanceof AppError) throw found;
    const target = targetOf(found, exchange.request.method ?? 'GET');
    if (found && target) return target.run(exchange, rawQuery, found.params);
    answerUnrouted(exchange, pathname, found?.byMethod.keys() ?? [], respond);
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

  const { keepAliveSeconds } = options;
  const listener = createListener({ receive, look: unsent.look, ...(keepAliveSeconds && { keepAliveSeconds }) });
  return {
    listen: listener.listen,
    close() {
      stopping.abort();
      return listener.close();
    },
    inFlight: places.taken,
    bodiesWaiting: load.bodies.waiting,
  };
}

/** Everything that is bounded: requests in work, bodies on their way, streams, and answers nobody has read. */
function createLoad(options: HttpServerOptions, stopping: AbortSignal) {
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
    isClosing: () => stopping.aborted,
  });
  // Waiting for a slow client is no work: its place is free for others meanwhile.
  const bodies = createBodyWaits({
    waitingMax: options.inFlightMax * BODIES_PER_SLOT,
    onWait: places.leave,
    onArrived: places.takeAgain,
  });
  const streams = createStreamSlots({ max: options.inFlightMax * STREAMS_PER_SLOT, onTake: places.leave });
  return { places, unsent, pipelines, respond, bodies, streams };
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

/**
 * Too many requests at once are seen in the request lines and the metrics; a story for each would only add to the load.
 * A probe that is told no is no failure: that something is missing is reported once, when it goes.
 */
function isOurFault(error: unknown, route: string): boolean {
  if (!(error instanceof AppError)) return true;
  return error.status >= 500 && error.code !== 'overloaded' && route !== READINESS_ROUTE;
}
