import type { Transform } from 'node:stream';
import { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Share } from '../kernel/byte-budget.js';
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
const FREE_BYTES = 64 * 1024;
/** An answer is held once as it came, and once as it goes on. */
const HELD_TIMES = 2;

/** The share of a budget that reading so large an answer whole may take. */
export function shareOfAnswer(bytesMax: number): number {
  return bytesMax * HELD_TIMES;
}

/**
 * The body of an answer whole and decompressed. What is longer than a little waits for room before it is read, once and for as
 * much as it may become. Throws `too_large` for more than `bytesMax`, compressed or not.
 */
export async function readPlainBody(
  { headers, body }: Pick<OutboundAnswer, 'headers' | 'body'>,
  method: string,
  share: Share,
  bytesMax: number,
): Promise<Buffer> {
  const [, encoding = ''] = headers.find(([name]) => name.toLowerCase() === 'content-encoding') ?? [];
  const decompress = method === 'HEAD' ? undefined : ENCODINGS.get(encoding.trim().toLowerCase());
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of decompress ? decompressed(body, decompress()) : body) {
    if (bytes <= FREE_BYTES && bytes + piece.length > FREE_BYTES) await share.need(shareOfAnswer(bytesMax));
    bytes += piece.length;
    if (bytes > bytesMax) throw new OutboundError('too_large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** A pipe does not hand on the failure of its source, which would then be nobody's and end the process. */
function decompressed(body: AsyncIterable<Buffer>, decompress: Transform): AsyncIterable<Buffer> {
  const source = Readable.from(body);
  source.once('error', (error) => decompress.destroy(error));
  return source.pipe(decompress);
}
