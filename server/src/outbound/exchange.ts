import type { Socket } from 'node:net';
import { assert } from '../kernel/assert.js';
import { createDeferred } from '../kernel/deferred.js';
import type { AnswerHead } from './answer-head.js';
import type { AnswerTarget } from './answer-reader.js';
import { AnswerReader } from './answer-reader.js';
import type { CallEnd } from './call-end.js';
import type { ConnectionUser } from './connection.js';
import { OutboundConnection } from './connection.js';
import type { OutboundConnections } from './connection-pool.js';
import { OutboundError, outboundFailureOf } from './outbound-error.js';
import { chunkOf, headOfRequest, LAST_CHUNK, wholeRequest } from './request-bytes.js';

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  /** Name, value, name, value; with everything the message needs. */
  readonly headers: readonly string[];
  readonly body: Buffer | AsyncIterable<Buffer> | undefined;
  /** How long the body must be, where it was announced. */
  readonly bodyBytes: number | undefined;
  /** The caller wants the connection closed behind the answer. */
  readonly isLast: boolean;
  readonly poolName: string;
  readonly open: () => Promise<Socket>;
}

/** Who takes the body of an answer. */
export interface BodyReceiver {
  /** False when no more is wanted until `goOn`. */
  onPiece(piece: Buffer): boolean;
  onWhole(): void;
  onFailed(error: OutboundError): void;
}

/** An answer whose body is still to come. */
export interface IncomingAnswer {
  readonly head: AnswerHead;
  /** Its body comes in very many very small pieces. */
  readonly isFragmented: boolean;
  /** The body from here on. To be called once. */
  receive(receiver: BodyReceiver): void;
  goOn(): void;
  /** Nobody wants the rest. */
  giveUp(): void;
}

export interface ExchangeOptions {
  readonly pool: OutboundConnections;
  readonly end: CallEnd;
  readonly headersMs: number;
  /** Runs work that takes milliseconds when it is its turn. */
  readonly pace: (work: () => void) => Promise<void>;
  /** The answer is whole, or will never be. */
  readonly onOver: (isWhole: boolean) => void;
}

/**
 * Sends the request and resolves with the head of the answer. Never a second time: a request that failed may have been
 * carried out, and nobody here knows whether it can be repeated.
 */
export function exchangeMessages(wire: WireRequest, options: ExchangeOptions): Promise<IncomingAnswer> {
  const kept = options.pool.take(wire.poolName);
  if (kept) return new Exchange(wire, options, kept).start();
  return wire.open().then((socket) => {
    const connection = new OutboundConnection(socket);
    if (!options.end.signal.aborted) return new Exchange(wire, options, connection).start();
    connection.destroy();
    throw options.end.signal.reason;
  });
}

/** One request and its answer on a connection. */
class Exchange implements ConnectionUser, AnswerTarget, IncomingAnswer {
  readonly #wire: WireRequest;
  readonly #options: ExchangeOptions;
  readonly #connection: OutboundConnection;
  readonly #reader: AnswerReader;
  readonly #answered = createDeferred<IncomingAnswer>();
  readonly #onAbort = (): void => this.#fail(undefined);
  #head: AnswerHead | undefined;
  #receiver: BodyReceiver | undefined;
  #failure: OutboundError | undefined;
  #isWhole = false;
  #isSent = false;
  /** The destination sends no more; of what it sent some may be unread. */
  #isFinished = false;
  #lost: { readonly error: unknown } | undefined;
  /** Bytes wait for their turn to be read. */
  #isWaiting = false;
  #onRoom: (() => void) | undefined;

  constructor(wire: WireRequest, options: ExchangeOptions, connection: OutboundConnection) {
    this.#wire = wire;
    this.#options = options;
    this.#connection = connection;
    this.#reader = new AnswerReader(wire.method, this);
  }

