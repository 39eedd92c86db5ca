import type { Destination } from './destination.js';
import type { RefusalReason } from './outbound-error.js';

/** Names as they were written, values with one character for each byte. The same name may be there more than once. */
export type HeaderPairs = readonly (readonly [string, string])[];

const BYTES_MAX = 64 * 1024;
export const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** No control character but the tab, so that nothing ends the header early; no character beyond one byte. */
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** They are about one connection, and every connection here is ours. */
const OF_ONE_CONNECTION = new Set(
  'connection keep-alive te trailer transfer-encoding upgrade http2-settings'.split(' '),
);
const OF_THE_CALLER: ReadonlyMap<string, RegExp> = new Map([
  ['connection', /^(close|keep-alive)$/i],
  ['keep-alive', /^[\w=, ]{1,100}$/],
]);
/** We write these from what is really sent. */
const OURS = new Set(['host', 'content-length', 'expect']);
const OF_A_PROXY = 'proxy-';
const CONNECTION = 'connection';
const NONE: ReadonlySet<string> = new Set();
/** Without a length such a request would announce a body. */
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * The headers that are sent, as the platform takes them: name, value, name, value. `bodyBytes` is undefined where the
 * length is not known and the body goes in chunks.
 */
export function outgoingHeaders(
  given: HeaderPairs,
  { authority }: Pick<Destination, 'authority'>,
  { method, hasBody, bodyBytes }: { method: string; hasBody: boolean; bodyBytes: number | undefined },
): string[] | RefusalReason {
  if (!isHeaderList(given)) return 'header';
  const named = namedByConnection(given);
  const sent = ['Host', authority];
  let bytes = 0;
  for (const [name, value] of given) {
    bytes += name.length + value.length;
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value) || bytes > BYTES_MAX) return 'header';
    const lower = name.toLowerCase();
    if (!isOfConnection(lower, named) && !OURS.has(lower)) sent.push(name, value);
  }
  if (hasBody && bodyBytes === undefined) sent.push('Transfer-Encoding', 'chunked');
  else if (hasBody || WITH_BODY.has(method)) sent.push('Content-Length', String(bodyBytes ?? 0));
  return sent;
}

/** The few that a caller may choose about the connection: they end it or not, and change nothing in how messages are read. */
export function connectionHeaders(given: HeaderPairs): string[] | RefusalReason {
  const sent: string[] = [];
  for (const [name, value] of given) {
    const allowed = OF_THE_CALLER.get(name.toLowerCase());
    if (allowed === undefined || !allowed.test(value)) return 'header';
    sent.push(name, value);
  }
  return sent;
}

/** The headers of an answer, without those about the connection it came on. */
export function incomingHeaders(pairs: HeaderPairs): HeaderPairs {
  const named = namedByConnection(pairs);
  const kept: (readonly [string, string])[] = [];
  for (const pair of pairs) if (!isOfConnection(pair[0].toLowerCase(), named)) kept.push(pair);
  return kept;
}

/** The first one of this name, which is in lower case. */
export function headerValue(headers: HeaderPairs, wanted: string): string | undefined {
  for (const [name, value] of headers) {
    if (name.length === wanted.length && name.toLowerCase() === wanted) return value;
  }
  return undefined;
}

function isOfConnection(name: string, named: ReadonlySet<string>): boolean {
  return OF_ONE_CONNECTION.has(name) || name.startsWith(OF_A_PROXY) || named.has(name);
}

/** `Connection: x` says that the header `x` is about the connection too. */
function namedByConnection(pairs: HeaderPairs): ReadonlySet<string> {
  let names: Set<string> | undefined;
  for (const [name, value] of pairs) {
    if (name.length !== CONNECTION.length || name.toLowerCase() !== CONNECTION) continue;
    names ??= new Set();
    for (const named of value.split(',')) names.add(named.trim().toLowerCase());
  }
  return names ?? NONE;
}

/** What a hostile engine sends is JSON of any shape. */
function isHeaderList(given: unknown): boolean {
  return Array.isArray(given) && given.every(isPair);
}

function isPair(given: unknown): boolean {
  if (!Array.isArray(given) || given.length !== 2) return false;
  const [name, value]: unknown[] = given;
  return typeof name === 'string' && typeof value === 'string';
}
