import type { TenantTx } from '../../storage/scope.js';
import type { OpenRow } from '../open/open-rows.js';
import type { TokenContent } from '../stored/content.js';
import { claimScopeOf, isMatchedAlike, OF_TYPE } from '../stored/match.js';
import type { TokenRow } from '../stored/row.js';
import type { Claim } from './claim-queries.js';
import { claimFingerprint, takeClaim } from './claim-queries.js';

/** A token that has, or is about to get, a fingerprint. */
export interface Claiming {
  readonly row: TokenRow;
  readonly content: TokenContent;
}

/** Undefined for a token without a fingerprint, which nothing can stand for. */
export function claimOf({ row }: Pick<Claiming, 'row'>, tokenId: string, atMs: number): Claim | undefined {
  if (row.fingerprint === null) return undefined;
  return {
    tenantId: row.tenant_id,
    type: row.type,
    fingerprint: row.fingerprint,
    groupId: row.group_id,
    matchDigest: row.match_digest ?? OF_TYPE,
    expiresAtMs: row.expires_at?.getTime() ?? null,
    scope: claimScopeOf(row),
    tokenId,
    atMs,
  };
}

/**
 * Which token stands for this one from now on: itself, by the name it claims under, or one that was there before. One from
 * before masks were compared is opened by `open`; where its mask is another one, it stands for nothing here.
 */
export async function holderOf(
  tx: TenantTx,
  token: Claiming,
  claim: Claim,
  open: (id: string) => Promise<OpenRow | undefined>,
): Promise<string> {
  const holder = await claimFingerprint(tx, claim);
  if (holder.isSure || holder.id === claim.tokenId) return holder.id;
  const found = await open(holder.id);
  if (found && isMatchedAlike(found.content, token.content)) return holder.id;
  return takeClaim(tx, claim, holder.id);
}
