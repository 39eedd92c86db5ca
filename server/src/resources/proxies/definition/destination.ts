import { readDestination } from '../../../outbound/destination.js';

const BEGINNING = /^https:\/\/([^/?#]+)/i;
/** The URL standard drops or replaces some of these, so that two readers could see two addresses. */
const UNCLEAR = /[\s\p{Cc}\\]/u;

/**
 * What is wrong with the address of a destination; undefined where nothing is. It is read as the way out reads it, so every
 * spelling of an address that is dialled as one is refused as one. No name is resolved.
 */
export function destinationFault(text: string): string | undefined {
  const [, authority] = BEGINNING.exec(text) ?? [];
  if (authority === undefined) return 'must begin with https:// and a host name';
  if (authority.includes('@')) return 'must have no user name or password';
  if (text.includes('#')) return 'must have no fragment';
  if (text.includes('?')) return 'must have no query: the one of each call is added';
  const read = UNCLEAR.test(text) ? 'url' : readDestination(text);
  if (typeof read === 'string') return 'must be a URL with the name of a host';
  return read.address === undefined ? undefined : 'must name a host, not an IP address';
}
