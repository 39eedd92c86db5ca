import { setImmediate } from 'node:timers/promises';
import { decide } from '../../access/decide.js';
import type { Principal } from '../../access/principal.js';
import { applicationIdOf } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import { record } from '../../audit/record.js';
import type { Budget } from '../../expressions/budget.js';
import { createBudget } from '../../expressions/budget.js';
import type { Expressions } from '../../expressions/expressions.js';
import type { LargeWork } from '../../kernel/large-work.js';
import type { Database } from '../../storage/database.js';
import { recordTouched } from '../change/change.js';
import { TOKEN_EVENTS } from '../events.js';
import type { Opener } from '../open/open.js';
import { OPENED_TIMES } from '../open/open.js';
import { takeRoom } from '../open/room.js';
import { granted, subjectOf } from '../present/answer.js';
import type { Fingerprints } from '../present/present.js';
import { createPresent } from '../present/present.js';
import type { PresentedToken } from '../present/token-body.js';
import type { Filters, Held } from '../search/build.js';
import { heldIn } from '../search/build.js';
import { parseQuery } from '../search/parse.js';
import type { SearchTries, Tries } from '../search/search-tries.js';
import { revealsAll } from '../search/shown.js';
import type { TokenPosition } from '../stored/position.js';
import type { FoundRow } from '../stored/row.js';
import { isLarge, sealedBytesOf } from '../stored/row.js';
import type { LargePage, LargePages, TokenPieces } from './large-pages.js';
import { createLargePages, FREE_BYTES_MAX, PIECE_BYTES_MAX } from './large-pages.js';
import type { LeastShown, Look, Searched } from './look.js';
import { pageOf } from './look.js';

/** What the mask of one token on a page may cost, about five milliseconds; and from where on it is dear. */
const MASK_UNITS_MAX = 1_000_000;
const DEAR_UNITS = 200_000;

/** What is looked for: by the filters of a list, or by the text of a search. */
export type Wanted = { readonly includesChildren: boolean } & (
  | { readonly by: 'filters'; readonly filters: Filters }
  | { readonly by: 'query'; readonly query: string }
);

/** Which page: by how many tokens stand before it, with the exact total; or by where the one before it ended. */
export type PageWanted =
  | { readonly by: 'offset'; readonly offset: number; readonly limit: number }
  | { readonly by: 'position'; readonly after: TokenPosition | undefined; readonly limit: number };

/** A page; in pieces where all of it would be too large. */
export interface TokenPage {
  readonly tokens: PresentedToken[] | TokenPieces;
  /** All that match, of a page by offset; 0 otherwise. */
  readonly total: number;
  /** Where the next page begins, of a page by position that is not the last. */
  readonly next: TokenPosition | undefined;
}

export interface ListOptions {
  readonly database: Database;
  readonly opener: Opener;
  readonly expressions: Expressions;
  readonly fingerprints: Fingerprints;
  readonly largeWork: LargeWork;
  readonly look: Look;
  readonly leastShown: LeastShown;
  readonly searchTries: SearchTries;
}

export type ListTokens = (
  principal: Principal,
  auditContext: AuditContext,
  wanted: Wanted,
  page: PageWanted,
) => Promise<TokenPage>;

interface Parts extends ListOptions {
  readonly largePages: LargePages;
}

export function createListTokens(options: ListOptions): ListTokens {
  const parts: Parts = { ...options, largePages: createLargePages(options) };
  return async (principal, auditContext, wanted, page) => {
    const search = searched(wanted);
    const terms = heldTermsOf(search);
    const tries = triesOf(parts, principal, search, terms, auditContext.atMs);
    if (tries) await parts.searchTries.refuse(tries);
    const logged = (field: 'matches' | 'matches_on_page', matches: number): Promise<void> =>
      terms.length === 0 ? DONE : recordSearch(parts, principal.tenantId, auditContext, { field, matches, tries });
    if (page.by === 'offset') {
      const { offset, limit } = page;
      const { rows, total } = await parts.look(principal, auditContext, search, { offset, limit, isCounted: true });
      await logged('matches', total);
      return { total, next: undefined, tokens: await disclose(parts, principal, auditContext, wanted, rows) };
    }
    const { after, limit } = page;
    // One more than asked for tells whether there is a next page.
    const { rows } = await parts.look(principal, auditContext, search, { after, limit: limit + 1, isCounted: false });
    const { shown, next } = pageOf(rows, limit);
    await logged('matches_on_page', shown.length);
    return { total: 0, next, tokens: await disclose(parts, principal, auditContext, wanted, shown) };
  };
}

