import { bulkWrite } from '../../storage/bulk.js';
import { givenStatement } from '../../storage/given.js';
import type { TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';
import { BY_ID } from '../queries.js';
import type { TokenPosition } from '../stored/position.js';
import type { TokenRow } from '../stored/row.js';
import { TOKEN_COLUMNS } from '../stored/row.js';

export interface ExportPage {
  readonly after: TokenPosition;
  /** Tokens made later are not part of the export. */
  readonly untilMs: number;
  readonly nowMs: number;
  readonly limit: number;
  /** No further token once this much was taken; one always is. */
  readonly bytesMax: number;
}

const FIND_TOKENS_AFTER = statement<TokenRow>(
  'find_tokens_to_export',
  `SELECT ${TOKEN_COLUMNS}
   FROM (SELECT ${TOKEN_COLUMNS}, sum(octet_length(t.sealed)) OVER (ORDER BY t.created_at, t.tie)
                                  - octet_length(t.sealed) AS bytes_before
         FROM (SELECT ${TOKEN_COLUMNS} FROM tokens AS t
               WHERE t.tenant_id = $1 AND (t.created_at, t.tie) > ($2::timestamptz, $3::uuid) AND t.created_at <= $4
                 AND (t.expires_at IS NULL OR t.expires_at > $5)
               ORDER BY t.created_at, t.tie LIMIT $6) AS t) AS t
   WHERE t.bytes_before < $7 ORDER BY t.created_at, t.tie`,
);

/** The next tokens in the order of their creation, oldest first. */
export async function findTokensAfter(tx: TenantTx, page: ExportPage): Promise<TokenRow[]> {
  const { after, untilMs, nowMs, limit, bytesMax } = page;
  return tx.run(FIND_TOKENS_AFTER, [
    tx.tenantId,
    new Date(after.createdAtMs).toISOString(),
    after.tie,
    new Date(untilMs),
    new Date(nowMs),
    limit,
    bytesMax,
  ]);
}

/** After the tokens themselves were written, and before anybody looks for them. */
const ORDER = 25;

const SET_MODIFIED = bulkWrite<TokenRow>(
  givenStatement(
    'set_tokens_modified',
    ({ rows, tenant, isOf }) =>
      `UPDATE tokens AS u SET modified_by = found.modified_by, modified_at = found.modified_at
       FROM (SELECT t.tenant_id, t.token, given.modified_by, given.modified_at
             FROM ${rows('tenant_id uuid', 'id text', 'modified_by uuid', 'modified_at timestamptz')}
             CROSS JOIN LATERAL (SELECT t.tenant_id, t.ctid AS token FROM tokens AS t
                                 WHERE t.tenant_id = ${tenant} AND ${BY_ID}
                                 ORDER BY t.id LIMIT 1) AS t) AS found
       WHERE ${isOf('u', 'found')} AND u.ctid = found.token`,
  ),
  ORDER,
  (rows) => [
    rows.map((row) => row.tenant_id),
    rows.map((row) => row.id),
    rows.map((row) => row.modified_by),
    rows.map((row) => row.modified_at?.toISOString() ?? null),
  ],
);

/** A new token was never modified; one that was moved here may have been, elsewhere. */
export async function setModified(tx: TenantTx, rows: readonly TokenRow[]): Promise<void> {
  const modified = rows.filter((row) => row.modified_at !== null || row.modified_by !== null);
  if (modified.length > 0) await tx.gather(SET_MODIFIED, modified);
}
