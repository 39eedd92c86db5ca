import type { TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';

const LOCK_TENANT_OWNER = statement<{ owner_id: string }>(
  'lock_tenant_owner',
  'SELECT owner_id FROM tenants WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE',
);

/** Whose the tenant is, until the transaction ends; undefined for a deleted one. */
export async function lockTenantOwner(tx: TenantTx): Promise<string | undefined> {
  return (await tx.run(LOCK_TENANT_OWNER, [tx.tenantId]))[0]?.owner_id;
}

const SET_TENANT_OWNER = statement<never>(
  'set_tenant_owner',
  'UPDATE tenants SET owner_id = $2, modified_by = $3, modified_at = $4 WHERE id = $1 AND deleted_at IS NULL',
);

export async function setTenantOwner(
  tx: TenantTx,
  change: { readonly ownerId: string; readonly modifiedBy: string | undefined; readonly atMs: number },
): Promise<void> {
  const { ownerId, modifiedBy, atMs } = change;
  await tx.run(SET_TENANT_OWNER, [tx.tenantId, ownerId, modifiedBy ?? null, new Date(atMs)]);
}
