import type { TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

/** A writer keeps to one slot, so that writers do not wait for each other on a row. */
export const COUNTER_SLOTS = 8;

const FIND_TOKEN_COUNTS = statement<{ token_type: string; count: string; last_created_at: Date | null }>(
  'find_token_counts',
  `SELECT c.token_type, c.count, newest.created_at AS last_created_at
   FROM (SELECT token_type, sum(count) AS count FROM token_counts
         WHERE tenant_id = $1 GROUP BY token_type HAVING sum(count) > 0) AS c
   LEFT JOIN LATERAL (SELECT created_at FROM tokens WHERE tenant_id = $1 AND type = c.token_type
                      ORDER BY created_at DESC LIMIT 1) AS newest ON true
   ORDER BY c.token_type LIMIT 1000`,
);

export interface TokenCount {
  readonly type: string;
  readonly count: number;
  readonly lastCreatedAt: Date | null;
}

/** Reads a few counters and one index entry a type, whatever the number of tokens. */
export async function findTokenCounts(tx: TenantTx): Promise<TokenCount[]> {
  const rows = await tx.run(FIND_TOKEN_COUNTS, [tx.tenantId]);
  return rows.map((row) => ({ type: row.token_type, count: Number(row.count), lastCreatedAt: row.last_created_at }));
}

const FIND_ACTIVE_TOKEN_COUNT = statement<{ count: string }>(
  'find_active_token_count',
  'SELECT COALESCE(sum(count), 0) AS count FROM active_token_counts WHERE tenant_id = $1 AND month = $2',
);

export async function findActiveTokenCount(tx: TenantTx, month: string): Promise<number> {
  const [row] = await tx.run(FIND_ACTIVE_TOKEN_COUNT, [tx.tenantId, month]);
  return Number(row?.count ?? 0);
}

const FIND_INCLUDED_TOKENS = statement<{ included: string | null }>(
  'find_included_tokens',
  'SELECT included_monthly_active_tokens AS included FROM tenants WHERE id = $1 AND deleted_at IS NULL',
);

/** What the plan of this tenant includes, where the operator set it for this tenant. */
export async function findIncludedTokens(tx: TenantTx): Promise<number | undefined> {
  const [row] = await tx.run(FIND_INCLUDED_TOKENS, [tx.tenantId]);
  return row === undefined || row.included === null ? undefined : Number(row.included);
}

const ADD_TO_TOKEN_COUNT = statement<never>(
  'add_to_token_count',
  `INSERT INTO token_counts (tenant_id, token_type, slot, count) VALUES ($1, $2, $3, $4)
   ON CONFLICT (tenant_id, token_type, slot) DO UPDATE SET count = token_counts.count + EXCLUDED.count`,
);

export async function addToTokenCount(tx: TenantTx, tokenType: string, difference: number): Promise<void> {
  await tx.run(ADD_TO_TOKEN_COUNT, [tx.tenantId, tokenType, tx.lane % COUNTER_SLOTS, difference]);
}

const ADD_ACTIVE_TOKENS = statement<never>(
  'add_active_tokens',
  `WITH fresh AS (
     INSERT INTO active_tokens (tenant_id, month, token_id)
     SELECT $1, $2::date, id FROM unnest($4::text[]) AS given (id) ORDER BY id
     ON CONFLICT DO NOTHING RETURNING 1)
   INSERT INTO active_token_counts (tenant_id, month, slot, count)
   SELECT $1, $2::date, $3, count(*) FROM fresh HAVING count(*) > 0
   ON CONFLICT (tenant_id, month, slot) DO UPDATE SET count = active_token_counts.count + EXCLUDED.count`,
);

/** A token counts once a month: only those not seen yet raise the counter. */
export async function addActiveTokens(tx: TenantTx, month: string, tokenIds: readonly string[]): Promise<void> {
  await tx.run(ADD_ACTIVE_TOKENS, [tx.tenantId, month, tx.lane % COUNTER_SLOTS, tokenIds]);
}
