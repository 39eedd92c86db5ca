import assert from 'node:assert/strict';
import type { AnswerHead } from './answer-head.js';
import { AnswerReader } from './answer-reader.js';
import type { OutboundFailure } from './outbound-error.js';
import { OutboundError } from './outbound-error.js';

/** What became of an answer, in a form that can be compared. */
export interface AnswerSeen {
  /** `cut` where the bytes end before the answer does. */
  readonly end: 'whole' | 'cut' | OutboundFailure;
  readonly head: AnswerHead | undefined;
  /** One character for each byte. */
  readonly body: string;
  readonly hasMore: boolean;
}

export interface ReadingOptions {
  readonly method?: string;
  /** Wants no more behind each piece, until it is asked again. */
  readonly isHolding?: boolean;
  /** It is asked again behind so many of the given pieces: until then they wait. */
  readonly wantedEvery?: number;
}

/** Reads an answer that comes in these pieces, and ends with the last one. */
export function readInPieces(pieces: readonly Buffer[], options: ReadingOptions = {}): AnswerSeen {
  const { method = 'GET', isHolding = false, wantedEvery = 1 } = options;
  const body: Buffer[] = [];
  let head: AnswerHead | undefined;
  let wholes = 0;
  const reader = new AnswerReader(method, {
    onHead(read) {
      if (head) throw new Error('a second head');
      head = read;
    },
    onPiece: (piece) => {
      if (piece.length === 0 || wholes > 0) throw new Error('a piece without a byte, or behind the end');
      body.push(piece);
      return !isHolding;
    },
    onWhole() {
      wholes += 1;
    },
  });
  const seen = (end: AnswerSeen['end']): AnswerSeen => {
    if (wholes !== (end === 'whole' ? 1 : 0)) throw new Error(`told of ${wholes} ends, and it is ${end}`);
    return { end, head, body: Buffer.concat(body).toString('latin1'), hasMore: reader.hasMore };
  };
  try {
    for (const [at, piece] of pieces.entries()) {
      reader.push(piece);
      const isWanted = (at + 1) % wantedEvery === 0 || at === pieces.length - 1;
      while (isWanted && reader.isHeld) reader.goOn();
    }
    return seen(reader.finish() ? 'whole' : 'cut');
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return seen(error.code);
  }
}

/** The same bytes, one by one. */
export function singleBytes(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1));
}

export function seenAtOnce(text: string, options: ReadingOptions = {}): AnswerSeen {
  return readInPieces([Buffer.from(text, 'latin1')], options);
}

/** The same however the bytes are cut, and however often the reader wants no more for now. */
export function assertSameInEveryCut(text: string, method: string | undefined, expected: AnswerSeen): void {
  const bytes = Buffer.from(text, 'latin1');
  for (const isHolding of [false, true]) {
    const options = { isHolding, ...(method !== undefined && { method }) };
    assert.deepEqual(readInPieces([bytes], options), expected);
    assert.deepEqual(readInPieces(singleBytes(bytes), options), expected, 'byte by byte');
    for (let at = 1; at < bytes.length; at += 1)
      assert.deepEqual(readInPieces([bytes.subarray(0, at), bytes.subarray(at)], options), expected, `cut at ${at}`);
  }
}
