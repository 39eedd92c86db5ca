import type { IncomingMessage } from 'node:http';
import { containsApiKey } from '../access/api-key.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { scopesOf } from '../limits/catalogue.js';
import type { TrustedProxies } from '../limits/client-address.js';
import { clientAddressOf } from '../limits/client-address.js';
import { rateLimitHeaders } from '../limits/headers.js';
import type { RateCounter, Refusal, Verdict } from '../limits/rate-counter.js';
import { ALLOWED } from '../limits/rate-counter.js';
import type { RequestContext } from './context.js';
import type { HeaderNames } from './header-names.js';
import { createHostileCheck } from './hostile.js';

export interface GateOptions {
  readonly clock: Clock;
  readonly headerNames: HeaderNames;
  readonly trustedProxies: TrustedProxies;
  /** Undefined lifts every limit, for measuring. */
  readonly rateCounter: RateCounter | undefined;
  readonly inFlightMax: number;
}

export interface Gate {
  /** Trace id, client address, header prefix. Cannot fail: whatever follows needs them to answer. */
  identify(request: IncomingMessage): RequestContext;
  /** Counts the request in every limit it matches, and says whether it may go on. */
  count(request: IncomingMessage, context: RequestContext, pathname: string): Verdict | Promise<Verdict>;
  /** Throws unless the request may enter. */
  admit(request: IncomingMessage, verdict: Verdict, inFlight: number): void;
}

const TRACE_ID = /^[\x21-\x7e]{1,200}$/;

/** The front door: nothing looks at the key or the body of a request before it has passed here. */
export function createGate(options: GateOptions): Gate {
  const { clock, headerNames, rateCounter } = options;
  const refuseHostile = createHostileCheck(headerNames.spellings('api-key'));

  function traceIdOf(request: IncomingMessage): string {
    const given = headerNames.read(request.headers, 'trace-id');
    // A key pasted into the wrong header must not end up in logs.
    return given !== undefined && TRACE_ID.test(given) && !containsApiKey(given) ? given : newId();
  }

  return {
    identify(request) {
      const forwarded = request.headers['x-forwarded-for'];
      const address = clientAddressOf(
        request.socket.remoteAddress ?? '',
        typeof forwarded === 'string' ? forwarded : undefined,
        options.trustedProxies,
      );
      return {
        traceId: traceIdOf(request),
        prefix: headerNames.prefixOf(request.headers),
        sourceAddress: address.text,
        limitKey: address.limitKey,
        startedAtMs: clock.monotonicMs(),
        route: 'none',
        principal: undefined,
      };
    },
    count(request, context, pathname) {
      if (rateCounter === undefined) return ALLOWED;
      return rateCounter.check(context.limitKey, scopesOf(request.method ?? 'GET', pathname, false));
    },
    admit(request, verdict, inFlight) {
      if (!verdict.isAllowed) throw rateLimited(verdict);
      if (inFlight > options.inFlightMax) throw overloaded();
      refuseHostile(request);
    },
  };
}

function rateLimited(refusal: Refusal): AppError {
  const headers = rateLimitHeaders(refusal);
  const detail = `Too many requests from this address. Wait ${headers['Retry-After']} second(s), then go on.`;
  return new AppError('rate_limited', detail, { headers });
}

function overloaded(): AppError {
  return new AppError('overloaded', 'Too many requests are being worked on. Nothing was done; try again shortly.', {
    headers: { 'Retry-After': '1' },
  });
}
