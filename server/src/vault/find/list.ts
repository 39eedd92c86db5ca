import { setImmediate } from 'node:timers/promises';
import { decide } from '../../access/decide.js';
import type { Principal } from '../../access/principal.js';
import type { Act } from '../../audit/entry.js';
import type { Budget } from '../../expressions/budget.js';
import { createBudget } from '../../expressions/budget.js';
import type { Expressions } from '../../expressions/expressions.js';
import type { CursorScope, Cursors } from '../../http/paging/cursor.js';
import type { CursorPagination, OffsetPagination } from '../../http/paging/pages.js';
import { cursorPage, offsetPage, PAGE_SIZE_DEFAULT, pageAsked } from '../../http/paging/pages.js';
import type { PiecewiseList } from '../../http/transport/piecewise.js';
import type { LargeWork } from '../../kernel/large-work.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import { recordTouched } from '../change/change.js';
import type { Opener } from '../open/open.js';
import { OPENED_TIMES } from '../open/open.js';
import { takeRoom } from '../open/room.js';
import { granted, subjectOf } from '../present/answer.js';
import type { Fingerprints } from '../present/present.js';
import { createPresent } from '../present/present.js';
import type { TokenBody } from '../present/token-body.js';
import type { Filters } from '../search/build.js';
import { createDirectory } from '../search/directory.js';
import type { Page } from '../search/list-queries.js';
import { countTokens, findTokens } from '../search/list-queries.js';
import { parseQuery } from '../search/parse.js';
import type { Ask, Resolved } from '../search/resolve.js';
import { resolveAsk, resolveAtOnce } from '../search/resolve.js';
import { fingerprintBytes } from '../stored/fingerprint.js';
import type { FoundRow } from '../stored/row.js';
import { isLarge, sealedBytesOf } from '../stored/row.js';
import type { LargePage } from './large-pages.js';
import { createLargePages, FREE_BYTES_MAX, PIECE_BYTES_MAX } from './large-pages.js';

/** What the mask of one token on a page may cost, about five milliseconds; and from where on it is dear. */
const MASK_UNITS_MAX = 1_000_000;
const DEAR_UNITS = 200_000;

/** Whose data can be searched for: tokens that are shown masked, or only such as are revealed. */
export type SearchData = 'masked' | 'revealed';

/** What is looked for: by the filters of a list, or by the text of a search. */
export type Wanted =
  | { readonly by: 'filters'; readonly filters: Filters }
  | { readonly by: 'query'; readonly query: string };

/** A page; in pieces where all of it would be too large. */
export type TokenPage<Pagination> = { readonly pagination: Pagination; readonly data: TokenBody[] } | PiecewiseList;

export interface Lists {
  /** A page by its number, with the exact total. */
  numbered(
    principal: Principal,
    act: Act,
    wanted: Wanted,
    asked: { readonly page?: number; readonly size?: number },
  ): Promise<TokenPage<OffsetPagination>>;
  /** A page by cursor; containers include what is below them. */
  following(
    principal: Principal,
    act: Act,
    wanted: Wanted,
    asked: { readonly start?: string; readonly size?: number },
  ): Promise<TokenPage<CursorPagination>>;
}

export interface ListsOptions {
  readonly database: Database;
  readonly opener: Opener;
  readonly expressions: Expressions;
  readonly cursors: Cursors;
  readonly fingerprints: Fingerprints;
  readonly searchData: SearchData;
  readonly largeWork: LargeWork;
}

