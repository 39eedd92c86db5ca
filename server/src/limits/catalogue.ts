import { WINDOW_MS } from './window.js';

export type LimitName = 'global' | 'portal' | 'tokens-search' | 'tokens-list' | 'tokens-create';

/** A limit: so many requests from one client in any span of the window, and what going over costs. */
export interface LimitRow {
  readonly name: LimitName;
  /** What counts, for a person to read. */
  readonly label: string;
  /** Tells the rows apart in a counter that has no room for names. */
  readonly ordinal: number;
  readonly requests: number;
  readonly windowMs: typeof WINDOW_MS;
  readonly blockMs: number;
}

const BLOCK_MS = 10_000;

export const LIMITS = {
  global: row('global', 'every request', 0, 1_000),
  portal: row('portal', 'Portal requests', 1, 600),
  tokensSearch: row('tokens-search', 'POST /tokens/search', 2, 50),
  tokensList: row('tokens-list', 'GET /tokens', 3, 100),
  tokensCreate: row('tokens-create', 'POST /tokens and POST /tokenize', 4, 200),
} as const;

interface Scopes {
  readonly api: readonly LimitRow[];
  readonly portal: readonly LimitRow[];
}

const EVERYTHING = scopes();
const SEARCH = scopes(LIMITS.tokensSearch);
const LIST = scopes(LIMITS.tokensList);
const CREATE = scopes(LIMITS.tokensCreate);

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
export function scopesOf(method: string, pathname: string, isPortal: boolean): readonly LimitRow[] {
  const path = routedPath(pathname);
  if (path === null) return EVERYTHING.api;
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

function row(name: LimitName, label: string, ordinal: number, requests: number): LimitRow {
  return Object.freeze({ name, label, ordinal, requests, windowMs: WINDOW_MS, blockMs: BLOCK_MS });
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
