import { WINDOW_MS } from './window.js';

export type LimitName = 'global' | 'portal' | 'tokens-search' | 'tokens-list' | 'tokens-create' | 'proxy-anonymous';

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

/** Not by client: of each Proxy that takes calls without a key, all of them together. */
export const PROXY_ANONYMOUS = row('proxy-anonymous', 'calls without a key of one Proxy', 5, 200);

const BY_NAME: ReadonlyMap<LimitName, LimitRow> = new Map(Object.values(LIMITS).map((limit) => [limit.name, limit]));

/** The limits a request counts in, the widest first. */
export interface Scopes {
  readonly api: readonly LimitRow[];
  /** The same where a Portal cookie stands in for a key. */
  readonly portal: readonly LimitRow[];
}

/** The limits of these names, besides `global`, in which everything counts. Made once for each route. */
export function scopesOf(names: readonly LimitName[]): Scopes {
  const narrow = names
    .filter((name) => name !== 'global' && name !== 'portal')
    .flatMap((name) => BY_NAME.get(name) ?? []);
  const portal = Object.freeze([LIMITS.global, LIMITS.portal, ...narrow]);
  return { api: names.includes('portal') ? portal : Object.freeze([LIMITS.global, ...narrow]), portal };
}

function row(name: LimitName, label: string, ordinal: number, requests: number): LimitRow {
  return Object.freeze({ name, label, ordinal, requests, windowMs: WINDOW_MS, blockMs: BLOCK_MS });
}
