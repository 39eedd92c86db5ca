import { isIPv4 } from 'node:net';

const MAPPED = '::ffff:';

/**
 * Whether a host of a setting is this machine alone. Decided by the text and not by what it resolves to, which may
 * change; an unknown spelling counts as another machine.
 */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (name === 'localhost' || name === '::1') return true;
  const address = name.startsWith(MAPPED) ? name.slice(MAPPED.length) : name;
  return isIPv4(address) && address.startsWith('127.');
}
