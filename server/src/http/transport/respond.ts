import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../kernel/clock.js';
import { overloaded } from '../../kernel/errors.js';
import { readsPlainJsonAlone } from './accept.js';
import type { RequestContext } from './context.js';
import type { JsonText } from './json-text.js';
import { problemOf } from './problem.js';
import type { Bounds } from './write-pieces.js';
import { isLong, writePieces, writeSlices, writeWhole } from './write-pieces.js';

/** Sends answers. Every request ends in exactly one call of one of these. */
export interface Responder {
  json(exchange: Exchange, status: number, body: JsonText, extra?: readonly string[]): void;
  empty(exchange: Exchange, status: number, headers: readonly string[]): void;
  /** JSON that is made while it is sent. A failure before the first piece is thrown, and can be answered. */
  pieces(exchange: Exchange, status: number, pieces: AsyncIterable<Buffer>): Promise<void>;
  /**
   * Any status, headers and body, sent as it comes and no faster than it is taken. A failure before the first piece is thrown,
   * and can be answered; so is one behind it, and then the connection must break off. Gives up when the signal is aborted.
   */
  stream(exchange: Exchange, answer: StreamedAnswer, signal: AbortSignal): Promise<void>;
  /** A file, or with nothing in it the word that it is still the same (304). What may be kept of it stands in its headers. */
  file(exchange: Exchange, headers: readonly string[], content: string | Buffer | undefined): void;
  problem(exchange: Exchange, error: unknown): void;
  /** Says that there is too much to do, at as little cost as an answer can have. */
  overloaded(exchange: Exchange): void;
}

export interface StreamedAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body?: AsyncIterable<Buffer>;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
}

export type OnAnswered = (exchange: Exchange, status: number) => void;

export interface ResponderOptions {
  readonly clock: Clock;
  /** An answer was given. */
  readonly onAnswered: OnAnswered;
  /** Something of an answer was written, and may not have left yet. */
  readonly onWritten: (exchange: Exchange) => void;
  readonly isClosing: () => boolean;
}

const NOT_STORED = ['Cache-Control', 'no-store'];
const NOT_SNIFFED = ['X-Content-Type-Options', 'nosniff'];
const NOTHING: readonly string[] = [];
const JSON_TYPE = ['Content-Type', 'application/json'];
/** What an ordinary answer says besides. */
const JSON_ALONE = [...NOT_STORED, ...JSON_TYPE];
const EXPOSED = 'RateLimit, RateLimit-Policy, Retry-After, Location';
/** Stands for a trace id in an answer that is written beforehand. */
const TRACE_ID_HERE = 'trace-id';
/** What was decided when the answer began must not hold for a client that stretches it for hours. */
const SENDING_MAX_MS = 300_000;
const NO_PIECE: IteratorResult<Buffer, void> = { done: true, value: undefined };

