import { assert } from '../kernel/assert.js';

export const SEED_BYTES = 8;

/** Writes the 64-bit hash of a text into two words. */
export type AddressHash = (text: string, out: Int32Array) => void;

/**
 * HalfSipHash-2-4 with a 64-bit result. Keyed, so that nobody can work out which addresses share a place in a table
 * without the seed, and made of 32-bit steps, which are what JavaScript does fast. Texts are ASCII: of each UTF-16 unit
 * only the low byte goes in.
 */
export function createAddressHash(seed: Uint8Array): AddressHash {
  assert(seed.length === SEED_BYTES, `the seed of the address hash has ${SEED_BYTES} bytes`);
  const view = new DataView(seed.buffer, seed.byteOffset, seed.byteLength);
  const key0 = view.getInt32(0, true);
  const key1 = view.getInt32(4, true);

  return (text, out) => {
    const words = (text.length >> 2) + 1;
    let v0 = key0;
    let v1 = key1 ^ 0xee;
    let v2 = key0 ^ 0x6c796765;
    let v3 = key1 ^ 0x74656462;
    // Two rounds for each word of the text, then four before each half of the result. All in one loop, so that the
    // state stays in registers.
    for (let step = 0; step < words + 2; step += 1) {
      const isText = step < words;
      const word = isText ? wordAt(text, step * 4) : 0;
      if (step === words) v2 ^= 0xee;
      if (step === words + 1) {
        out[0] = v1 ^ v3;
        v1 ^= 0xdd;
      }
      v3 ^= word;
      for (let round = isText ? 2 : 4; round > 0; round -= 1) {
        v0 = (v0 + v1) | 0;
        v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
        v0 = (v0 << 16) | (v0 >>> 16);
        v2 = (v2 + v3) | 0;
        v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
        v0 = (v0 + v3) | 0;
        v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
        v2 = (v2 + v1) | 0;
        v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
        v2 = (v2 << 16) | (v2 >>> 16);
      }
      v0 ^= word;
    }
    out[1] = v1 ^ v3;
  };
}

/** Four bytes of the text, or the rest of it with its length on top. */
function wordAt(text: string, at: number): number {
  if (at + 4 <= text.length) {
    const low = (text.charCodeAt(at) & 0xff) | ((text.charCodeAt(at + 1) & 0xff) << 8);
    return low | ((text.charCodeAt(at + 2) & 0xff) << 16) | ((text.charCodeAt(at + 3) & 0xff) << 24);
  }
  let word = text.length << 24;
  for (let rest = at; rest < text.length; rest += 1) word |= (text.charCodeAt(rest) & 0xff) << ((rest - at) * 8);
  return word;
}
