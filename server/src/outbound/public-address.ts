import { assert } from '../kernel/assert.js';
import { formatIp, type IpAddress, parseIp } from '../limits/ip-address.js';
import { type IpRange, isInRange, parseRange } from '../limits/ip-range.js';

/** Ranges of IPv4, and of the global part of IPv6, that are not public unicast. */
const NOT_PUBLIC = rangesOf(
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by carriers
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, with the metadata services of clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
  '2001::/23', // Teredo, which holds an IPv4 address, and other protocol assignments
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which holds an IPv4 address
  '3fff::/20', // documentation
);
/** All there is of public IPv6. Unique local, link-local, NAT64 and `::` with an IPv4 address in it are outside. */
const GLOBAL_IPV6 = rangesOf('2000::/3');

/** Where servers of an operator's own network are. Not link-local: the metadata services of clouds are there. */
const INTERNAL = rangesOf(
  ...['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  ...['::1/128', 'fc00::/7'],
);

/**
 * Reads an address that is judged or dialled. Null for one with a zone, which names an interface of this machine. An
 * IPv4-mapped address is read as the IPv4 address that the system would connect to.
 */
export function readAddress(text: string): IpAddress | null {
  return text.includes('%') ? null : parseIp(text);
}

export function isPublicAddress(address: IpAddress): boolean {
  if (address.length !== 1 && !isInAny(address, GLOBAL_IPV6)) return false;
  return !isInAny(address, NOT_PUBLIC);
}

/** Private, shared, unique local and loopback addresses. */
export function isInternalAddress(address: IpAddress): boolean {
  return isInAny(address, INTERNAL);
}

/** The text that is dialled: written from what was judged, so that nobody reads it differently. */
export function textOfAddress(address: IpAddress): string {
  return formatIp(address);
}

function isInAny(address: IpAddress, ranges: readonly IpRange[]): boolean {
  return ranges.some((range) => isInRange(address, range));
}

function rangesOf(...texts: readonly string[]): readonly IpRange[] {
  return texts.map((text) => {
    const range = parseRange(text);
    assert(range !== null, `${text} is a range`);
    return range;
  });
}
