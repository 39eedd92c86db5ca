import type { LimitRow } from '../../limits/catalogue.js';
import { LIMITS } from '../../limits/catalogue.js';

/** The limits by method and path, as they were specified and once counted: what the records of the routes are held against. */
interface Scopes {
  readonly api: readonly LimitRow[];
  readonly portal: readonly LimitRow[];
}

const EVERYTHING = scopes();
const SEARCH = scopes(LIMITS.tokensSearch);
const LIST = scopes(LIMITS.tokensList);
const CREATE = scopes(LIMITS.tokensCreate);

const IN_PORTAL = /^\/(p|%70)(o|%6[fF])(r|%72)(t|%74)(a|%61)(l|%6[cC])(\/|$)/;

/** Both spellings of each path, so that a trailing slash costs no new string. */
const GET_PATHS = pathTable({ '/tokens': LIST, '/v2/tokens': LIST });
const POST_PATHS = pathTable({
  '/tokens': CREATE,
  '/v2/tokens': CREATE,
  '/tokenize': CREATE,
  '/tokens/search': SEARCH,
  '/v2/tokens/search': SEARCH,
});

/**
 * The limits a request counts in, the widest first. `isPortal` says that a Portal cookie stands in for a key; the
 * Portal's own pages are known by their path. Runs on every request: the answer is one of a few shared frozen arrays.
 */
export function limitsByPath(method: string, pathname: string, isPortal: boolean): readonly LimitRow[] {
  const path = routedPath(pathname);
  // Refused by the router, in the area where it was sent.
  if (path === null) return IN_PORTAL.test(pathname) ? EVERYTHING.portal : EVERYTHING.api;
  const matched = tableOf(method)?.get(path) ?? EVERYTHING;
  return isPortal || path === '/portal' || path.startsWith('/portal/') ? matched.portal : matched.api;
}

/**
 * The path as the router will see it: up to a `?` or `#`, decoded once, with an encoded slash left encoded. Otherwise
 * `/%74okens` would reach the list without counting. Null when it cannot be decoded, which the router refuses.
 */
function routedPath(pathname: string): string | null {
  const end = pathname.search(/[?#]/);
  const path = end === -1 ? pathname : pathname.slice(0, end);
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path);
  } catch {
    return null;
  }
}

function tableOf(method: string): ReadonlyMap<string, Scopes> | undefined {
  if (method === 'GET' || method === 'HEAD') return GET_PATHS;
  return method === 'POST' ? POST_PATHS : undefined;
}

function scopes(...narrow: readonly LimitRow[]): Scopes {
  return {
    api: Object.freeze([LIMITS.global, ...narrow]),
    portal: Object.freeze([LIMITS.global, LIMITS.portal, ...narrow]),
  };
}

function pathTable(rows: Readonly<Record<string, Scopes>>): ReadonlyMap<string, Scopes> {
  return new Map(Object.entries(rows).flatMap(([path, matched]) => [[path, matched] as const, [`${path}/`, matched]]));
}
