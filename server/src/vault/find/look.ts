import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import type { Opener } from '../open/open.js';
import type { Fingerprints } from '../present/present.js';
import { createDirectory } from '../search/directory.js';
import type { Page } from '../search/list-queries.js';
import { countTokens, findTokens } from '../search/list-queries.js';
import type { Ask, Resolved } from '../search/resolve.js';
import { resolveAsk, resolveAtOnce } from '../search/resolve.js';
import { fingerprintBytes } from '../stored/fingerprint.js';
import type { TokenPosition } from '../stored/position.js';
import type { FoundRow } from '../stored/row.js';

/** Whose data can be searched for: tokens that are shown masked, or only such as are revealed. */
export type SearchData = 'masked' | 'revealed';

/** What is looked for, and by which right. */
export type Searched = Pick<Ask, 'query' | 'filters' | 'includesChildren' | 'permission'>;

/** Finds the rows of a page among those that somebody may find. */
export type Look = (
  finder: Pick<Principal, 'tenantId' | 'grants'>,
  auditContext: AuditContext,
  searched: Searched,
  page: Page & { readonly isCounted: boolean },
) => Promise<{ readonly rows: FoundRow[]; readonly total: number }>;

/** How much of a token must be shown to find it by what it holds. */
export type LeastShown = Ask['least'];

export function leastShownBy(fingerprints: Fingerprints, searchData: SearchData): LeastShown {
  return {
    fingerprint: fingerprints === 'masked' ? 'mask' : 'reveal',
    data: searchData === 'revealed' ? 'reveal' : 'mask',
  };
}

export interface LookOptions {
  readonly database: Database;
  readonly opener: Opener;
  readonly leastShown: LeastShown;
}

export function createLook({ database, opener, leastShown: least }: LookOptions): Look {
  const readDirectory = createDirectory();
  return async (principal, { atMs: nowMs }, searched, page) => {
    const { tenantId } = principal;
    const keys = await opener.keysOf(tenantId);
    const ask: Ask = { ...searched, principal, keys, readFingerprint: fingerprintBytes, least };
    const find = async (tx: TenantTx, resolved: Resolved) => {
      const [rows, total] = await Promise.all([
        findTokens(tx, { ...resolved, ...page, nowMs }),
        page.isCounted ? countTokens(tx, { ...resolved, nowMs }) : 0,
      ]);
      return { rows, total };
    };
    const resolved = resolveAtOnce(ask);
    if (resolved) return database.readAtOnce(tenantId, (tx) => find(tx, resolved));
    return database.readPage(tenantId, async (tx) =>
      find(tx, await resolveAsk(tx, ask, (asked) => readDirectory(asked, nowMs))),
    );
  };
}

/** The rows of a page of which one more than asked for was looked for, which tells whether there is a next one. */
export function pageOf(
  rows: readonly FoundRow[],
  limit: number,
): { readonly shown: FoundRow[]; readonly next: TokenPosition | undefined } {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { shown, next: last && { createdAtMs: last.created_at.getTime(), tie: last.tie } };
}
