import { AppError } from '../../../kernel/errors.js';
import { parseUrl } from '../../../kernel/parse-url.js';

/**
 * Spellings of the segments `.` and `..`, which would lead out of the base address, and what a URL would read as a slash. Many
 * servers decode slashes before they look at segments, leave away what stands behind a semicolon,
 * or decode more than once.
 */
const LEADS_AWAY = /(^|\/|%(25)*2f|%(25)*5c)(\.|%(25)*2e){1,2}(\/|%(25)*2f|%(25)*5c|;|%(25)*3b|$)|[\\#]/i;
export const PROXY_URL_LENGTH_MAX = 16_384;

/** The base address of an ephemeral call, checked as far as it can be without asking anybody. */
export function readBaseUrl(text: string): string {
  const fault = baseUrlFault(text);
  if (fault === undefined) return text;
  throw new AppError('malformed_request', `The address in the header PROXY-URL ${fault}.`);
}

export function baseUrlFault(text: string): string | undefined {
  return baseAddressOf(text).fault;
}

/** What a base address says. */
interface BaseAddress {
  readonly fault: string | undefined;
  /** Without slashes at its end. */
  readonly start: string;
  readonly origin: string | undefined;
  readonly folder: string;
}

/** Most calls go to the same few, and to read one takes longer than all else that is looked at in an address. */
const known = new Map<string, BaseAddress>();
const KNOWN_MAX = 1_000;
const KNOWN_LENGTH_MAX = 400;
const SLASHES_AT_END = /(?<!\/)\/+$/;

function baseAddressOf(text: string): BaseAddress {
  const found = known.get(text);
  if (found) return found;
  const read = readBaseAddress(text);
  if (known.size >= KNOWN_MAX) known.clear();
  if (text.length <= KNOWN_LENGTH_MAX) known.set(text, read);
  return read;
}

function readBaseAddress(text: string): BaseAddress {
  const start = text.replace(SLASHES_AT_END, '');
  const from = parseUrl(start);
  const folder = from?.pathname.replace(SLASHES_AT_END, '') ?? '';
  return { fault: faultOfBase(text), start, origin: from?.origin, folder };
}

function faultOfBase(text: string): string | undefined {
  const url = parseUrl(text);
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an absolute https address';
  if (url.username !== '' || url.password !== '') return 'must not hold credentials: send them in a header';
  if (/[?#]/.test(text)) return 'must have neither a query nor a fragment: the query is the one of the request';
  return undefined;
}

/** Where a request goes: below the base address, whatever the caller wrote behind `/proxy`. */
export function destinationUrl(baseUrl: string, path: string, query: string): string {
  const base = baseAddressOf(baseUrl);
  const text = `${base.start}${path}${query === '' ? '' : `?${query}`}`;
  // A fragment stays here, and with it all that was written behind it.
  if (LEADS_AWAY.test(path) || query.includes('#') || text.length > PROXY_URL_LENGTH_MAX || !isBelow(base, text)) {
    throw new AppError(
      'malformed_request',
      'The path behind /proxy must lead to something below the destination: without dot segments, backslashes and fragments.',
    );
  }
  return text;
}

/** As the URL is read in the end. */
function isBelow({ origin, folder }: BaseAddress, text: string): boolean {
  const to = parseUrl(text);
  if (!to || to.origin !== origin) return false;
  const { pathname } = to;
  return pathname === folder || pathname.startsWith(`${folder}/`);
}
