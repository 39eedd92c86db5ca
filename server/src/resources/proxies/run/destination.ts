import { AppError } from '../../../kernel/errors.js';
import { parseUrl } from '../../../kernel/parse-url.js';

/**
 * Spellings of the segments `.` and `..`, which would lead out of the base address, and what a URL would read as a slash. Many
 * servers decode slashes before they look at segments, leave away what stands behind a semicolon,
 * or decode more than once.
 */
const LEADS_AWAY = /(^|\/|%(25)*2f|%(25)*5c)(\.|%(25)*2e){1,2}(\/|%(25)*2f|%(25)*5c|;|%(25)*3b|$)|[\\#]/i;
export const PROXY_URL_LENGTH_MAX = 16_384;

/** Those found good last: the same few come again and again, and reading one takes a while. */
const knownBases = new Set<string>();
const KNOWN_BASES_MAX = 1_000;
const KNOWN_BASE_LENGTH_MAX = 300;

/** The base address of an ephemeral call, checked as far as it can be without asking anybody. */
export function readBaseUrl(text: string): string {
  if (knownBases.has(text)) return text;
  const fault = baseUrlFault(text);
  if (fault === undefined) {
    if (knownBases.size >= KNOWN_BASES_MAX) knownBases.clear();
    if (text.length <= KNOWN_BASE_LENGTH_MAX) knownBases.add(text);
    return text;
  }
  throw new AppError('malformed_request', `The address in the header PROXY-URL ${fault}.`);
}

export function baseUrlFault(text: string): string | undefined {
  const url = parseUrl(text);
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an absolute https address';
  if (url.username !== '' || url.password !== '') return 'must not hold credentials: send them in a header';
  if (/[?#]/.test(text)) return 'must have neither a query nor a fragment: the query is the one of the request';
  return undefined;
}

/** Such a path leads nowhere else, and needs no reading of the whole URL. */
const PLAIN_PATH = /^(?:\/[\w.~!$&'()*+,;=:@%-]*)*$/;

/** Where a request goes: below the base address, whatever the caller wrote behind `/proxy`. */
export function destinationUrl(base: string, path: string, query: string): string {
  const from = base.endsWith('/') ? base.replace(/(?<!\/)\/+$/, '') : base;
  const text = `${from}${path}${query === '' ? '' : `?${query}`}`;
  const isRefused = LEADS_AWAY.test(path) || text.length > PROXY_URL_LENGTH_MAX;
  if (isRefused || !((query === '' && PLAIN_PATH.test(path)) || isBelow(from, text))) {
    throw new AppError(
      'malformed_request',
      'The path behind /proxy must lead to something below the destination: without dot segments, backslashes and fragments.',
    );
  }
  return text;
}

/** As the URL is read in the end. */
function isBelow(base: string, text: string): boolean {
  const [from, to] = [parseUrl(base), parseUrl(text)];
  if (!from || !to) return false;
  const folder = from.pathname.replace(/(?<!\/)\/+$/, '');
  return to.origin === from.origin && (to.pathname === folder || to.pathname.startsWith(`${folder}/`));
}
