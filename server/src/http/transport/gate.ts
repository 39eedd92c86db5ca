import type { IncomingMessage } from 'node:http';
import { containsKey } from '../../access/api-key.js';
import type { Clock } from '../../kernel/clock.js';
import { AppError } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import type { LimitRow } from '../../limits/catalogue.js';
import type { TrustedProxies } from '../../limits/client-address.js';
import { createClientAddressReader } from '../../limits/client-address.js';
import { rateLimitHeaders } from '../../limits/headers.js';
import type { RateCounter, Refusal, Verdict } from '../../limits/rate-counter.js';
import { ALLOWED } from '../../limits/rate-counter.js';
import type { RequestContext } from './context.js';
import { refuseHostile } from './hostile.js';
import { createOwnHeaders } from './own-headers.js';

export interface GateOptions {
  readonly clock: Clock;
  /** Accepted prefixes of our header names, the strongest first. */
  readonly headerPrefixes: readonly string[];
  readonly trustedProxies: TrustedProxies;
  /** Undefined lifts every limit, for measuring. */
  readonly rateCounter: RateCounter | undefined;
  readonly inFlightMax: number;
}

export interface Gate {
  /** Trace id, client address, header prefix. Cannot fail: whatever follows needs them to answer. */
  contextOf(request: IncomingMessage): RequestContext;
  /** Counts the request in the limits of its route, and says whether it may go on. */
  count(context: RequestContext, limits: readonly LimitRow[]): Verdict | Promise<Verdict>;
  /** Throws unless the request may go on. */
  check(request: IncomingMessage, context: RequestContext, verdict: Verdict): void;
  isFull(inFlight: number): boolean;
}

const TRACE_ID = /^[\x21-\x7e]{1,200}$/;

/** The front door: nothing looks at the key or the body of a request before it has passed here. */
export function createGate(options: GateOptions): Gate {
  const { clock, rateCounter } = options;
  const readOwnHeaders = createOwnHeaders(options.headerPrefixes);
  const readClientAddress = createClientAddressReader(options.trustedProxies);

  return {
    contextOf(request) {
      const headers = readOwnHeaders(request.rawHeaders);
      const peer = request.socket.remoteAddress ?? '';
      const address = readClientAddress(peer, headers.forwardedFor);
      return {
        traceId: acceptedTraceId(headers.traceId) ?? newId(),
        headers,
        sourceAddress: address.text,
        limitKey: address.limitKey,
        startedAtMs: clock.monotonicMs(),
        route: 'none',
        isCrossOrigin: false,
        isOfPortal: false,
        problemsIn: undefined,
        principal: undefined,
        unwrittenBytes: 0,
        held: undefined,
        connection: request.socket,
        hasPlace: false,
      };
    },
    count: ({ limitKey }, limits) => (rateCounter === undefined ? ALLOWED : rateCounter.check(limitKey, limits)),
    isFull: (inFlight) => inFlight > options.inFlightMax,
    check(request, context, verdict) {
      if (!verdict.isAllowed) throw rateLimited(verdict);
      refuseHostile(request, context.headers);
    },
  };
}

/** A key pasted into the wrong header must not end up in logs. */
function acceptedTraceId(given: string | undefined): string | undefined {
  return given !== undefined && TRACE_ID.test(given) && !containsKey(given) ? given : undefined;
}

function rateLimited(refusal: Refusal): AppError {
  const headers = rateLimitHeaders(refusal);
  const detail = `Too many requests from this address. Wait ${headers['Retry-After']} second(s), then go on.`;
  return new AppError('rate_limited', detail, { headers });
}
