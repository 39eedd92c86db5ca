import { macOf } from '../../crypto/keyed-hash.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import type { TokenType } from '../types/names.js';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BASE = 58;
const BYTES = 32;
/** Nearly every number of 32 bytes has 43 or 44 digits; the few shorter ones get leading zeros, written as ones. */
const LENGTH_MIN = 43;
const LENGTH_MAX = 44;
const DIGITS: ReadonlyMap<string, number> = new Map([...ALPHABET].map((character, digit) => [character, digit]));

/** What tells two tokens of a type apart or alike, without telling what they hold. */
export function fingerprintOf(keys: TenantKeys, type: TokenType, text: string): Buffer {
  return macOf(keys.fingerprint, ['fingerprint', type, text]);
}

/** Four digits are worked out at once: a remainder and a limb together then fit into a number exactly. */
const CHUNK = BASE ** 4;
const LIMB_BYTES = 3;
const LIMB = 2 ** (8 * LIMB_BYTES);
const PAIRS: readonly string[] = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second));
const PAIR = BASE ** 2;

/**
 * The fingerprint as a number in base 58: letters and digits, none of which look alike. Long division by hand; every read
 * of a token comes here, and big integers take half as long again.
 */
export function fingerprintText(fingerprint: Buffer): string {
  const limbs: number[] = [fingerprint.readUInt16BE(0)];
  for (let at = 2; at < BYTES; at += LIMB_BYTES) limbs.push(fingerprint.readUIntBE(at, LIMB_BYTES));
  let text = '';
  for (let first = 0; first < limbs.length; ) {
    let remainder = 0;
    for (let at = first; at < limbs.length; at += 1) {
      const value = remainder * LIMB + (limbs[at] ?? 0);
      const quotient = Math.floor(value / CHUNK);
      limbs[at] = quotient;
      remainder = value - quotient * CHUNK;
    }
    text = `${PAIRS[Math.floor(remainder / PAIR)]}${PAIRS[remainder % PAIR]}${text}`;
    while (first < limbs.length && limbs[first] === 0) first += 1;
  }
  const start = Math.max(0, Math.min(firstDigit(text), text.length - LENGTH_MIN));
  return text.slice(start).padStart(LENGTH_MIN, ALPHABET.charAt(0));
}

/** Chunks are written out whole, so there may be zeros in front. */
function firstDigit(text: string): number {
  let at = 0;
  while (text.charAt(at) === ALPHABET.charAt(0)) at += 1;
  return at;
}

/** The way back, for a search; undefined for what is no fingerprint. */
export function fingerprintBytes(text: string): Buffer | undefined {
  if (text.length < LENGTH_MIN || text.length > LENGTH_MAX) return undefined;
  const bytes = Buffer.alloc(BYTES);
  for (const character of text) {
    let carry = DIGITS.get(character);
    if (carry === undefined) return undefined;
    for (let at = BYTES - 1; at >= 0; at -= 1) {
      carry += (bytes[at] ?? 0) * BASE;
      bytes[at] = carry & 0xff;
      carry >>= 8;
    }
    if (carry > 0) return undefined;
  }
  return fingerprintText(bytes) === text ? bytes : undefined;
}
