/// <reference lib="es2024.string" />
import { assert } from '../kernel/assert.js';

const LENGTH_BYTES = 4;
/** UTF-8 takes at most so many bytes for each unit of a JavaScript string. */
const BYTES_PER_UNIT_MAX = 3;

/**
 * Joins parts so that two different lists never give the same bytes: each part follows its own length. Plain
 * concatenation would let ('ab', 'c') pass for ('a', 'bc'). A string stands for its UTF-8 bytes.
 */
export function encodeParts(parts: readonly (string | Buffer)[]): Buffer {
  let room = 0;
  for (const part of parts) room += LENGTH_BYTES + roomFor(part);
  const encoded = Buffer.allocUnsafe(room);
  let offset = 0;
  for (const part of parts) {
    const at = offset + LENGTH_BYTES;
    const length = typeof part === 'string' ? encoded.write(part, at) : part.copy(encoded, at);
    encoded.writeUInt32BE(length, offset);
    offset = at + length;
  }
  return encoded.subarray(0, offset);
}

/** Room enough: measuring a string exactly would read it once more than writing it does. */
function roomFor(part: string | Buffer): number {
  if (typeof part !== 'string') return part.length;
  // UTF-8 turns every lone surrogate into the same replacement character, so two texts would encode alike.
  assert(part.isWellFormed(), 'a text to encode is well-formed Unicode');
  return part.length * BYTES_PER_UNIT_MAX;
}
