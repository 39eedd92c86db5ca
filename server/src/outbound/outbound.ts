import type { Clock } from '../kernel/clock.js';
import type { EndSignal } from '../kernel/end-signal.js';
import type { Flow } from '../kernel/flow.js';
import type { Gauge } from '../telemetry/metrics.js';
import { answerBody, flowOut, isShort, readShortBody } from './answer-body.js';
import type { CallEnd } from './call-end.js';
import { createCallEnd } from './call-end.js';
import type { PlaceAsked } from './call-places.js';
import { CallPlaces } from './call-places.js';
import type { Dial } from './connect.js';
import { createConnect, createOutboundTls, dialTcp } from './connect.js';
import { OutboundConnections } from './connection-pool.js';
import { readDestination } from './destination.js';
import type { IncomingAnswer } from './exchange.js';
import { exchangeMessages } from './exchange.js';
import type { HeaderPairs } from './message-headers.js';
import { incomingHeaders } from './message-headers.js';
import type { OpenCall } from './open-calls.js';
import { createOpenCalls } from './open-calls.js';
import { OutboundError, outboundFailureOf } from './outbound-error.js';
import { createOutboundFigures } from './outbound-figures.js';
import type { OutboundRules, TenantOutboundRules } from './policy.js';
import { createOutboundPolicy } from './policy.js';
import { createOutboundPrepare } from './prepare.js';
import type { OutboundRefusal } from './refusal-log.js';
import { createRefusalLog } from './refusal-log.js';
import type { ResolveName } from './resolve.js';
import { createNameResolver, NAME_RESOLVER_OPTIONS } from './resolve.js';

/** How long each part may take, and how large an answer may be. */
export interface OutboundBounds {
  /** For a place among the requests; then for the addresses of the name; then for the connection with its TLS handshake. */
  readonly connectMs: number;
  /** From there, and from each piece of the body the destination takes, to the headers of the answer. */
  readonly headersMs: number;
  /** Longest silence within the answer. */
  readonly idleMs: number;
  /** How long the caller may leave the body unread. */
  readonly unreadMs: number;
  /** From `send` to the last byte; undefined for no such bound. */
  readonly totalMs: number | undefined;
  readonly answerBytesMax: number | undefined;
}

export const OUTBOUND_BOUNDS: OutboundBounds = {
  connectMs: 10_000,
  headersMs: 25_000,
  idleMs: 25_000,
  unreadMs: 60_000,
  totalMs: undefined,
  answerBytesMax: undefined,
};

export interface OutboundRequest {
  /**
   * Whose rules count and whose connections are used. Must come from the credential, never from the request; or is
   * `PRODUCT_CALLER`.
   */
  readonly tenantId: string;
  /** Nobody's key stands behind it: such requests have fewer places. */
  readonly isAnonymous?: boolean;
  /** GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS; anything else is refused. */
  readonly method: string;
  /** Absolute. Method, URL and headers may be anything that hostile code can write. */
  readonly url: string;
  /** Those about the connection, and those we write ourselves, are left out. */
  readonly headers: HeaderPairs;
  /** What the caller wants said about the connection all the same: `Connection: close` or `keep-alive`, and `Keep-Alive`. */
  readonly connectionHeaders?: HeaderPairs;
  readonly body?: Buffer | AsyncIterable<Buffer> | undefined;
  /** Length of a body in pieces, where it is known: it is then announced, and must be right. */
  readonly bodyBytes?: number | undefined;
  /** Ends the call at any time: waiting, connection, body. */
  readonly signal?: EndSignal;
  readonly bounds?: Partial<OutboundBounds>;
}

export interface OutboundAnswer {
  /** 200 and above. Redirects are answers like others: each hop must be a call of its own, so that it is judged. */
  readonly status: number;
  /** As received, in order, without those about the connection. Each `Set-Cookie` is an entry of its own. */
  readonly headers: HeaderPairs;
  /**
   * The bytes as received, compressed if the destination compressed them. Must be read once: to its end, or left (`break`),
   * or aborted. Throws an `OutboundError` if the answer ends too early.
   */
  readonly body: AsyncIterable<Buffer>;
  /** In place of `body`: handed on as it comes. Ends with the signal of the request. */
  readonly flow: Flow;
  /** In place of `body` where it is announced as short: all of it at once, which takes far less time. */
  readonly readShort?: (() => Promise<Buffer>) | undefined;
}

/** The one way out, for code of tenants and for the product itself. */
export interface Outbound {
  /** Throws an `OutboundError` and nothing else. Never sends twice. */
  send(request: OutboundRequest): Promise<OutboundAnswer>;
  /** Aborts what is under way and closes every connection. */
  close(): Promise<void>;
  readonly gauges: readonly Gauge[];
}

