import type { Share } from '../../../kernel/byte-budget.js';
import { AppError } from '../../../kernel/errors.js';

const FREE_BYTES = 64 * 1024;
/** As it came, as text or JSON, and as it goes on. */
const HELD_TIMES = 3;

/** A body whole. What is longer than a little waits for room, once and for as much as it may become. */
export async function readWholeBody(pieces: AsyncIterable<Buffer>, bytesMax: number, share: Share): Promise<Buffer> {
  const read: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    if (bytes <= FREE_BYTES && bytes + piece.length > FREE_BYTES) await share.need(bytesMax * HELD_TIMES);
    bytes += piece.length;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    read.push(piece);
  }
  return Buffer.concat(read);
}

function tooLarge(bytesMax: number): AppError {
  return new AppError('payload_too_large', `The body is larger than ${bytesMax} bytes.`);
}
