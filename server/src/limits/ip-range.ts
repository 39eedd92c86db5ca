import { type IpAddress, parseIp } from './ip-address.js';

/** The addresses that equal `words` wherever `masks` has a bit set. */
export interface IpRange {
  readonly words: IpAddress;
  readonly masks: readonly number[];
}

const PREFIX_PATTERN = /^(?:0|[1-9]\d{0,2})$/;
const MAPPED_BITS = 96;

/**
 * Reads `10.0.0.0/8`, `fd00::/8` or a single address. Null for anything else, also for a range with bits set beyond its
 * length: `10.1.2.3/8` could mean one host or sixteen million, and a guess decides whom the server believes.
 */
export function parseRange(text: string): IpRange | null {
  const [addressText = '', prefixText, ...rest] = text.split('/');
  const words = parseIp(addressText);
  if (words === null || rest.length > 0 || addressText.includes('%')) return null;
  const bits = words.length * 32;
  if (prefixText === undefined) return { words, masks: words.map(() => maskOf(32)) };
  if (!PREFIX_PATTERN.test(prefixText)) return null;
  const isMapped = words.length === 1 && addressText.includes(':');
  const prefix = Number(prefixText) - (isMapped ? MAPPED_BITS : 0);
  if (prefix < 0 || prefix > bits) return null;
  const masks = words.map((_, at) => maskOf(prefix - at * 32));
  const range = { words, masks };
  return isInRange(words, range) ? range : null;
}

export function isInRange(address: IpAddress, range: IpRange): boolean {
  if (address.length !== range.words.length) return false;
  return address.every((word, at) => (word & (range.masks[at] ?? 0)) >>> 0 === range.words[at]);
}

function maskOf(bits: number): number {
  if (bits <= 0) return 0;
  return bits >= 32 ? 0xffff_ffff : (0xffff_ffff << (32 - bits)) >>> 0;
}
