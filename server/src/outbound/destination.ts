import { parseUrl } from '../kernel/parse-url.js';
import type { IpAddress } from '../limits/ip-address.js';
import type { RefusalReason } from './outbound-error.js';
import { readAddress } from './public-address.js';

/** Where a request goes, read once from its URL. Everything that is judged, dialled and sent is taken from here. */
export interface Destination {
  readonly isPlain: boolean;
  /** A name in lower case without a dot at its end, or an address without brackets. */
  readonly host: string;
  /** The address, where the URL names no host but an address. */
  readonly address: IpAddress | undefined;
  readonly port: number;
  /** For the header `Host`. */
  readonly authority: string;
  /** Path and query. */
  readonly path: string;
}

const URL_LENGTH_MAX = 16_384;
const NAME_LENGTH_MAX = 253;
const LABEL = /^[a-z0-9_-]{1,63}$/;
const HTTPS_PORT = 443;
const HTTP_PORT = 80;

/**
 * By the URL standard, as browsers and tenant code read it: `0x7f.1`, `2130706433` and fullwidth digits are addresses there,
 * and are judged as addresses. The text may be anything.
 */
export function readDestination(text: string): Destination | RefusalReason {
  const url = typeof text === 'string' && text.length <= URL_LENGTH_MAX ? parseUrl(text) : undefined;
  if (!url) return 'url';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'scheme';
  if (url.username !== '' || url.password !== '') return 'userinfo';
  const isPlain = url.protocol === 'http:';
  const port = url.port === '' ? defaultPort(isPlain) : Number(url.port);
  const host = withoutLastDot(withoutBrackets(url.hostname));
  const address = readAddress(host) ?? undefined;
  if (port === 0 || (address === undefined && !isHostName(host))) return 'host';
  const hostInUrl = host.includes(':') ? `[${host}]` : host;
  return {
    isPlain,
    host,
    address,
    port,
    authority: url.port === '' ? hostInUrl : `${hostInUrl}:${port}`,
    path: `${url.pathname}${url.search}`,
  };
}

export function defaultPort(isPlain: boolean): number {
  return isPlain ? HTTP_PORT : HTTPS_PORT;
}

/** Whether it is a name that DNS and certificates can hold, in lower case. The URL standard lets more pass. */
export function isHostName(text: string): boolean {
  return text.length <= NAME_LENGTH_MAX && text.split('.').every((label) => LABEL.test(label));
}

function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** `example.com.` is `example.com`: a rule against the one has to hold for the other. */
function withoutLastDot(hostname: string): string {
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
}
