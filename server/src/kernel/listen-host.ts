import { isIPv6 } from 'node:net';

/** The host of a listener as an operator writes it: an IPv6 address also as it stands in a URL. */
export function listenHost(text: string): string {
  const [, address] = /^\[(.*)\]$/.exec(text) ?? [];
  if (address !== undefined && isIPv6(address)) return address;
  if (/[[\]]/.test(text)) throw new Error('must be an address or a name alone, such as 127.0.0.1 or ::1.');
  return text;
}
