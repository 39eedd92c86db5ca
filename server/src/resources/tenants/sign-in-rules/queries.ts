import type { TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';

const SET_SIGN_IN_RULES = statement<{ id: string }>(
  'set_sign_in_rules',
  `UPDATE tenants SET second_factor_from = $2, sign_in_issuer = $3, modified_by = $4, modified_at = $5
   WHERE id = $1 AND deleted_at IS NULL RETURNING id`,
);

export interface StoredSignInRules {
  readonly secondFactorFromMs: number | undefined;
  readonly issuerId: string | undefined;
}

/** False where the tenant is gone. */
export async function setSignInRules(
  tx: TenantTx,
  { secondFactorFromMs: fromMs, issuerId }: StoredSignInRules,
  by: { readonly modifiedBy: string | undefined; readonly atMs: number },
): Promise<boolean> {
  const from = fromMs === undefined ? null : new Date(fromMs);
  const values = [tx.tenantId, from, issuerId ?? null, by.modifiedBy ?? null, new Date(by.atMs)];
  return (await tx.run(SET_SIGN_IN_RULES, values)).length > 0;
}
