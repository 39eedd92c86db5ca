import type { IncomingMessage } from 'node:http';
import { brokenOff, readBody, tooLarge } from './body.js';
import type { PassedBytes } from './passed-bytes.js';
import type { Exchange } from './respond.js';

/** The body of a request in pieces, read no faster than they are taken. */
export function bodyPieces(exchange: Exchange, bytesMax: number, passed: PassedBytes): AsyncIterable<Buffer> {
  return new BodyPieces(exchange, bytesMax, passed);
}

/** Most bodies are short and read at once: a generator is made for those that are not. */
class BodyPieces implements AsyncIterable<Buffer> {
  readonly #exchange: Exchange;
  readonly #bytesMax: number;
  readonly #passed: PassedBytes;

  constructor(exchange: Exchange, bytesMax: number, passed: PassedBytes) {
    this.#exchange = exchange;
    this.#bytesMax = bytesMax;
    this.#passed = passed;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    return piecesOf(this.#exchange, this.#bytesMax, this.#passed);
  }
}

/** Longer ones are worth their pieces. */
const SHORT_BYTES = 65_536;

/** Reads a body that is announced as short all at once, which takes far less time than its pieces; undefined for others. */
export function shortBody(exchange: Exchange): (() => Promise<Buffer>) | undefined {
  const announced = Number(exchange.context.headers.contentLength ?? 0);
  const isShort = announced > 0 && announced <= SHORT_BYTES;
  return isShort ? () => readBody(exchange, SHORT_BYTES, () => {}) : undefined;
}

async function* piecesOf(
  { request, response, context }: Exchange,
  bytesMax: number,
  passed: PassedBytes,
): AsyncGenerator<Buffer> {
  // Whoever asked first is told to go on when somebody wants the body.
  if (context.headers.expect !== undefined && !response.headersSent) response.writeContinue();
  let length = 0;
  for (;;) {
    const piece: Buffer | null = request.read();
    if (piece !== null) {
      length += piece.length;
      if (length > bytesMax) throw tooLarge(bytesMax);
      passed.note(piece.length);
      yield piece;
    } else if (request.complete && request.readableLength === 0) return;
    else if (request.destroyed) throw brokenOff();
    else await moved(request);
  }
}

const MOVES = ['readable', 'end', 'close', 'error'] as const;

/** Resolves when there is something to read, or nothing more will come. */
function moved(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const name of MOVES) request.off(name, done);
      resolve();
    };
    for (const name of MOVES) request.on(name, done);
  });
}
