import { PORTAL_COOKIE } from '../../../access/portal-cookie-reader.js';
import { headerStartsOf } from '../../../http/transport/foreign-headers.js';
import { AppError } from '../../../kernel/errors.js';
import type { HeaderPairs } from '../../../outbound/message-headers.js';
import { DEVICE_COOKIE } from '../../../people/devices/devices.js';
import { ERRAND_COOKIE } from '../../../people/oidc/errand.js';

/** What a request to `/proxy` asks for, apart from its body. */
export interface AskedProxy {
  readonly method: string;
  /** A stored Proxy by its key; wins over an address. */
  readonly key: string | undefined;
  /** Where an ephemeral call goes. */
  readonly url: string | undefined;
  /** What stands behind `/proxy`, as it was sent: empty, or beginning with a slash. */
  readonly path: string;
  /** Without our parameter and without the question mark. */
  readonly query: string;
  /** Those that go on to the destination, as they were written. */
  readonly headers: HeaderPairs;
  /** What the caller wants said about the connection to it. */
  readonly connectionHeaders: HeaderPairs;
}

/** A request as it came. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly rawQuery: string;
  readonly rawHeaders: readonly string[];
}

/** Tell of the network in front of us, or of the browser's view of this origin, which is not the destination's. */
const NOT_FORWARDED = new Set([
  ...['forwarded', 'via', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip', 'x-forwarded'],
  // What a gateway in front proves of the person who asks.
  ...['cf-access-jwt-assertion', 'x-goog-iap-jwt-assertion'],
]);
const NOT_FORWARDED_START =
  /^(?:x-forwarded-|sec-fetch-|proxy-|x-amzn-oidc-|x-ssl-client-|x-auth-request-|x-goog-authenticated-user-)/;
const HEADER_NAME = /^[0-9A-Za-z_-]+$/;
const CONNECTION_NAMES: ReadonlyMap<string, string> = new Map([
  ['proxy-connection', 'Connection'],
  ['proxy-keep-alive', 'Keep-Alive'],
]);

/** Say where a request goes: of two, nobody could tell which one was meant. */
const SAID_ONCE = new Set(['proxy-key', 'proxy-url']);

/** Reads the headers under every accepted prefix, the first of which wins. */
export function readAskedProxy(sent: SentRequest, prefixes: readonly string[]): AskedProxy {
  const own = new OwnNames(prefixes);
  // Left out here and not on the way out: what code adds under such a name is the Proxy's.
  const ofConnection = namesOfConnection(sent.rawHeaders);
  const headers: [string, string][] = [];
  const connectionHeaders: [string, string][] = [];
  for (let at = 0; at + 1 < sent.rawHeaders.length; at += 2) {
    const name = sent.rawHeaders[at] ?? '';
    const value = sent.rawHeaders[at + 1] ?? '';
    if (!HEADER_NAME.test(name)) throw invalidName();
    const lower = name.toLowerCase();
    const suffix = own.take(lower, value);
    const wanted = suffix === undefined ? undefined : CONNECTION_NAMES.get(suffix);
    if (wanted !== undefined) connectionHeaders.push([wanted, value]);
    if (suffix !== undefined || lower === 'connection' || ofConnection?.has(lower) || !isForwarded(lower)) continue;
    const forwarded = lower === 'cookie' ? withoutPortalCookie(value) : value;
    if (forwarded !== '') headers.push([name, forwarded]);
  }
  if (sent.path.includes('#') || sent.rawQuery.includes('#')) throw fragment();
  const { query, key } = splitQuery(sent.rawQuery, prefixes);
  return {
    method: sent.method,
    key: own.value('proxy-key') ?? key,
    url: own.value('proxy-url'),
    path: sent.path,
    query,
    headers,
    connectionHeaders,
  };
}

/** Our own headers, of which the accepted prefix that comes first wins. */
class OwnNames {
  readonly #prefixes: readonly string[];
  readonly #found = new Map<string, { readonly rank: number; readonly value: string }>();

  constructor(prefixes: readonly string[]) {
    this.#prefixes = headerStartsOf(prefixes);
  }

  /** What follows the prefix of a header of ours; undefined for one that is not. */
  take(lower: string, value: string): string | undefined {
    let rank = 0;
    while (rank < this.#prefixes.length && !lower.startsWith(this.#prefixes[rank] ?? '')) rank += 1;
    if (rank === this.#prefixes.length) return undefined;
    const suffix = lower.slice(this.#prefixes[rank]?.length);
    const before = this.#found.get(suffix);
    if (before?.rank === rank && SAID_ONCE.has(suffix)) throw saidTwice(`the header ${suffix.toUpperCase()}`);
    if (!before || rank < before.rank) this.#found.set(suffix, { rank, value });
    return suffix;
  }

  value(suffix: string): string | undefined {
    return this.#found.get(suffix)?.value || undefined;
  }
}

/** What `Connection` says is about the connection too. */
function namesOfConnection(rawHeaders: readonly string[]): ReadonlySet<string> | undefined {
  let names: Set<string> | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== 'connection') continue;
    names ??= new Set();
    for (const name of (rawHeaders[at + 1] ?? '').split(',')) names.add(name.trim().toLowerCase());
  }
  return names;
}

function isForwarded(lower: string): boolean {
  return !NOT_FORWARDED.has(lower) && !NOT_FORWARDED_START.test(lower);
}

/** A browser sends them to this origin by itself; they are nobody else's business. */
const PORTAL_COOKIES = new Set([PORTAL_COOKIE, DEVICE_COOKIE, ERRAND_COOKIE]);

function withoutPortalCookie(value: string): string {
  const pairs = value.split(';').filter((pair) => !PORTAL_COOKIES.has(pair.split('=')[0]?.trim() ?? ''));
  return pairs.join(';').trim();
}

/** Takes our parameter out, and leaves the rest exactly as it is. */
function splitQuery(rawQuery: string, prefixes: readonly string[]): { query: string; key: string | undefined } {
  if (rawQuery === '') return { query: '', key: undefined };
  const names = prefixes.map((prefix) => `${prefix.toLowerCase()}-proxy-key`);
  const keys: (string | undefined)[] = names.map(() => undefined);
  const kept = rawQuery.split('&').filter((pair) => {
    const [name = '', value = ''] = pair.split('=', 2);
    const rank = names.indexOf(decoded(name).toLowerCase());
    if (rank === -1) return true;
    if (keys[rank] !== undefined) throw saidTwice(`the parameter ${names[rank]}`);
    keys[rank] = decoded(value) || undefined;
    return false;
  });
  return { query: kept.join('&'), key: keys.find((key) => key !== undefined) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function fragment(): AppError {
  return new AppError('malformed_request', 'Path and query must not hold a #. Send it as %23.');
}

function saidTwice(what: string): AppError {
  return new AppError('malformed_request', `The request has ${what} twice. Send it once.`);
}

function invalidName(): AppError {
  return new AppError(
    'malformed_request',
    'Names of headers that a Proxy forwards have letters, digits, hyphens and underscores alone.',
  );
}
