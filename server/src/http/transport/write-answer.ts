import type { EndSignal } from '../../kernel/end-signal.js';
import type { Flow } from '../../kernel/flow.js';
import type { Ahead } from './ahead.js';
import { createAhead } from './ahead.js';
import { breakOff } from './break-off.js';
import { hasName } from './common-headers.js';
import { dropBody } from './drop-body.js';
import type { Exchange } from './respond.js';
import type { Bounds } from './write-pieces.js';
import { isLong, whenAborted, writeFlow, writePieces, writeSlices, writeWhole } from './write-pieces.js';

export type OnAnswered = (exchange: Exchange, status: number) => void;

export interface AnswerWriterOptions {
  /** An answer was given. */
  readonly onAnswered: OnAnswered;
  /** Something of an answer was written, and may not have left yet. */
  readonly onWritten: (exchange: Exchange) => void;
  readonly isClosing: () => boolean;
}

/** Writes an answer whose headers are known, and tells of it. */
export interface AnswerWriter {
  send(exchange: Exchange, status: number, headers: string[], body: string | Buffer | undefined): void;
  /** A body that comes in pieces. A failure before the first is thrown before anything is written. */
  stream(exchange: Exchange, status: number, headers: string[], body: Body, bounds: Bounds): Promise<void>;
}

type Body = AsyncIterable<Buffer> | Flow | undefined;

const REFUSED = 400;
const NO_PIECE: IteratorResult<Buffer, void> = { done: true, value: undefined };

export function createAnswerWriter({ onAnswered, onWritten, isClosing }: AnswerWriterOptions): AnswerWriter {
  const ahead = createAhead();

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
    // A client that was not told to go on sends no body, and a hostile request is read no further.
    const { request, response, context } = exchange;
    const mayStillSend = context.headers.expect === undefined && !hasName(headers, 'connection');
    const isDropped = status >= REFUSED && mayStillSend && isBodyOutstanding(exchange, status);
    writeHead(exchange, status, headers);
    if (isDropped && body !== undefined) {
      response.write(body);
      dropBody(request, () => response.end());
    } else if (bytes === 0 || body === undefined || exchange.request.method === 'HEAD') exchange.response.end();
    else if (isLong(bytes)) writeSlices(exchange, typeof body === 'string' ? Buffer.from(body) : body);
    else if (typeof body !== 'string') writeWhole(exchange.response, joinable(body), 'latin1');
    // As long in bytes as in characters, it is plain ASCII, which leaves the process without being re-encoded.
    else writeWhole(exchange.response, body, bytes === body.length ? 'latin1' : 'utf8');
    onAnswered(exchange, status);
    onWritten(exchange);
  }

  return {
    send,
    stream: (exchange, status, headers, body, bounds) =>
      writeStream(exchange, body, bounds, {
        ahead,
        isHeadAlone: exchange.request.method === 'HEAD' || status === 204 || status === 304,
        begin() {
          writeHead(exchange, status, headers);
          onWritten(exchange);
        },
        end: () => onAnswered(exchange, status),
      }),
  };
}

/** Longer ones are not worth copying. */
const JOINED_BYTES_MAX = 16_384;

/** As text with one character for each byte, short bytes leave in one piece with their head. */
function joinable(body: Buffer): string | Buffer {
  return body.length <= JOINED_BYTES_MAX ? body.toString('latin1') : body;
}

interface AnswerEnds {
  readonly isHeadAlone: boolean;
  readonly ahead: Ahead;
  /** Writes the head. */
  readonly begin: () => void;
  /** Tells of the answer, however much of it was written. */
  readonly end: () => void;
}

async function writeStream(exchange: Exchange, body: Body, bounds: Bounds, ends: AnswerEnds): Promise<void> {
  const { response } = exchange;
  if (typeof body === 'function' && !ends.isHeadAlone) {
    if ((await writeFlow(exchange, body, ends.begin, bounds, ends.ahead())) === 'given up') breakOff(response);
    ends.end();
    return;
  }
  const pieces = typeof body === 'function' ? undefined : body?.[Symbol.asyncIterator]();
  const isEmpty = pieces === undefined || ends.isHeadAlone;
  try {
    const first = isEmpty ? NO_PIECE : await firstOf(pieces, bounds.signal);
    ends.begin();
    if (isEmpty) response.end();
    else if ((await writePieces(exchange, pieces, first, bounds)) === 'given up') breakOff(response);
    ends.end();
  } finally {
    const ended = pieces?.return?.();
    // A source that was given up may wait for ever; one that was not is told of what went wrong at its end.
    if (bounds.signal?.aborted) ended?.catch(() => {});
    else await ended;
  }
}

/** The first piece. Rejects when nobody waits for it any more, though the source may still say nothing. */
async function firstOf(pieces: AsyncIterator<Buffer>, signal: EndSignal | undefined) {
  if (signal === undefined) return pieces.next();
  const given = whenAborted(signal);
  try {
    const first = await Promise.race([pieces.next(), given.up]);
    if (first === undefined) throw new Error('given up before the first piece');
    return first;
  } finally {
    given.forget();
  }
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
