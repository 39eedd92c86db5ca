import { assert } from '../kernel/assert.js';

const LENGTH_BYTES = 4;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Joins parts so that two different lists never give the same bytes: each part follows its own length. Plain
 * concatenation would let ('ab', 'c') pass for ('a', 'bc'). A string stands for its UTF-8 bytes.
 */
export function encodeParts(parts: readonly (string | Buffer)[]): Buffer {
  const encoded = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + LENGTH_BYTES + byteLengthOf(part), 0));
  let offset = 0;
  for (const part of parts) {
    const length = typeof part === 'string' ? encoded.write(part, offset + LENGTH_BYTES) : part.length;
    if (typeof part !== 'string') part.copy(encoded, offset + LENGTH_BYTES);
    encoded.writeUInt32BE(length, offset);
    offset += LENGTH_BYTES + length;
  }
  return encoded;
}

function byteLengthOf(part: string | Buffer): number {
  if (typeof part !== 'string') return part.length;
  // UTF-8 turns every lone surrogate into the same replacement character, so two texts would encode alike.
  assert(!LONE_SURROGATE.test(part), 'a text to encode is well-formed Unicode');
  return Buffer.byteLength(part);
}