const DONE = Promise.resolve();

function heldTermsOf({ query, filters }: Searched): readonly Held[] {
  if (query !== undefined) return heldIn(query);
  return filters?.fingerprint === undefined ? [] : ['fingerprint'];
}

/** Counts the values that the search tries on tokens not revealed to the caller. Returns undefined if there are none. */
function triesOf(
  { leastShown }: Parts,
  principal: Principal,
  { permission }: Searched,
  terms: readonly Held[],
  atMs: number,
): Tries | undefined {
  const applicationId = applicationIdOf(principal);
  const count = terms.filter((field) => leastShown[field] === 'mask').length;
  if (applicationId === undefined || count === 0 || revealsAll(principal, permission)) return undefined;
  return { tenantId: principal.tenantId, applicationId, count, atMs };
}

interface LoggedSearch {
  readonly field: 'matches' | 'matches_on_page';
  readonly matches: number;
  readonly tries: Tries | undefined;
}

/** Logs the search itself: an exact total or an empty page already tells whether a token has the value. */
function recordSearch(
  { database, searchTries }: Parts,
  tenantId: string,
  auditContext: AuditContext,
  { field, matches, tries }: LoggedSearch,
): Promise<void> {
  const changes = [{ field, from: null, to: matches }];
  return database.write(tenantId, async (tx) => {
    if (tries) await searchTries.add(tx, tries);
    await record(tx, auditContext, { event: TOKEN_EVENTS.searched, entityId: '*', outcome: 'success', changes });
  });
}

/** Opens and shapes the tokens of a page, and has the log say so before they leave. */
async function disclose(
  parts: Parts,
  principal: Principal,
  auditContext: AuditContext,
  wanted: Wanted,
  found: readonly FoundRow[],
): Promise<PresentedToken[] | TokenPieces> {
  const { database, opener, largeWork } = parts;
  const permission = permissionFor(wanted);
  const event = wanted.by === 'query' ? TOKEN_EVENTS.found : TOKEN_EVENTS.listed;
  const budgets: Budget[] = [];
  const present = createPresent(parts, () => budgetOf(budgets), auditContext);
  const inPieces = (): Promise<TokenPieces> => {
    const presented: LargePage['present'] = (token, transform) => {
      const body = present.body(token, transform, auditContext.atMs);
      return { body, maskBytes: budgets.pop()?.bytesEmitted() ?? 0 };
    };
    return parts.largePages.open({ principal, auditContext, permission, event, rows: found, present: presented });
  };
  const rows = found.filter((row) => !isLarge(row));
  if (rows.length < found.length) return inPieces();
  const bytes = rows.reduce((sum, row) => sum + sealedBytesOf(row), 0);
  if (bytes > FREE_BYTES_MAX) await takeRoom(largeWork, principal.tenantId, auditContext, bytes * OPENED_TIMES);
  const tokens = await opener.open(principal.tenantId, rows);
  const data: PresentedToken[] = [];
  let maskBytes = 0;
  for (const token of tokens) {
    data.push(present.body(token, granted(decide(principal, permission, subjectOf(token))), auditContext.atMs));
    const budget = budgets.pop();
    if (budget === undefined) continue;
    // Masks may make much of little.
    maskBytes += budget.bytesEmitted();
    if (maskBytes > PIECE_BYTES_MAX) return inPieces();
    // A dear mask lets other requests in between.
    if (budget.unitsLeft() < MASK_UNITS_MAX - DEAR_UNITS) await setImmediate();
  }
  if (tokens.length > 0) {
    await database.append(principal.tenantId, (tx) => recordTouched(tx, auditContext, event, tokens));
  }
  return data;
}

/** One for each token: what one mask costs must not empty another's. */
function budgetOf(budgets: Budget[]): Budget {
  const budget = createBudget(MASK_UNITS_MAX);
  budgets.push(budget);
  return budget;
}

function searched(wanted: Wanted): Searched {
  const { includesChildren } = wanted;
  const search = wanted.by === 'query' ? { query: parseQuery(wanted.query) } : { filters: wanted.filters };
  return { ...search, includesChildren, permission: permissionFor(wanted) };
}

function permissionFor(wanted: Wanted): Searched['permission'] {
  return wanted.by === 'query' ? 'token:search' : 'token:read';
}