/** Headers go out as one flat list in one call: set one by one they would cost as much as the rest of the request. */
export function createResponder({ clock, onAnswered, onWritten, isClosing }: ResponderOptions): Responder {
  const headersFor = createCommonHeaders();

  /**
   * A client that keeps its connection busy would otherwise keep a stopping server alive; and behind an answer that did
   * not wait for its request's body, nobody could tell where the next request begins.
   */
  function isLast(exchange: Exchange, status: number): boolean {
    return isClosing() || exchange.context.headers.hasUpgrade || isBodyOutstanding(exchange, status);
  }

  function writeHead(exchange: Exchange, status: number, headers: string[]): void {
    // The refusal of a hostile request has said so itself.
    if (isLast(exchange, status) && !hasName(headers, 'connection')) headers.push('Connection', 'close');
    exchange.response.writeHead(status, headers);
  }

  function send(exchange: Exchange, status: number, headers: string[], body: string | Buffer | undefined): void {
    const bytes = body === undefined ? 0 : Buffer.byteLength(body);
    if (body !== undefined) headers.push('Content-Length', `${bytes}`);
    writeHead(exchange, status, headers);
    if (bytes === 0 || body === undefined || exchange.request.method === 'HEAD') exchange.response.end();
    else if (isLong(bytes)) writeSlices(exchange, typeof body === 'string' ? Buffer.from(body) : body);
    // As long in bytes as in characters, it is plain ASCII, which leaves the process without being re-encoded.
    else writeWhole(exchange.response, body, bytes === body.length ? 'latin1' : 'utf8');
    onAnswered(exchange, status);
    onWritten(exchange);
  }

  async function stream(exchange: Exchange, status: number, headers: string[], body: Body, bounds: Bounds) {
    const { request, response } = exchange;
    const pieces = body?.[Symbol.asyncIterator]();
    const isEmpty = pieces === undefined || request.method === 'HEAD' || status === 204 || status === 304;
    try {
      const first = isEmpty ? NO_PIECE : await pieces.next();
      writeHead(exchange, status, headers);
      onWritten(exchange);
      if (isEmpty) response.end();
      else if ((await writePieces(exchange, pieces, first, bounds)) === 'given up') response.destroy();
      onAnswered(exchange, status);
    } finally {
      const ended = pieces?.return?.();
      // A source that was given up may wait for ever; one that was not is told of what went wrong at its end.
      if (bounds.signal?.aborted) ended?.catch(() => {});
      else await ended;
    }
  }

  const refusals = { plain: refusalFor(true), problem: refusalFor(false) };

  /** The same problem as any other, written once; only the trace id is the request's own. */
  function refusalFor(isPlainJson: boolean) {
    const { status, body, headers } = problemOf(overloaded(), { traceId: TRACE_ID_HERE, prefix: '', isPlainJson });
    const [beforeTraceId = '', afterTraceId = ''] = body.split(JSON.stringify(TRACE_ID_HERE));
    return {
      status,
      headers: Object.entries(headers).flat(),
      bodyWith: (traceId: string) => beforeTraceId + JSON.stringify(traceId) + afterTraceId,
    };
  }

  return {
    overloaded(exchange) {
      const { context, request } = exchange;
      const refusal = readsPlainJsonAlone(request.rawHeaders) ? refusals.plain : refusals.problem;
      const headers = headersFor(context, NOT_STORED);
      headers.push(...refusal.headers);
      send(exchange, refusal.status, headers, refusal.bodyWith(context.traceId));
    },
    json(exchange, status, body, extra) {
      const headers = headersFor(exchange.context, JSON_ALONE);
      if (extra) headers.push(...extra);
      send(exchange, status, headers, body.text);
    },
    pieces(exchange, status, body) {
      const headers = headersFor(exchange.context, JSON_ALONE);
      const untilMs = clock.monotonicMs() + SENDING_MAX_MS;
      return stream(exchange, status, headers, body, { isOver: () => clock.monotonicMs() > untilMs });
    },
    stream(exchange, { status, headers, body }, signal) {
      const cache = hasName(headers, 'cache-control') ? NOTHING : NOT_STORED;
      return stream(exchange, status, [...headersFor(exchange.context, cache), ...headers], body, {
        isOver: () => signal.aborted,
        signal,
      });
    },
    empty(exchange, status, extra) {
      // Only a 204 ends without saying so: any other status is given its length, or Node would send chunks of nothing.
      const body = status === 204 ? undefined : '';
      send(exchange, status, [...headersFor(exchange.context, NOT_STORED), ...extra], body);
    },
    file(exchange, extra, content) {
      send(exchange, content === undefined ? 304 : 200, [...headersFor(exchange.context, NOTHING), ...extra], content);
    },
    problem(exchange, error) {
      const { request, context } = exchange;
      const problem = problemOf(error, {
        traceId: context.traceId,
        prefix: context.headers.prefix,
        isPlainJson: readsPlainJsonAlone(request.rawHeaders),
      });
      const headers = [...headersFor(context, NOT_STORED), ...Object.entries(problem.headers).flat()];
      send(exchange, problem.status, headers, problem.body);
    },
  };
}

type Body = AsyncIterable<Buffer> | undefined;

/**
 * What every answer says: its trace id, that it is not sniffed, where keys are used that any origin may read it, and what is
 * given besides. The list is put together once for each prefix; an answer has a copy.
 */
function createCommonHeaders(): (context: RequestContext, others: readonly string[]) => string[] {
  const lists = { crossOrigin: createLists(true), sameOrigin: createLists(false) };
  return ({ traceId, isCrossOrigin, headers: { prefix } }, others) => {
    const headers = (isCrossOrigin ? lists.crossOrigin : lists.sameOrigin)(prefix, others).slice();
    headers[1] = traceId;
    return headers;
  };
}

function createLists(isCrossOrigin: boolean): (prefix: string, others: readonly string[]) => readonly string[] {
  const byOthers = new Map<readonly string[], Map<string, readonly string[]>>();

  function listOf(prefix: string, others: readonly string[]): readonly string[] {
    const exposed = `${prefix}-TRACE-ID, ${prefix}-PROXY-DESTINATION-STATUS, ${EXPOSED}`;
    const crossOrigin = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', exposed];
    return [`${prefix}-TRACE-ID`, '', ...NOT_SNIFFED, ...(isCrossOrigin ? crossOrigin : []), ...others];
  }

  return (prefix, others) => {
    let byPrefix = byOthers.get(others);
    if (byPrefix === undefined) {
      byPrefix = new Map();
      byOthers.set(others, byPrefix);
    }
    let list = byPrefix.get(prefix);
    if (list === undefined) {
      list = listOf(prefix, others);
      byPrefix.set(prefix, list);
    }
    return list;
  };
}

function hasName(headers: readonly string[], name: string): boolean {
  return headers.some((text, at) => at % 2 === 0 && text.toLowerCase() === name);
}

/** A body this small is read and thrown away, which costs less than a new connection for the next try. */
const DISCARDED_BYTES_MAX = 65_536;

function isBodyOutstanding({ request, context }: Exchange, status: number): boolean {
  const { method, complete } = request;
  if (complete) return false;
  // Whoever waited to be asked for the body may leave it out now, and what comes next would be taken for it.
  if (context.headers.expect !== undefined) return true;
  if (method === 'GET' || method === 'HEAD') return false;
  const isTooMuch = status === 429 || status === 503;
  const { contentLength = '0', transferEncoding } = context.headers;
  return transferEncoding !== undefined || Number(contentLength) > (isTooMuch ? DISCARDED_BYTES_MAX : 0);
}