  start(): Promise<IncomingAnswer> {
    const { end, headersMs } = this.#options;
    this.#connection.use(this);
    end.signal.addEventListener('abort', this.#onAbort);
    end.await(headersMs);
    this.#send();
    return this.#answered.promise;
  }

  onBytes(bytes: Buffer): void {
    // Nobody wanted what came before: only now is it worth holding the destination back.
    if (this.#reader.isHeld) this.#connection.pause();
    if (this.#reader.isDense && !this.#reader.isHeld) this.#readInTurn(bytes);
    else this.#read(() => this.#reader.push(bytes));
  }

  /** Reads bytes of an answer in very small chunks, which may be as endless as a stream of events, by turns with other large work. */
  #readInTurn(bytes: Buffer): void {
    this.#isWaiting = true;
    this.#connection.pause();
    const read = (): void => {
      this.#isWaiting = false;
      if (this.#isOver) return;
      this.#read(() => this.#reader.push(bytes));
      if (!this.#isOver && !this.#reader.isHeld) this.#connection.resume();
    };
    this.#options.pace(read).catch((error: unknown) => this.#fail(error));
  }

  onFinished(): void {
    this.#isFinished = true;
    this.#read(() => {});
  }

  onLost(error: unknown): void {
    this.#lost = { error };
    // What waits to be read may be the whole answer: a destination that wants no more of the body breaks off behind it.
    if (!this.#reader.isHeld) this.#fail(error);
  }

  onDrained(): void {
    this.#onRoom?.();
  }

  onHead(head: AnswerHead): void {
    this.#head = head;
    this.#options.end.rest();
    this.#answered.resolve(this);
  }

  get head(): AnswerHead {
    assert(this.#head, 'an answer that somebody has begins with its head');
    return this.#head;
  }

  get isFragmented(): boolean {
    return this.#reader.isFragmented;
  }

  onPiece(piece: Buffer): boolean {
    return this.#receiver?.onPiece(piece) ?? false;
  }

  onWhole(): void {
    // Whoever took the last piece may have given up with it.
    if (this.#isOver) return;
    const { pool, onOver } = this.#options;
    const isKept = this.#isSent && this.#connection.isSettled && !this.#wire.isLast && !this.#reader.hasMore;
    this.#isWhole = true;
    this.#leave();
    pool.keep(this.#wire.poolName, this.#connection, isKept ? (this.#head?.keepMs ?? 0) : 0);
    this.#receiver?.onWhole();
    onOver(true);
  }

  receive(receiver: BodyReceiver): void {
    this.#receiver = receiver;
    if (this.#failure) receiver.onFailed(this.#failure);
    else if (this.#isWhole) receiver.onWhole();
    else this.goOn();
  }

  giveUp(): void {
    this.#fail(new OutboundError('aborted'));
  }

  goOn(): void {
    if (this.#isOver) return;
    this.#read(() => this.#reader.goOn());
    if (!this.#isOver && !this.#reader.isHeld && !this.#isWaiting) this.#connection.resume();
  }

  #read(work: () => void): void {
    try {
      work();
      if (this.#isOver || this.#reader.isHeld) return;
      if (this.#isFinished ? !this.#reader.finish() : this.#lost) this.#fail(this.#lost?.error);
    } catch (error) {
      this.#fail(error);
    }
  }

  get #isOver(): boolean {
    return this.#isWhole || this.#failure !== undefined;
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    const { signal } = this.#options.end;
    this.#failure = signal.aborted
      ? outboundFailureOf(signal.reason)
      : outboundFailureOf(error ?? new OutboundError('unreachable'));
    this.#leave();
    this.#connection.destroy();
    if (this.#head === undefined) {
      this.#answered.reject(this.#failure);
      return;
    }
    this.#receiver?.onFailed(this.#failure);
    this.#options.onOver(false);
  }

  #leave(): void {
    this.#connection.leave();
    this.#options.end.signal.removeEventListener('abort', this.#onAbort);
    // Nobody tells of room any more: a body that waits for it would never be left.
    this.#onRoom?.();
  }

  #send(): void {
    const { body } = this.#wire;
    if (body === undefined || Buffer.isBuffer(body)) {
      for (const bytes of wholeRequest(this.#wire, body)) this.#connection.write(bytes);
      this.#isSent = true;
      return;
    }
    this.#connection.write(Buffer.from(headOfRequest(this.#wire), 'latin1'));
    this.#sendPieces(body).catch((error: unknown) => {
      const { end } = this.#options;
      end.fail(error instanceof OutboundError ? error : new OutboundError('body_failed', { cause: error }));
    });
  }

  async #sendPieces(body: AsyncIterable<Buffer>): Promise<void> {
    const { bodyBytes } = this.#wire;
    let sent = 0;
    this.#awaitCaller();
    for await (const piece of body) {
      if (this.#isOver) return;
      // From here on the destination is waited for: to take the piece, and behind the last one for its answer.
      this.#awaitDestination();
      sent += piece.length;
      if (bodyBytes !== undefined && sent > bodyBytes) throw new OutboundError('body_failed');
      if (!this.#connection.write(bodyBytes === undefined ? chunkOf(piece) : piece)) await this.#room();
      if (this.#isOver) return;
      this.#awaitCaller();
    }
    this.#awaitDestination();
    if (bodyBytes !== undefined && sent < bodyBytes) throw new OutboundError('body_failed');
    if (bodyBytes === undefined) this.#connection.write(LAST_CHUNK);
    this.#isSent = true;
  }

  #awaitDestination(): void {
    const { end, headersMs } = this.#options;
    if (this.#head === undefined && !this.#isOver) end.await(headersMs);
  }

  /** Who sends the body has bounds elsewhere: a destination that waits for the rest of it is not too slow. */
  #awaitCaller(): void {
    if (this.#head === undefined && !this.#isOver) this.#options.end.rest();
  }

  /** Until more can be written, or never will be. */
  #room(): Promise<void> {
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#onRoom = undefined;
        resolve();
      };
      this.#onRoom = leave;
    });
  }
}
