import type { Transform } from 'node:stream';
import { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { GrowingShare } from '../kernel/growing-bytes.js';
import type { WholeReading } from '../kernel/read-whole.js';
import { readWhole } from '../kernel/read-whole.js';
import { badAnswer } from './answer-head.js';
import { headerValue } from './message-headers.js';
import type { OutboundAnswer } from './outbound.js';
import { OutboundError } from './outbound-error.js';

const ENCODINGS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);
/** What a request says that wants its answer plain in the end. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';
/** An answer is held once as it came, and once as it goes on. */
const HELD_TIMES = 2;
/** For all of an answer, from its headers on: one that trickles is never silent for long. */
const WHOLE_ANSWER_MS_MAX = 30_000;

/** The share of a budget that reading so large an answer whole may take. */
export function shareOfAnswer(bytesMax: number): number {
  return bytesMax * HELD_TIMES;
}

/**
 * The body of an answer whole and decompressed. What is longer than a little takes room as it comes. Throws `too_large` for more
 * than `bytesMax`, compressed or not, and `timeout` for one that takes too long. Whoever is told so should end the call: a silent
 * destination is otherwise waited for until its own bound.
 */
export function readPlainBody(
  { headers, body }: Pick<OutboundAnswer, 'headers' | 'body'>,
  method: string,
  share: Pick<GrowingShare, 'cover'>,
  bytesMax: number,
  after?: WholeReading['after'],
): Promise<Buffer> {
  const encoding = headerValue(headers, 'content-encoding') ?? '';
  const decompress = method === 'HEAD' ? undefined : ENCODINGS.get(encoding.trim().toLowerCase());
  return readWhole(decompress ? decompressed(body, decompress()) : body, {
    ...{ bytesMax, heldTimes: HELD_TIMES, share, after },
    ...{ msMax: WHOLE_ANSWER_MS_MAX, timedFrom: 'start' },
    tooLarge: () => new OutboundError('too_large'),
    tooSlow: () => new OutboundError('timeout'),
    fragmented: badAnswer,
  });
}

/** A pipe does not hand on the failure of its source, which would then be nobody's and end the process. */
function decompressed(body: AsyncIterable<Buffer>, decompress: Transform): AsyncIterable<Buffer> {
  const source = Readable.from(body);
  source.once('error', (error) => decompress.destroy(error));
  // Nor the end of its target: without this the rest of an answer that is too large would be waited for.
  decompress.once('close', () => source.destroy());
  return source.pipe(decompress);
}
