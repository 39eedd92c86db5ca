import { BodyCollector, FragmentWatch } from '../kernel/body-collector.js';
import type { AnswerHead } from './answer-head.js';
import { badAnswer, checkTrailer, readAnswerHead } from './answer-head.js';
import { OutboundError } from './outbound-error.js';

/** Who is told what was read, in its order. */
export interface AnswerTarget {
  /** Of the answer itself: what a destination says before it is passed over. */
  onHead(head: AnswerHead): void;
  /** False when no more is wanted for now: the rest waits for `goOn`. */
  onPiece(piece: Buffer): boolean;
  onWhole(): void;
}

const HEAD_BYTES_MAX = 64 * 1024;
/** With what may stand behind the size of a chunk. */
const SIZE_LINE_BYTES_MAX = 4_096;
/** Extensions are passed over, but only where they are some. */
const SIZE_LINE =
  /^([0-9a-f]{1,12})(?:;[\w!#$%&'*+\-.^`|~]+(?:=(?:[\w!#$%&'*+\-.^`|~]+|"[\t\x20!\x23-\x5b\x5d-\x7e]*"))?)*$/i;
const BEGIN = Buffer.from('HTTP/1.');
const LINE_END = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');
const NO_ROOM = Buffer.allocUnsafeSlow(0);
/** Chunks that came in one read are handed on together, up to this length. */
const TOGETHER_BYTES_MAX = 65_536;
const DENSE_CHUNKS = 500;

type Step = 'head' | 'counted' | 'to_the_end' | 'size' | 'chunk' | 'behind_chunk' | 'trailers' | 'whole';

/**
 * Reads one answer from the bytes of a connection, however they are cut. Throws an `OutboundError` for what is no answer.
 */
export class AnswerReader {
  readonly #method: string;
  readonly #target: AnswerTarget;
  #step: Step = 'head';
  /** What is not read yet. */
  #rest: Buffer | undefined;
  /** Of the body or the chunk. */
  #left = 0;
  /** Of the heads in front of the one that counts; later, of trailers. */
  #headBytes = 0;
  /** So much of what is not read yet was searched for its end. */
  #searched = 0;
  /** Where what is not read yet is put together, and how much of it is in use. */
  #room = NO_ROOM;
  #roomUsed = 0;
  #isHeld = false;
  /** Chunks of the read that is under way. */
  readonly #chunks = new BodyCollector();
  readonly #watch = new FragmentWatch();
  /** Chunks of the read that is under way, or was last. */
  #chunksOfRead = 0;

  constructor(method: string, target: AnswerTarget) {
    this.#method = method;
    this.#target = target;
  }

  /** There are bytes that nobody wanted yet. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** The answer is read, and there is more behind it that nobody asked for. */
  get hasMore(): boolean {
    return this.#step === 'whole' && this.#rest !== undefined;
  }

  /** The body comes in very many very small pieces. */
  get isFragmented(): boolean {
    return this.#watch.isFragmented;
  }

  /** The last read had so many chunks that reading it took milliseconds. */
  get isDense(): boolean {
    return this.#chunksOfRead > DENSE_CHUNKS;
  }

  push(bytes: Buffer): void {
    this.#chunksOfRead = 0;
    this.#rest = this.#rest === undefined ? bytes : this.#join(this.#rest, bytes);
    if (!this.#isHeld) this.#read();
  }

  /** The rest is wanted now. */
  goOn(): void {
    this.#isHeld = false;
    this.#read();
  }

  /** Nothing comes any more. True if that is how the answer ends. */
  finish(): boolean {
    if (this.#step === 'to_the_end' && this.#rest === undefined) {
      this.#step = 'whole';
      this.#target.onWhole();
    }
    return this.#step === 'whole';
  }

  #read(): void {
    try {
      while (this.#rest !== undefined && !this.#isHeld && this.#readStep(this.#rest)) {
        // The condition does the work: it reads step by step until bytes run out or the target asks to pause.
      }
    } finally {
      this.#handChunks();
    }
  }

  /** False when more bytes are needed. */
  #readStep(bytes: Buffer): boolean {
    switch (this.#step) {
      case 'head':
        return this.#readHead(bytes);
      case 'counted':
      case 'chunk':
        return this.#readCounted(bytes);
      case 'to_the_end':
        this.#rest = undefined;
        this.#hand(bytes);
        return true;
      case 'size':
        return this.#readSize(bytes);
      case 'behind_chunk':
        return this.#readLineEnd(bytes);
      case 'trailers':
        return this.#readTrailers(bytes);
      case 'whole':
        return false;
    }
  }

  #readHead(bytes: Buffer): boolean {
    const known = Math.min(bytes.length, BEGIN.length);
    if (bytes.compare(BEGIN, 0, known, 0, known) !== 0) throw badAnswer();
    const end = this.#find(bytes, HEAD_END, HEAD_BYTES_MAX - this.#headBytes);
    if (end === -1) return false;
    const head = readAnswerHead(bytes.toString('latin1', 0, end), this.#method);
    this.#skip(bytes, end + HEAD_END.length);
    // Another protocol, or the end of the connection before there is an answer.
    if (head.status === 101 || (head.status < 200 && head.isLast)) throw badAnswer();
    this.#headBytes = head.status < 200 ? this.#headBytes + end + HEAD_END.length : 0;
    if (head.status < 200) return true;
    this.#left = head.bodyBytes;
    this.#step = STEPS[head.framing];
    this.#target.onHead(head);
    if (this.#step === 'whole' || (this.#step === 'counted' && this.#left === 0)) this.#end();
    // Whoever wants the body says so.
    else this.#isHeld = true;
    return true;
  }

  #readCounted(bytes: Buffer): boolean {
    const piece = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes;
    this.#left -= piece.length;
    this.#skip(bytes, piece.length);
    const isChunk = this.#step === 'chunk';
    if (isChunk) {
      if (this.#left === 0) this.#step = 'behind_chunk';
      this.#chunks.add(piece);
      if (this.#chunks.bytes >= TOGETHER_BYTES_MAX) this.#handChunks();
      return true;
    }
    this.#hand(piece);
    if (this.#left === 0) this.#end();
    return true;
  }

  #readSize(bytes: Buffer): boolean {
    const end = this.#find(bytes, LINE_END, SIZE_LINE_BYTES_MAX);
    if (end === -1) return false;
    const [, size] = SIZE_LINE.exec(bytes.toString('latin1', 0, end)) ?? [];
    if (size === undefined) throw badAnswer();
    this.#left = Number.parseInt(size, 16);
    this.#step = this.#left === 0 ? 'trailers' : 'chunk';
    this.#skip(bytes, end + LINE_END.length);
    if (this.#left === 0) this.#handChunks();
    else this.#countChunk(this.#left);
    return true;
  }

  #readLineEnd(bytes: Buffer): boolean {
    const known = Math.min(bytes.length, LINE_END.length);
    if (bytes.compare(LINE_END, 0, known, 0, known) !== 0) throw badAnswer();
    if (known < LINE_END.length) return false;
    this.#step = 'size';
    this.#skip(bytes, known);
    return true;
  }

  /** They say nothing that anybody here wants to know. What is none may be meant for another reader, as another message. */
  #readTrailers(bytes: Buffer): boolean {
    const end = this.#find(bytes, LINE_END, HEAD_BYTES_MAX - this.#headBytes);
    if (end === -1) return false;
    if (end > 0) checkTrailer(bytes.toString('latin1', 0, end));
    this.#headBytes += end + LINE_END.length;
    this.#skip(bytes, end + LINE_END.length);
    if (end === 0) this.#end();
    return true;
  }

  /** -1 until it is there. What was searched is not searched again for every byte that comes. */
  #find(bytes: Buffer, mark: Buffer, bytesMax: number): number {
    const at = bytes.indexOf(mark, this.#searched);
    // With the mark itself: else it would count or not by how the bytes are cut.
    if (at === -1 ? bytes.length >= bytesMax : at + mark.length > bytesMax) throw new OutboundError('too_large');
    this.#searched = at === -1 ? Math.max(0, bytes.length - mark.length) : 0;
    return at;
  }

  /**
   * With room for as much again: else a destination that sends single bytes would have all copied for each of them. Not while
   * nobody wants more, where the destination is held back.
   */
  #join(rest: Buffer, bytes: Buffer): Buffer {
    if (rest.buffer !== this.#room.buffer || this.#roomUsed + bytes.length > this.#room.length) {
      this.#room = Buffer.allocUnsafeSlow((rest.length + bytes.length) * (this.#isHeld ? 1 : 2));
      this.#roomUsed = rest.copy(this.#room);
    }
    const start = this.#roomUsed - rest.length;
    this.#roomUsed += bytes.copy(this.#room, this.#roomUsed);
    return this.#room.subarray(start, this.#roomUsed);
  }

  #hand(piece: Buffer): void {
    this.#watch.add(piece.length);
    if (!this.#target.onPiece(piece)) this.#isHeld = true;
  }

  #countChunk(bytes: number): void {
    this.#chunksOfRead += 1;
    this.#watch.add(bytes);
  }

  /** The end of the body is read only after the last chunks are taken. */
  #handChunks(): void {
    if (this.#chunks.bytes > 0 && !this.#target.onPiece(this.#chunks.take())) this.#isHeld = true;
  }

  #end(): void {
    this.#step = 'whole';
    this.#target.onWhole();
  }

  #skip(bytes: Buffer, count: number): void {
    this.#rest = bytes.length === count ? undefined : bytes.subarray(count);
  }
}

const STEPS = { none: 'whole', counted: 'counted', chunked: 'size', to_the_end: 'to_the_end' } as const;
