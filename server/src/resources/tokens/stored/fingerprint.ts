import { macOf } from '../../../crypto/keyed-hash.js';
import type { TenantKeys } from '../../../crypto/tenant-keys.js';
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

/** So many digits at once fit into a number exactly. */
const CHUNK_DIGITS = 9;
const CHUNK = BigInt(BASE ** CHUNK_DIGITS);

/** The fingerprint as a number in base 58: letters and digits, none of which look alike. */
export function fingerprintText(fingerprint: Buffer): string {
  let text = '';
  for (let rest = BigInt(`0x${fingerprint.toString('hex')}`); rest > 0n; rest /= CHUNK) {
    let chunk = Number(rest % CHUNK);
    for (let digit = 0; digit < CHUNK_DIGITS; digit += 1) {
      text = ALPHABET.charAt(chunk % BASE) + text;
      chunk = Math.floor(chunk / BASE);
    }
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
