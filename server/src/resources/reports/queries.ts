import type { TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

const FIND_INCLUDED_TOKENS = statement<{ included: string | null }>(
  'find_included_tokens',
  'SELECT included_monthly_active_tokens AS included FROM tenants WHERE id = $1 AND deleted_at IS NULL',
);

/** What the plan of this tenant includes, where the operator set it for this tenant. */
export async function findIncludedTokens(tx: TenantTx): Promise<number | undefined> {
  const [row] = await tx.run(FIND_INCLUDED_TOKENS, [tx.tenantId]);
  return row === undefined || row.included === null ? undefined : Number(row.included);
}
