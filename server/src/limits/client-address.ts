import { formatIp, type IpAddress, parseIp } from './ip-address.js';
import { type IpRange, isInRange, parseRange } from './ip-range.js';

export interface TrustedProxies {
  readonly ranges: readonly IpRange[];
}

export interface ClientAddress {
  /** The whole address, for logs. */
  readonly text: string;
  /** What limits count by: the IPv4 address, or the /64 an IPv6 client can pick addresses from at will. */
  readonly limitKey: string;
}

const TRUSTED_PROXIES_MAX = 1_024;
const FORWARDED_CHARACTERS_MAX = 4_096;
const FORWARDED_ENTRIES_MAX = 32;
const PORT_MAX = 65_535;
const ENTRY_PATTERN = /^[ \t]*(?:\[([^\]]+)\](?::(\d{1,5}))?|([\d.]+):(\d{1,5})|([^ \t]+))[ \t]*$/;

const WORDS: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** A peer without an address, such as one on a unix socket: never trusted, and all of them share their limits. */
const UNKNOWN: ClientAddress = Object.freeze({ text: 'unknown', limitKey: 'unknown' });

/** Reads the operator's list of proxies: addresses, ranges, and the words `loopback` and `private`. */
export function parseTrustedProxies(list: readonly string[]): TrustedProxies {
  if (list.length > TRUSTED_PROXIES_MAX) throw new Error(`at most ${TRUSTED_PROXIES_MAX} entries are possible`);
  const ranges = list.flatMap((entry, at) => {
    const texts = Object.hasOwn(WORDS, entry) ? (WORDS[entry] ?? []) : [entry];
    return texts.map((text) => {
      const range = parseRange(text);
      if (range !== null) return range;
      throw new Error(
        `entry ${at + 1} is not an IP address, a range such as 10.0.0.0/8 or fd00::/8 without bits set beyond its ` +
          'length, "loopback" or "private"',
      );
    });
  });
  return { ranges };
}

/**
 * Who sent the request. Anyone can write `X-Forwarded-For`, so it is believed only as far as trusted proxies wrote it:
 * read from the right, starting at a trusted peer, up to the first address that is not trusted. An entry that is no
 * address ends the reading, because whatever stands to its left may have been written by the client.
 */
export function clientAddressOf(
  peer: string,
  xForwardedFor: string | undefined,
  trusted: TrustedProxies,
): ClientAddress {
  const address = parseIp(peer);
  if (address === null) return UNKNOWN;
  if (xForwardedFor === undefined || !isTrusted(address, trusted)) return describe(address);
  return describe(lastBelievable(address, xForwardedFor, trusted));
}

export type ReadClientAddress = (peer: string, xForwardedFor: string | undefined) => ClientAddress;

const PEERS_REMEMBERED_MAX = 1_000;

/** The same peers ask again and again; what their address reads as is worked out once. */
export function createClientAddressReader(trusted: TrustedProxies): ReadClientAddress {
  const direct = new Map<string, ClientAddress>();
  return (peer, xForwardedFor) => {
    if (xForwardedFor !== undefined) return clientAddressOf(peer, xForwardedFor, trusted);
    const known = direct.get(peer);
    if (known !== undefined) return known;
    const address = clientAddressOf(peer, undefined, trusted);
    if (direct.size >= PEERS_REMEMBERED_MAX) direct.clear();
    direct.set(peer, address);
    return address;
  };
}

function lastBelievable(peer: IpAddress, header: string, trusted: TrustedProxies): IpAddress {
  const entries = header.slice(-FORWARDED_CHARACTERS_MAX).split(',');
  // A header cut to its tail begins in the middle of an entry, which could read as another address.
  if (header.length > FORWARDED_CHARACTERS_MAX) entries.shift();
  let believed = peer;
  for (const entry of entries.slice(-FORWARDED_ENTRIES_MAX).reverse()) {
    const address = parseEntry(entry);
    if (address === null) return believed;
    if (!isTrusted(address, trusted)) return address;
    believed = address;
  }
  return believed;
}

/** An address, perhaps with a port: `192.0.2.1:567`, `[2001:db8::1]:80`, `[2001:db8::1]`. */
function parseEntry(entry: string): IpAddress | null {
  const match = ENTRY_PATTERN.exec(entry);
  if (match === null) return null;
  const [, bracketed, bracketedPort, dotted, dottedPort, bare] = match;
  if (Number(bracketedPort ?? dottedPort ?? 0) > PORT_MAX) return null;
  if (bracketed !== undefined && !bracketed.includes(':')) return null;
  return parseIp(bracketed ?? dotted ?? bare ?? '');
}

function isTrusted(address: IpAddress, trusted: TrustedProxies): boolean {
  return trusted.ranges.some((range) => isInRange(address, range));
}

function describe(address: IpAddress): ClientAddress {
  const text = formatIp(address);
  if (address.length === 1) return { text, limitKey: text };
  const [first = 0, second = 0] = address;
  return { text, limitKey: `${formatIp([first, second, 0, 0])}/64` };
}
