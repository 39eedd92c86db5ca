import { byteaArray, textArray, timestampArray, uuidArray } from '../../storage/binary-array.js';
import type { AskedPart, Bulk } from '../../storage/bulk.js';
import { bulkWrite } from '../../storage/bulk.js';
import type { TenantTx } from '../../storage/scope.js';
import type { RowOf } from '../../storage/statement.js';
import { distributedStatement, statement } from '../../storage/statement.js';
import type { TokenRow } from '../stored/row.js';

/** Before the tokens that claim; and what nobody claims any more is free for whoever asks in the same moment. */
const ORDER = { release: 5, claim: 10 };

/** A tenant's id is of one length, so no two keys read alike. */
const nameOf = (tenantId: string, tokenId: string): string => `${tenantId}${tokenId}`;

export interface Claim {
  readonly tenantId: string;
  readonly type: string;
  readonly fingerprint: Buffer;
  readonly groupId: string;
  readonly matchDigest: Buffer;
  readonly expiresAtMs: number | null;
  /** Group, mask and end together. */
  readonly scope: string;
  readonly tokenId: string;
  readonly atMs: number;
}

/** Who stands for a fingerprint. */
export interface FingerprintHolder {
  readonly id: string;
  /** False for a token from before masks were compared: whoever is led to it has to. */
  readonly isSure: boolean;
}

type ClaimResult = { tenant_id: string; token_id: string; holder: string; is_sure: boolean };

const CLAIM_FINGERPRINTS: Bulk<Claim, ClaimResult, Map<string, FingerprintHolder>> = {
  statement: statement(
    'claim_fingerprints',
    `SELECT given.tenant_id, given.token_id, claimed.holder, claimed.is_sure
     FROM unnest($1::uuid[], $2::text[], $3::bytea[], $4::text[], $5::timestamptz[], $6::uuid[], $7::uuid[], $8::bytea[],
                 $9::timestamptz[])
       AS given (tenant_id, type, fingerprint, token_id, at, scope, group_id, match_digest, expires_at)
     CROSS JOIN LATERAL claim_fingerprint(given.tenant_id, given.type, given.fingerprint, given.scope, given.group_id,
                                          given.match_digest, given.expires_at, given.token_id, given.at) AS claimed`,
  ),
  order: ORDER.claim,
  values: (unsorted) => {
    const rows = inLockOrder(unsorted);
    return [
      uuidArray(rows.map(({ tenantId }) => tenantId)),
      textArray(rows.map(({ type }) => type)),
      byteaArray(rows.map(({ fingerprint }) => fingerprint)),
      textArray(rows.map(({ tokenId }) => tokenId)),
      timestampArray(rows.map(({ atMs }) => atMs)),
      uuidArray(rows.map(({ scope }) => scope)),
      uuidArray(rows.map(({ groupId }) => groupId)),
      byteaArray(rows.map(({ matchDigest }) => matchDigest)),
      timestampArray(rows.map(({ expiresAtMs }) => expiresAtMs)),
    ];
  },
  collect: (results) =>
    new Map(
      results.map((row) => [nameOf(row.tenant_id, row.token_id), { id: row.holder, isSure: row.is_sure }] as const),
    ),
  distributed: (tenantId, claims) => inLockOrder(claims).map((claim) => askForOne(tenantId, claim)),
};

function askForOne(tenantId: string, claim: Claim): AskedPart<ClaimResult> {
  const { type, fingerprint, scope, groupId, matchDigest, expiresAtMs, tokenId, atMs } = claim;
  const expiresAt = expiresAtMs === null ? null : new Date(expiresAtMs);
  const values = [tenantId, type, fingerprint, scope, groupId, matchDigest, expiresAt, tokenId, new Date(atMs)];
  return {
    statement: CLAIM_ONE,
    values,
    // The statement's own type of row.
    read: (found) => ({ tenant_id: tenantId, token_id: tokenId, ...(found as RowOf<typeof CLAIM_ONE>).claimed }),
  };
}

function inLockOrder(claims: readonly Claim[]): Claim[] {
  return [...claims].sort((a, b) => Buffer.compare(a.fingerprint, b.fingerprint) || (a.scope < b.scope ? -1 : 1));
}

/** As `claim_fingerprints`, for one: a call by itself travels to the server that has the tenant. */
const CLAIM_ONE = distributedStatement<{ claimed: { holder: string; is_sure: boolean } }>(
  'claim_one_fingerprint',
  'SELECT claim_one_fingerprint($1::uuid, $2, $3, $4::uuid, $5::uuid, $6, $7, $8, $9) AS claimed',
);

