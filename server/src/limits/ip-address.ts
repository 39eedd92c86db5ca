/** An address as unsigned 32-bit words: one word is IPv4, four are IPv6. An IPv4-mapped IPv6 address is IPv4. */
export type IpAddress = readonly number[];

const TEXT_LENGTH_MAX = 64;
const IPV6_GROUPS = 8;
const GROUP_DIGITS_MAX = 4;
const MAPPED_TEXT = '::ffff:';
const MAPPED_PREFIX = 0xffff;
const DOT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;

/**
 * Reads an address, without its zone if it has one. Null for anything else, also for numbers with leading zeros, which
 * some programs take for octal. Character by character, because this runs on every request.
 */
export function parseIp(text: string): IpAddress | null {
  if (text.length > TEXT_LENGTH_MAX) return null;
  const ipv4 = parseIpv4(text, text.startsWith(MAPPED_TEXT) ? MAPPED_TEXT.length : 0);
  if (ipv4 !== null) return [ipv4];
  const zone = text.indexOf('%');
  const groups = parseIpv6(zone === -1 ? text : text.slice(0, zone));
  if (groups === null) return null;
  const last = wordOf(groups, 6);
  const words = [wordOf(groups, 0), wordOf(groups, 2), wordOf(groups, 4), last];
  return words[0] === 0 && words[1] === 0 && words[2] === MAPPED_PREFIX ? [last] : words;
}

/** The one way to write an address: dotted, or lower case with the first longest run of zero groups shortened. */
export function formatIp(address: IpAddress): string {
  const [word = 0] = address;
  if (address.length === 1) return `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`;
  const [start, length] = longestZeroRun(address);
  let text = '';
  for (let at = 0; at < IPV6_GROUPS; at += 1) {
    const isGap = at === start && length > 1;
    if (isGap) at += length - 1;
    else text += text === '' || text.endsWith(':') ? hexOf(address, at) : `:${hexOf(address, at)}`;
    if (isGap) text += '::';
  }
  return text;
}

function parseIpv4(text: string, from: number): number | null {
  let word = 0;
  let part = -1;
  let dots = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const digit = code - ZERO;
    if (code === DOT && part >= 0) {
      word = word * 256 + part;
      part = -1;
      dots += 1;
    } else if (digit >= 0 && digit <= 9 && part !== 0) {
      part = part === -1 ? digit : part * 10 + digit;
      if (part > 255) return null;
    } else return null;
  }
  return dots === 3 && part >= 0 ? word * 256 + part : null;
}

function parseIpv6(text: string): number[] | null {
  const groups: number[] = [];
  let gap = text.startsWith('::') ? 0 : -1;
  let at = gap === 0 ? 2 : 0;
  while (at < text.length) {
    const end = endOfDigits(text, at);
    if (text.charCodeAt(end) === DOT) {
      const word = parseIpv4(text, at);
      if (word === null) return null;
      groups.push(word >>> 16, word & 0xffff);
      break;
    }
    if (end === at || end - at > GROUP_DIGITS_MAX || groups.length === IPV6_GROUPS) return null;
    groups.push(Number.parseInt(text.slice(at, end), 16));
    if (end === text.length) break;
    if (text.charCodeAt(end) !== COLON || end + 1 === text.length) return null;
    at = end + 1;
    if (text.charCodeAt(at) === COLON) {
      if (gap !== -1) return null;
      gap = groups.length;
      at += 1;
    }
  }
  const missing = IPV6_GROUPS - groups.length;
  if (gap === -1 ? missing !== 0 : missing < 1) return null;
  for (let added = 0; added < missing; added += 1) groups.splice(gap, 0, 0);
  return groups;
}

function endOfDigits(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const letter = code | 0x20;
    const isDigit = (code >= ZERO && code < COLON) || (letter >= 0x61 && letter <= 0x66);
    if (!isDigit) break;
  }
  return at;
}

function wordOf(groups: readonly number[], at: number): number {
  return (groups[at] ?? 0) * 0x1_0000 + (groups[at + 1] ?? 0);
}

function groupOf(address: IpAddress, at: number): number {
  const word = address[at >> 1] ?? 0;
  return at % 2 === 0 ? word >>> 16 : word & 0xffff;
}

function hexOf(address: IpAddress, at: number): string {
  return groupOf(address, at).toString(16);
}

function longestZeroRun(address: IpAddress): [start: number, length: number] {
  let bestStart = 0;
  let bestLength = 0;
  let length = 0;
  for (let at = 0; at < IPV6_GROUPS; at += 1) {
    length = groupOf(address, at) === 0 ? length + 1 : 0;
    if (length <= bestLength) continue;
    bestStart = at - length + 1;
    bestLength = length;
  }
  return [bestStart, bestLength];
}
