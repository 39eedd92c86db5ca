import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../kernel/clock.js';
import { overloaded } from '../../kernel/errors.js';
import { readsPlainJsonAlone } from './accept.js';
import type { RequestContext } from './context.js';
import { JsonText } from './json-text.js';
import { writePieces } from './piecewise.js';
import type { SendPlain } from './plain-answer.js';
import { createSendPlain, KEPT_OPEN } from './plain-answer.js';
import { problemOf } from './problem.js';

/** Sends answers. Every request ends in exactly one call of one of these. */
export interface Responder {
  json(exchange: Exchange, status: number, body: JsonText, extra?: readonly string[]): void;
  empty(exchange: Exchange, status: number, headers: readonly string[]): void;
  /** Sends what comes, no faster than it is taken. A failure before the first piece is thrown, and can be answered. */
  pieces(exchange: Exchange, status: number, pieces: AsyncGenerator<Buffer, void, void>): Promise<void>;
  file(exchange: Exchange, headers: readonly string[], content: string | Buffer): void;
  problem(exchange: Exchange, error: unknown): void;
  /** Says that there is too much to do, at as little cost as an answer can have. */
  overloaded(exchange: Exchange): void;
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

const ALWAYS = ['Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff', 'Access-Control-Allow-Origin', '*'];
/** Stands for a trace id in an answer that is written beforehand. */
const TRACE_ID_HERE = 'trace-id';
const CLOSING = ['Connection', 'close'];
const JSON_TYPE = ['Content-Type', 'application/json'];
const NO_PIECE = { done: true, value: undefined } as const;
const EXPOSED = 'RateLimit, RateLimit-Policy, Retry-After, Location';

/** Headers go out as one flat list in one call: set one by one they would cost as much as the rest of the request. */
export function createResponder({ clock, onAnswered, onWritten, isClosing }: ResponderOptions): Responder {
  const exposedByPrefix = new Map<string, string>();
  const sendJson = createSendPlain(clock, (prefix) => [...alwaysFor(prefix), ...JSON_TYPE]);

  function headersFor({ traceId, headers: { prefix } }: RequestContext): string[] {
    return [`${prefix}-TRACE-ID`, traceId, ...alwaysFor(prefix)];
  }

  function alwaysFor(prefix: string): string[] {
    let exposed = exposedByPrefix.get(prefix);
    if (exposed === undefined) {
      exposed = `${prefix}-TRACE-ID, ${prefix}-PROXY-DESTINATION-STATUS, ${EXPOSED}`;
      exposedByPrefix.set(prefix, exposed);
    }
    return [...ALWAYS, 'Access-Control-Expose-Headers', exposed];
  }

  /**
   * A client that keeps its connection busy would otherwise keep a stopping server alive; and behind an answer that did
   * not wait for its request's body, nobody could tell where the next request begins.
   */
  function isLast(exchange: Exchange, status: number): boolean {
    return isClosing() || exchange.context.headers.hasUpgrade || isBodyOutstanding(exchange, status);
  }

  function writeHead(exchange: Exchange, status: number, headers: string[]): void {
    const { response } = exchange;
    // The refusal of a hostile request has said so itself. Only names count: a client may send the word as a value.
    if (!headers.some((text, at) => at % 2 === 0 && text === 'Connection')) {
      headers.push(...(isLast(exchange, status) || !response.shouldKeepAlive ? CLOSING : KEPT_OPEN));
    }
    response.writeHead(status, headers);
  }

  function send(exchange: Exchange, status: number, headers: string[], body: string | Buffer | undefined): void {
    const bytes = body === undefined ? 0 : Buffer.byteLength(body);
    if (body !== undefined) headers.push('Content-Length', `${bytes}`);
    writeHead(exchange, status, headers);
    // As long in bytes as in characters, it is plain ASCII, which leaves the process without being re-encoded.
    exchange.response.end(body, bytes === body?.length ? 'latin1' : 'utf8');
    onAnswered(exchange, status);
    onWritten(exchange);
  }

  function trySendPlain(send: SendPlain, exchange: Exchange, status: number, body: JsonText): boolean {
    const { request, response, context } = exchange;
    // A head that must be told from its body, or a connection that must be told apart, is left to Node.
    if (request.method === 'HEAD' || context.headers.expect !== undefined || isLast(exchange, status)) return false;
    if (!body.isAscii) return false;
    const { traceId, headers } = context;
    if (!send(response, { status, prefix: headers.prefix, traceId, body: body.text })) return false;
    onAnswered(exchange, status);
    onWritten(exchange);
    return true;
  }

  const refusals = { plain: refusalFor(true), problem: refusalFor(false) };

  /** The same problem as any other, written once; only the trace id is the request's own. */
  function refusalFor(isPlainJson: boolean) {
    const { status, body, headers } = problemOf(overloaded(), { traceId: TRACE_ID_HERE, prefix: '', isPlainJson });
    const lines = Object.entries(headers).flat();
    const [beforeTraceId = '', afterTraceId = ''] = body.split(JSON.stringify(TRACE_ID_HERE));
    return {
      status,
      lines,
      send: createSendPlain(clock, (prefix) => [...alwaysFor(prefix), ...lines]),
      bodyWith: (traceId: string) => beforeTraceId + JSON.stringify(traceId) + afterTraceId,
    };
  }

  return {
    overloaded(exchange) {
      const { context, request } = exchange;
      if (!request.complete) dump(request);
      const refusal = readsPlainJsonAlone(request.rawHeaders) ? refusals.plain : refusals.problem;
      const body = refusal.bodyWith(context.traceId);
      if (trySendPlain(refusal.send, exchange, refusal.status, new JsonText(body))) return;
      send(exchange, refusal.status, [...headersFor(context), ...refusal.lines], body);
    },
    json(exchange, status, body, extra) {
      if (extra === undefined && trySendPlain(sendJson, exchange, status, body)) return;
      const headers = headersFor(exchange.context);
      headers.push(...JSON_TYPE);
      if (extra) headers.push(...extra);
      send(exchange, status, headers, body.text);
    },
    async pieces(exchange, status, pieces) {
      const { request, response, context } = exchange;
      const isHead = request.method === 'HEAD';
      try {
        const first = isHead ? NO_PIECE : await pieces.next();
        writeHead(exchange, status, [...headersFor(context), ...JSON_TYPE]);
        onWritten(exchange);
        const isWhole = await writePieces(clock, exchange, first, pieces);
        if (!isWhole) response.destroy();
        onAnswered(exchange, status);
      } finally {
        await pieces.return();
      }
    },
    empty(exchange, status, extra) {
      // Only a 204 ends without saying so: any other status is given its length, or Node would send chunks of nothing.
      send(exchange, status, [...headersFor(exchange.context), ...extra], status === 204 ? undefined : '');
    },
    file(exchange, extra, content) {
      send(exchange, 200, [...headersFor(exchange.context), ...extra], content);
    },
    problem(exchange, error) {
      const { request, context } = exchange;
      const problem = problemOf(error, {
        traceId: context.traceId,
        prefix: context.headers.prefix,
        isPlainJson: readsPlainJsonAlone(request.rawHeaders),
      });
      const headers = [...headersFor(context), ...Object.entries(problem.headers).flat()];
      send(exchange, problem.status, headers, problem.body);
    },
  };
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

/**
 * What is still to come of the body goes past the stream that would gather it. The method is the platform's inside, for
 * this very purpose; a release that hides it only loses the saving.
 */
function dump(request: IncomingMessage & { _dump?(): void }): void {
  request._dump?.();
}
