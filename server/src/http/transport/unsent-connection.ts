import type { Socket } from 'node:net';
import type { Exchange } from './respond.js';

/** Who has a share of memory takes at least so much of its answer in this time: others wait for it. */
export const RATE_BYTES = 65_536;
export const RATE_MS = 30_000;

/** More than this many answers on one connection that takes no more bytes, and it is closed: its client reads nothing. */
export const UNSENT_PER_CONNECTION_MAX = 32;

/** More than this many, and it is closed whatever it takes: they wait behind an answer that is not there yet. */
const WAITING_PER_CONNECTION_MAX = 1_024;

/** A connection with answers that wait for it. */
export class UnsentConnection {
  readonly socket: Socket;
  readonly limitKey: string;
  /** With whether each has a place. */
  readonly exchanges = new Map<Exchange, boolean>();
  /** It is about to be seen whether its client reads. */
  #isQuestioned = false;
  /** How many bytes it had taken when it last took any, and when that was seen. */
  #takenBytes: number;
  #atMs: number;
  /** The same for the last time it had taken enough since the time before. */
  #rateBytes: number;
  #rateAtMs: number;

  constructor(socket: Socket, limitKey: string, nowMs: number) {
    this.socket = socket;
    this.limitKey = limitKey;
    this.#takenBytes = takenBy(socket);
    this.#atMs = nowMs;
    this.#rateBytes = this.#takenBytes;
    this.#rateAtMs = nowMs;
  }

  /** When it was last seen to have taken a byte. */
  get atMs(): number {
    return this.#atMs;
  }

  /** Sees what it has taken since it was last looked at. */
  note(nowMs: number): void {
    const takenBytes = takenBy(this.socket);
    if (takenBytes === this.#takenBytes && this.socket.writableLength > 0) return;
    this.#takenBytes = takenBytes;
    this.#atMs = nowMs;
    if (takenBytes - this.#rateBytes < RATE_BYTES && this.socket.writableLength > 0) return;
    this.#rateBytes = takenBytes;
    this.#rateAtMs = nowMs;
  }

  isTooSlow(nowMs: number, stallMs: number): boolean {
    if (nowMs - this.#atMs >= stallMs) return true;
    return nowMs - this.#rateAtMs >= RATE_MS && [...this.exchanges.keys()].some(holdsMemory);
  }

  unsentBytes(): number {
    let bytes = 0;
    for (const { response, context } of this.exchanges.keys())
      bytes += response.writableLength + context.unwrittenBytes;
    return bytes;
  }

  /** Closes it when too many answers wait, at once or if its client does not read. */
  boundWaiting(): void {
    if (this.exchanges.size > WAITING_PER_CONNECTION_MAX) this.socket.destroy();
    else if (this.exchanges.size > UNSENT_PER_CONNECTION_MAX) this.#question();
  }

  /** In a turn of its own: what is written now is on its way only then, and a client that sends a burst may well read. */
  #question(): void {
    if (this.#isQuestioned) return;
    this.#isQuestioned = true;
    setImmediate(() => {
      this.#isQuestioned = false;
      if (this.exchanges.size > UNSENT_PER_CONNECTION_MAX && this.socket.writableLength > 0) this.socket.destroy();
    });
  }
}

function holdsMemory({ context }: Exchange): boolean {
  return context.held !== undefined;
}

/** Bytes the system has taken. A write only counts once all of it is taken, so a long answer is written in slices. */
function takenBy(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}
