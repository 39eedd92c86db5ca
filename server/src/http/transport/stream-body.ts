import type { IncomingMessage } from 'node:http';
import { BodyCollector, FragmentWatch } from '../../kernel/body-collector.js';
import type { AppError } from '../../kernel/errors.js';
import { brokenOff, fragmented, readBody, tooLarge } from './body.js';
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
  return isShort ? async () => (await readBody(exchange, { bytesMax: SHORT_BYTES }, () => {})).body : undefined;
}

async function* piecesOf(
  { request, response, context }: Exchange,
  bytesMax: number,
  passed: PassedBytes,
): AsyncGenerator<Buffer> {
  // Whoever asked first is told to go on when somebody wants the body.
  if (context.headers.expect !== undefined && !response.headersSent) response.writeContinue();
  const reader = new BodyReader(request, bytesMax);
  try {
    for (;;) {
      const piece = await reader.next();
      if (piece === undefined) return;
      passed.note(piece.length);
      yield piece;
    }
  } finally {
    reader.leave();
  }
}

/** Bytes that are read ahead of the consumer. */
const AHEAD_BYTES_MAX = 65_536;

/** Reads a body and joins what arrives together. A reader that takes nothing holds the client back. */
class BodyReader {
  readonly #request: IncomingMessage;
  readonly #bytesMax: number;
  readonly #read = new BodyCollector();
  readonly #watch = new FragmentWatch();
  #bytes = 0;
  #failure: AppError | undefined;
  /** Resolves the wait for the next piece. */
  #wake: (() => void) | undefined;

  constructor(request: IncomingMessage, bytesMax: number) {
    this.#request = request;
    this.#bytesMax = bytesMax;
    request.on('data', this.#onData);
    for (const name of ENDS) request.on(name, this.#onMoved);
  }

  /** Undefined behind the last piece. */
  async next(): Promise<Buffer | undefined> {
    const { complete, readableLength, destroyed } = this.#request;
    if (this.#failure) throw this.#failure;
    if (this.#read.bytes > 0) return this.#take();
    if (complete && readableLength === 0) return undefined;
    if (destroyed) throw brokenOff();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    return this.next();
  }

  leave(): void {
    this.#request.off('data', this.#onData);
    for (const name of ENDS) this.#request.off(name, this.#onMoved);
    this.#request.pause();
  }

  #take(): Buffer {
    const piece = this.#read.take();
    this.#request.resume();
    return piece;
  }

  readonly #onData = (piece: Buffer): void => {
    if (this.#failure) return;
    this.#bytes += piece.length;
    this.#read.add(piece);
    if (this.#bytes > this.#bytesMax) this.#failure = tooLarge(this.#bytesMax);
    else if (this.#watch.add(piece.length)) this.#failure = fragmented();
    else if (this.#read.bytes >= AHEAD_BYTES_MAX) this.#request.pause();
    this.#onMoved();
  };

  readonly #onMoved = (): void => {
    this.#wake?.();
    this.#wake = undefined;
  };
}

const ENDS = ['end', 'close', 'error'] as const;