/** Which token stands for the fingerprint from now on: the one that asks, or one that was there before. */
export async function claimFingerprint(tx: TenantTx, claim: Claim): Promise<FingerprintHolder> {
  const holders = await tx.gather(CLAIM_FINGERPRINTS, [claim]);
  return holders.get(nameOf(claim.tenantId, claim.tokenId)) ?? { id: claim.tokenId, isSure: true };
}

const TAKE_CLAIM = statement<{ token_id: string }>(
  'take_claim',
  `UPDATE token_claims SET token_id = CASE WHEN token_id = $6 THEN $5 ELSE token_id END
   WHERE tenant_id = $1 AND type = $2 AND fingerprint = $3 AND scope = $4 RETURNING token_id`,
);

/** Takes it from a token that turned out not to be alike, unless somebody in this transaction has; returns who holds it. */
export async function takeClaim(tx: TenantTx, claim: Claim, from: string): Promise<string> {
  const { type, fingerprint, scope, tokenId } = claim;
  const [row] = await tx.run(TAKE_CLAIM, [tx.tenantId, type, fingerprint, scope, tokenId, from]);
  return row?.token_id ?? tokenId;
}

const MOVE_CLAIM = statement<never>(
  'move_claim',
  `UPDATE token_claims SET token_id = $5
   WHERE tenant_id = $1 AND type = $2 AND fingerprint = $3 AND token_id = $4`,
);

/** What was claimed under another name is the token's. */
export async function moveClaim(tx: TenantTx, { type, fingerprint, id }: TokenRow, from: string): Promise<void> {
  await tx.run(MOVE_CLAIM, [tx.tenantId, type, fingerprint, from, id]);
}

interface ReleasedClaim extends Pick<TokenRow, 'type' | 'id'> {
  readonly tenantId: string;
  readonly fingerprint: Buffer;
  /** The scope in which it goes on to stand for its fingerprint. */
  readonly kept: string | null;
}

/** One of them by itself, which Citus plans in less time. */
const RELEASE_ALONE = distributedStatement<unknown>(
  'release_claims_alone',
  `DELETE FROM token_claims
   WHERE tenant_id = $1 AND type = $2 AND fingerprint = $3 AND token_id = $4 AND scope IS DISTINCT FROM $5::uuid`,
);

const RELEASE_CLAIMS = bulkWrite<ReleasedClaim>(
  statement(
    'release_claims',
    `DELETE FROM token_claims AS d
     USING (SELECT c.tenant_id, c.place
            FROM unnest($1::uuid[], $2::text[], $3::bytea[], $4::text[], $5::uuid[])
              AS given (tenant_id, type, fingerprint, token_id, kept)
            CROSS JOIN LATERAL (SELECT c.tenant_id, c.ctid AS place FROM token_claims AS c
                                WHERE c.tenant_id = given.tenant_id AND c.type = given.type
                                  AND c.fingerprint = given.fingerprint AND c.token_id = given.token_id
                                  AND c.scope IS DISTINCT FROM given.kept OFFSET 0) AS c) AS found
     WHERE d.tenant_id = found.tenant_id AND d.ctid = found.place`,
  ),
  ORDER.release,
  (unsorted) => {
    const rows = [...unsorted].sort((a, b) => Buffer.compare(a.fingerprint, b.fingerprint));
    return [
      uuidArray(rows.map(({ tenantId }) => tenantId)),
      textArray(rows.map(({ type }) => type)),
      byteaArray(rows.map(({ fingerprint }) => fingerprint)),
      textArray(rows.map(({ id }) => id)),
      uuidArray(rows.map(({ kept }) => kept)),
    ];
  },
  {
    distributed: (tenantId, rows) =>
      rows.map(({ type, fingerprint, id, kept }) => ({
        statement: RELEASE_ALONE,
        values: [tenantId, type, fingerprint, id, kept],
      })),
  },
);

/** The token no longer stands for its fingerprint, except in the scope it may have claimed just now. */
export async function releaseClaim(
  tx: TenantTx,
  { type, fingerprint, id }: Pick<TokenRow, 'type' | 'fingerprint' | 'id'>,
  kept: string | null = null,
): Promise<void> {
  if (fingerprint === null) return;
  await tx.gather(RELEASE_CLAIMS, [{ tenantId: tx.tenantId, type, fingerprint, id, kept }]);
}
