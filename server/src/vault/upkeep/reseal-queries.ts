import type { TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';
import { BY_ID } from '../queries.js';
import type { TokenRow } from '../stored/row.js';

export type SealedToken = Pick<TokenRow, 'tenant_id' | 'id' | 'type' | 'group_id' | 'data_version' | 'sealed'>;

const COLUMNS = 'tenant_id, id, type, group_id, data_version, sealed';

// Bytes 3 to 6 of a record are its key version.
const LIST_TOKEN_KEY_VERSIONS = statement<{ id: string; is_current: boolean }>(
  'list_token_key_versions',
  `SELECT id, substring(sealed FROM 3 FOR 4) = int4send($3::integer) AS is_current
   FROM tokens WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $4`,
);

export async function listTokenKeyVersions(
  tx: TenantTx,
  after: string,
  current: number,
  limit: number,
): Promise<{ id: string; is_current: boolean }[]> {
  return tx.run(LIST_TOKEN_KEY_VERSIONS, [tx.tenantId, after, current, limit]);
}

const LOCK_TOKENS = statement<SealedToken>(
  'lock_tokens_to_reseal',
  `SELECT ${COLUMNS} FROM tokens
   WHERE tenant_id = $1 AND id = ANY ($2::text[]) AND substring(sealed FROM 3 FOR 4) <> int4send($3::integer)
   ORDER BY id FOR NO KEY UPDATE`,
);

export async function lockTokensToReseal(
  tx: TenantTx,
  ids: readonly string[],
  current: number,
): Promise<SealedToken[]> {
  return tx.run(LOCK_TOKENS, [tx.tenantId, ids, current]);
}

const UPDATE_SEALED = statement<never>(
  'update_tokens_sealed',
  `UPDATE tokens AS u SET sealed = decode(found.sealed, 'hex')
   FROM (SELECT t.token, t.version, given.sealed
         FROM unnest($2::text[], $3::integer[], $4::text[]) AS given (id, data_version, sealed)
         CROSS JOIN LATERAL (SELECT t.ctid AS token, given.data_version AS version FROM tokens AS t
                             WHERE t.tenant_id = $1 AND ${BY_ID}
                             ORDER BY t.id LIMIT 1) AS t) AS found
   WHERE u.tenant_id = $1 AND u.ctid = found.token AND u.data_version = found.version`,
);

export async function updateSealed(
  tx: TenantTx,
  rows: readonly Pick<TokenRow, 'id' | 'data_version' | 'sealed'>[],
): Promise<void> {
  await tx.run(UPDATE_SEALED, [
    tx.tenantId,
    rows.map(({ id }) => id),
    rows.map(({ data_version }) => data_version),
    rows.map(({ sealed }) => sealed.toString('hex')),
  ]);
}

const LIST_SEALED = statement<SealedToken>(
  'list_sealed_tokens',
  `SELECT ${COLUMNS} FROM tokens WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);

export async function listSealedTokens(tx: TenantTx, after: string, limit: number): Promise<SealedToken[]> {
  return tx.run(LIST_SEALED, [tx.tenantId, after, limit]);
}

const COUNT_TOKENS = statement<{ count: string }>(
  'count_tokens_by_group',
  'SELECT coalesce(sum(count), 0)::text AS count FROM token_groups WHERE tenant_id = $1',
);

/** From the counters, because counting millions of rows takes longer than a statement may. */
export async function countAllTokens(tx: TenantTx): Promise<number> {
  return Number((await tx.run(COUNT_TOKENS, [tx.tenantId]))[0]?.count ?? 0);
}