export function createLists(options: ListsOptions): Lists {
  const { database, opener, cursors, largeWork } = options;
  const readDirectory = createDirectory();
  const largePages = createLargePages(options);

  const least = {
    fingerprint: options.fingerprints === 'masked' ? 'mask' : 'reveal',
    data: options.searchData === 'revealed' ? 'reveal' : 'mask',
  } as const;

  async function look(
    principal: Principal,
    act: Act,
    wanted: Wanted,
    includesChildren: boolean,
    page: Page & { readonly isCounted: boolean },
  ): Promise<{ readonly rows: FoundRow[]; readonly total: number }> {
    const search = wanted.by === 'query' ? { query: parseQuery(wanted.query) } : { filters: wanted.filters };
    const keys = await opener.keysOf(principal.tenantId);
    const permission = permissionFor(wanted);
    const ask: Ask = {
      principal,
      permission,
      keys,
      includesChildren,
      readFingerprint: fingerprintBytes,
      least,
      ...search,
    };
    const nowMs = act.atMs;
    const find = async (tx: TenantTx, resolved: Resolved) => {
      const [rows, total] = await Promise.all([
        findTokens(tx, { ...resolved, ...page, nowMs }),
        page.isCounted ? countTokens(tx, { ...resolved, nowMs }) : 0,
      ]);
      return { rows, total };
    };
    const resolved = resolveAtOnce(ask);
    if (resolved) return database.readAtOnce(principal.tenantId, (tx) => find(tx, resolved));
    return database.readPage(principal.tenantId, async (tx) =>
      find(tx, await resolveAsk(tx, ask, (asked) => readDirectory(asked, nowMs))),
    );
  }

  /** Opens and shapes the tokens of a page, and has the log say so before they leave. */
  async function disclose<Pagination extends object>(
    principal: Principal,
    act: Act,
    wanted: Wanted,
    found: readonly FoundRow[],
    pagination: Pagination,
  ): Promise<TokenPage<Pagination>> {
    const permission = permissionFor(wanted);
    const event = wanted.by === 'query' ? 'token_found' : 'token_listed';
    const budgets: Budget[] = [];
    const present = createPresent(options, () => budgetOf(budgets), act);
    const inPieces = (): Promise<PiecewiseList> => {
      const presented: LargePage['present'] = (token, transform) => {
        const body = present.body(token, transform, act.atMs);
        return { body, maskBytes: budgets.pop()?.bytesEmitted() ?? 0 };
      };
      return largePages.send({ principal, act, permission, event, rows: found, pagination, present: presented });
    };
    const rows = found.filter((row) => !isLarge(row));
    if (rows.length < found.length) return inPieces();
    const bytes = rows.reduce((sum, row) => sum + sealedBytesOf(row), 0);
    if (bytes > FREE_BYTES_MAX) await takeRoom(largeWork, principal.tenantId, act, bytes * OPENED_TIMES);
    const tokens = await opener.open(principal.tenantId, rows);
    const data: TokenBody[] = [];
    let maskBytes = 0;
    for (const token of tokens) {
      data.push(present.body(token, granted(decide(principal, permission, subjectOf(token))), act.atMs));
      const budget = budgets.pop();
      if (budget === undefined) continue;
      // Masks may make much of little.
      maskBytes += budget.bytesEmitted();
      if (maskBytes > PIECE_BYTES_MAX) return inPieces();
      // A dear mask lets other requests in between.
      if (budget.unitsLeft() < MASK_UNITS_MAX - DEAR_UNITS) await setImmediate();
    }
    const answer = { pagination, data };
    if (tokens.length > 0) {
      await database.write(principal.tenantId, (tx) => recordTouched(tx, act, event, tokens));
    }
    return answer;
  }

  return {
    async numbered(principal, act, wanted, asked) {
      const { page, size, offset } = pageAsked(asked);
      const { rows, total } = await look(principal, act, wanted, false, { offset, limit: size, isCounted: true });
      const pagination = offsetPage({ total, page, size });
      return disclose(principal, act, wanted, rows, pagination);
    },

    async following(principal, act, wanted, asked) {
      const size = asked.size ?? PAGE_SIZE_DEFAULT;
      const scope = scopeOf(principal, wanted);
      const position = asked.start === undefined ? undefined : cursors.open(scope, asked.start);
      const after = position && { createdAtMs: position.atMs, tie: position.id };
      // One more than asked for tells whether there is a next page.
      const { rows } = await look(principal, act, wanted, true, { after, limit: size + 1, isCounted: false });
      const page = rows.slice(0, size);
      const last = rows.length > size ? page.at(-1) : undefined;
      const next = last && cursors.seal(scope, { atMs: last.created_at.getTime(), id: last.tie });
      return disclose(principal, act, wanted, page, cursorPage(size, next));
    },
  };
}

/** One for each token: what one mask costs must not empty another's. */
function budgetOf(budgets: Budget[]): Budget {
  const budget = createBudget(MASK_UNITS_MAX);
  budgets.push(budget);
  return budget;
}

function permissionFor(wanted: Wanted): Ask['permission'] {
  return wanted.by === 'query' ? 'token:search' : 'token:read';
}

function scopeOf({ tenantId }: Principal, wanted: Wanted): CursorScope {
  if (wanted.by === 'query') return { list: 'tokens-search', tenantId, filters: [wanted.query] };
  const { ids = [], types = [], containers = [], metadata = [], fingerprint = '' } = wanted.filters;
  // The same filters in another order are the same filters.
  const parts = [ids, types, containers, metadata.map((pair) => JSON.stringify(pair))].map((part) => [...part].sort());
  return { list: 'tokens', tenantId, filters: [...parts.map((part) => JSON.stringify(part)), fingerprint] };
}
