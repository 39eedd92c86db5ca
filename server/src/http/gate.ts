import type { IncomingMessage, ServerResponse } from 'node:http';
import { containsApiKey } from '../access/api-key.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { scopesOf } from '../limits/catalogue.js';
import type { TrustedProxies } from '../limits/client-address.js';
import { clientAddressOf } from '../limits/client-address.js';
import { rateLimitHeaders } from '../limits/headers.js';
import type { RateCounter, Verdict } from '../limits/rate-counter.js';
import type { RequestContext } from './context.js';
import { setContext } from './context.js';
import type { HeaderNames } from './header-names.js';
import { createHostileCheck } from './hostile.js';
import { problemOf } from './problem.js';

export interface GateOptions {
  readonly clock: Clock;
  readonly headerNames: HeaderNames;
  readonly trustedProxies: TrustedProxies;
  /** Undefined lifts every limit, for measuring. */
  readonly rateCounter: RateCounter | undefined;
  readonly inFlightMax: number;
  readonly onFinished: (request: IncomingMessage, response: ServerResponse, context: RequestContext) => void;
}

export interface Gate {
  pass(request: IncomingMessage, response: ServerResponse): void;
  readonly inFlight: () => number;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const TRACE_ID = /^[\x21-\x7e]{1,200}$/;
const EXPOSED_SUFFIXES = 'RateLimit, RateLimit-Policy, Retry-After, Location';

/**
 * The front door: every request gets its trace id, its address and its place in the rate limits here, before the
 * framework, the key or the body is looked at. It works on the bare request because nothing may get past it, not even
 * what the router cannot read.
 */
export function createGate(options: GateOptions, enter: Handler): Gate {
  const { headerNames } = options;
  const refuseHostile = createHostileCheck(headerNames.spellings('api-key'));
  let inFlight = 0;

  function traceIdOf(request: IncomingMessage): string {
    const given = headerNames.read(request.headers, 'trace-id');
    // A key pasted into the wrong header must not end up in logs.
    return given !== undefined && TRACE_ID.test(given) && !containsApiKey(given) ? given : newId();
  }

  function begin(request: IncomingMessage, response: ServerResponse): RequestContext {
    const forwarded = request.headers['x-forwarded-for'];
    const address = clientAddressOf(
      request.socket.remoteAddress ?? '',
      typeof forwarded === 'string' ? forwarded : undefined,
      options.trustedProxies,
    );
    const prefix = headerNames.prefixOf(request.headers);
    const context: RequestContext = {
      traceId: traceIdOf(request),
      prefix,
      sourceAddress: address.text,
      limitKey: address.limitKey,
      startedAtMs: options.clock.monotonicMs(),
      route: 'none',
      principal: undefined,
    };
    setContext(request, context);
    response.setHeader(`${prefix}-TRACE-ID`, context.traceId);
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader(
      'Access-Control-Expose-Headers',
      `${prefix}-TRACE-ID, ${prefix}-PROXY-DESTINATION-STATUS, ${EXPOSED_SUFFIXES}`,
    );
    inFlight += 1;
    response.once('close', () => {
      inFlight -= 1;
      options.onFinished(request, response, context);
    });
    return context;
  }

  function refuse(error: unknown, response: ServerResponse, context: RequestContext): void {
    const problem = problemOf(error, context);
    response.writeHead(problem.status, problem.headers);
    response.end(problem.body);
  }

  function admit(verdict: Verdict, request: IncomingMessage, response: ServerResponse, context: RequestContext): void {
    try {
      if (!verdict.isAllowed) throw rateLimited(verdict);
      if (inFlight > options.inFlightMax) throw overloaded();
      refuseHostile(request);
    } catch (error) {
      refuse(error, response, context);
      return;
    }
    enter(request, response);
  }

  return {
    pass(request, response) {
      const context = begin(request, response);
      if (options.rateCounter === undefined) {
        admit({ isAllowed: true }, request, response, context);
        return;
      }
      const rows = scopesOf(request.method ?? 'GET', pathOf(request.url ?? '/'), false);
      const verdict = options.rateCounter.check(context.limitKey, rows);
      if (verdict instanceof Promise) void verdict.then((known) => admit(known, request, response, context));
      else admit(verdict, request, response, context);
    },
    inFlight: () => inFlight,
  };
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

function rateLimited(verdict: Extract<Verdict, { isAllowed: false }>): AppError {
  const headers = rateLimitHeaders(verdict);
  const detail = `Too many requests from this address. Wait ${headers['Retry-After']} second(s), then go on.`;
  return new AppError('rate_limited', detail, { headers });
}

function overloaded(): AppError {
  return new AppError('overloaded', 'Too many requests are being worked on. Nothing was done; try again shortly.', {
    headers: { 'Retry-After': '1' },
  });
}