export interface OutboundOptions {
  readonly rules: OutboundRules;
  readonly tenants: ReadonlyMap<string, TenantOutboundRules>;
  /** What the product may reach for itself, as `PRODUCT_CALLER`. Nothing, unless it is said. */
  readonly product?: OutboundRules;
  /** PEM texts beside the platform's own. */
  readonly authorities: readonly string[];
  readonly requestsMax: number;
  readonly clock: Clock;
  readonly onRefused: (refusal: OutboundRefusal) => void;
  readonly bounds?: Partial<OutboundBounds>;
  readonly resolve?: ResolveName;
  readonly dial?: Dial;
  readonly idleMs?: number;
  /** Runs a tenant's work that takes milliseconds when it is its turn; at once without it. */
  readonly pace?: (tenantId: string, work: () => void) => Promise<void>;
}

/** Below the five seconds after which many servers close: a request on a connection that is just closing would fail. */
const IDLE_MS = 4_000;
const IDLE_MAX = 128;
const WAITING_OF_TENANT_MAX = 1_024;

export function createOutbound(options: OutboundOptions): Outbound {
  const { requestsMax, clock, onRefused, pace = runAtOnce } = options;
  const refusals = createRefusalLog({ clock, write: onRefused });
  const pool = new OutboundConnections({ idleMs: options.idleMs ?? IDLE_MS, idleMax: IDLE_MAX });
  const places = new CallPlaces({
    max: requestsMax,
    ofTenantMax: Math.ceil(requestsMax / 2),
    ofDestinationMax: Math.ceil(requestsMax / 4),
    waitingOfTenantMax: WAITING_OF_TENANT_MAX,
  });
  const states = { inFlight: () => places.taken(), waiting: () => places.waiting(), idle: () => pool.idleCount() };
  const figures = createOutboundFigures(states);
  const prepare = createOutboundPrepare({
    policyOf: createOutboundPolicy(options.rules, options.tenants, options.product),
    connect: createConnect({
      resolve: options.resolve ?? createNameResolver(NAME_RESOLVER_OPTIONS),
      dial: options.dial ?? dialTcp,
      secureContext: createOutboundTls(options.authorities),
    }),
  });
  const calls = createOpenCalls(figures.countOutcome);
  const usual: OutboundBounds = { ...OUTBOUND_BOUNDS, ...options.bounds };

  function noteRefusal({ tenantId, url }: OutboundRequest, { reason }: OutboundError): void {
    if (reason === undefined) return;
    figures.countRefusal(reason);
    // A name without an address is most often a typing error.
    if (reason === 'unresolved') return;
    const destination = readDestination(url);
    refusals.note({ tenantId, reason, ...(typeof destination !== 'string' && { host: destination.host }) });
  }

  return {
    gauges: figures.gauges,
    async send(request) {
      const bounds = request.bounds ? { ...usual, ...request.bounds } : usual;
      const call = calls.open(createCallEnd({ signal: request.signal, totalMs: bounds.totalMs }));
      const { end } = call;
      try {
        const wire = prepare(request, end, bounds.connectMs);
        const place = places.take(placeOf(request, wire), end.signal);
        if (place instanceof Promise) await waitFor(place, call, bounds.connectMs);
        else call.holds(place);
        end.signal.throwIfAborted();
        const own = { end, headersMs: bounds.headersMs, onOver: call.over, pace: pace.bind(null, request.tenantId) };
        return answerOf(await exchangeMessages(wire, { pool, ...own }), end, bounds);
      } catch (error) {
        const failure = outboundFailureOf(error);
        noteRefusal(request, failure);
        call.fail(failure);
        throw failure;
      }
    },
    async close() {
      await calls.close();
      pool.destroy();
      refusals.close();
    },
  };
}

async function runAtOnce(_tenantId: string, work: () => void): Promise<void> {
  work();
}

function placeOf({ tenantId, isAnonymous }: OutboundRequest, { poolName }: Pick<PlaceAsked, 'poolName'>): PlaceAsked {
  return { tenantId, poolName, isAnonymous };
}

const busy = (): OutboundError => new OutboundError('busy');

async function waitFor(place: Promise<() => void>, call: OpenCall, connectMs: number): Promise<void> {
  call.end.await(connectMs, busy);
  call.holds(await place);
  call.end.rest();
}

function answerOf(incoming: IncomingAnswer, end: CallEnd, bounds: OutboundBounds): OutboundAnswer {
  const { status, headers } = incoming.head;
  if (status > 599) throw new OutboundError('bad_answer');
  return {
    status,
    headers: incomingHeaders(headers),
    body: answerBody(incoming, end, bounds),
    flow: (sink) => flowOut(incoming, end, bounds, sink),
    readShort: isShort(incoming) ? () => readShortBody(incoming, end, bounds) : undefined,
  };
}
