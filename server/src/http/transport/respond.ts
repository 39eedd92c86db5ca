import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../kernel/clock.js';
import type { EndSignal } from '../../kernel/end-signal.js';
import { overloaded } from '../../kernel/errors.js';
import type { Flow } from '../../kernel/flow.js';
import { readsPlainJsonAlone } from './accept.js';
import { createCommonHeaders, hasName } from './common-headers.js';
import type { RequestContext } from './context.js';
import { CustomResponse, displayRefused, isForDisplay } from './custom-response.js';
import type { JsonText } from './json-text.js';
import { problemOf } from './problem.js';
import type { AnswerWriter, AnswerWriterOptions } from './write-answer.js';
import { createAnswerWriter } from './write-answer.js';

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
  stream(exchange: Exchange, answer: StreamedAnswer, signal: EndSignal): Promise<void>;
  /** Any status and headers, and a body that is there. */
  whole(exchange: Exchange, status: number, headers: readonly string[], body: Buffer): void;
  /** A file, or with nothing in it the word that it is still the same (304). What may be kept of it stands in its headers. */
  file(exchange: Exchange, headers: readonly string[], content: string | Buffer | undefined): void;
  problem(exchange: Exchange, error: unknown): void;
  /** Says that there is too much to do, at as little cost as an answer can have. */
  overloaded(exchange: Exchange): void;
}

export interface StreamedAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: AsyncIterable<Buffer> | Flow | undefined;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
}

export interface ResponderOptions extends AnswerWriterOptions {
  readonly clock: Clock;
}

const NOT_STORED = ['Cache-Control', 'no-store'];
const NOTHING: readonly string[] = [];
const JSON_TYPE = ['Content-Type', 'application/json'];
/** What an ordinary answer says besides. */
const JSON_ALONE = [...NOT_STORED, ...JSON_TYPE];
/** Stands for a trace id in an answer that is written beforehand. */
const TRACE_ID_HERE = 'trace-id';
/** What was decided when the answer began must not hold for a client that stretches it for hours. */
const SENDING_MAX_MS = 300_000;

/** Headers go out as one flat list in one call: set one by one they would cost as much as the rest of the request. */
export function createResponder(options: ResponderOptions): Responder {
  const { clock } = options;
  const headersFor = createCommonHeaders();
  const { send, stream } = createAnswerWriter(options);
  const refusals = { plain: refusalFor(true), problem: refusalFor(false) };

  const problem = createProblemSender(headersFor, send);

  return {
    overloaded(exchange) {
      const { context, request } = exchange;
      if (context.problemsIn !== undefined) return problem(exchange, overloaded());
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
    whole(exchange, status, extra, body) {
      const cache = hasName(extra, 'cache-control') ? NOTHING : NOT_STORED;
      const headers = headersFor(exchange.context, cache);
      for (const text of extra) headers.push(text);
      send(exchange, status, headers, body);
    },
    empty(exchange, status, extra) {
      // Only a 204 ends without saying so: any other status is given its length, or Node would send chunks of nothing.
      const body = status === 204 ? undefined : '';
      send(exchange, status, [...headersFor(exchange.context, NOT_STORED), ...extra], body);
    },
    file(exchange, extra, content) {
      const headers = [...headersFor(exchange.context, NOTHING, true), ...extra];
      send(exchange, content === undefined ? 304 : 200, headers, content);
    },
    problem,
  };
}

/** Sends refusals, and what code of a tenant answers in their place. */
function createProblemSender(
  headersFor: ReturnType<typeof createCommonHeaders>,
  send: AnswerWriter['send'],
): Responder['problem'] {
  function problem(exchange: Exchange, error: unknown): void {
    const { request, context } = exchange;
    const { status, headers, body } = problemOf(error, {
      traceId: context.traceId,
      prefix: context.headers.prefix,
      isPlainJson: readsPlainJsonAlone(request.rawHeaders),
      problemsIn: context.problemsIn,
    });
    send(exchange, status, [...headersFor(context, NOT_STORED), ...Object.entries(headers).flat()], body);
  }

  function custom(exchange: Exchange, { answer }: CustomResponse): void {
    if (isForDisplay(exchange.request)) {
      problem(exchange, displayRefused());
      return;
    }
    const hasBody = answer.status !== 204 && answer.status !== 304;
    const headers = [...headersFor(exchange.context, NOT_STORED), ...answer.headers];
    send(exchange, answer.status, headers, hasBody ? answer.body : undefined);
  }

  return (exchange, error) => {
    if (error instanceof CustomResponse) custom(exchange, error);
    else problem(exchange, error);
  };
}

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
