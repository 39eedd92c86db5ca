import type { PurgeTx, SystemTx, TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

export interface TenantRow {
  readonly id: string;
  readonly owner_id: string;
  readonly name: string;
  readonly fingerprint_tokens: boolean;
  readonly deduplicate_tokens: boolean;
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly modified_by: string | null;
  readonly modified_at: Date | null;
}

const COLUMNS =
  'id, owner_id, name, fingerprint_tokens, deduplicate_tokens, created_by, created_at, modified_by, modified_at';

const FIND_TENANT_BY_ID = statement<TenantRow>(
  'find_tenant_by_id',
  `SELECT ${COLUMNS} FROM tenants WHERE id = $1 AND deleted_at IS NULL`,
);

export async function findTenantById(tx: TenantTx): Promise<TenantRow | undefined> {
  const [found] = await tx.run(FIND_TENANT_BY_ID, [tx.tenantId]);
  return found;
}

const UPDATE_TENANT = statement<TenantRow & { are_settings_changed: boolean }>(
  'update_tenant',
  `UPDATE tenants AS t
   SET name = $2, fingerprint_tokens = COALESCE($3, t.fingerprint_tokens),
       deduplicate_tokens = COALESCE($4, t.deduplicate_tokens), modified_by = $5, modified_at = $6
   FROM (SELECT id AS old_id, fingerprint_tokens AS old_fingerprint, deduplicate_tokens AS old_deduplicate
         FROM tenants WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE) AS old
   WHERE t.id = $1 AND t.id = old.old_id
   RETURNING ${COLUMNS},
     (fingerprint_tokens <> old_fingerprint OR deduplicate_tokens <> old_deduplicate) AS are_settings_changed`,
);

export interface TenantChange {
  readonly name: string;
  readonly fingerprintTokens: boolean | undefined;
  readonly deduplicateTokens: boolean | undefined;
  readonly modifiedBy: string | undefined;
  readonly modifiedAtMs: number;
}

export async function updateTenant(
  tx: TenantTx,
  change: TenantChange,
): Promise<(TenantRow & { are_settings_changed: boolean }) | undefined> {
  const [updated] = await tx.run(UPDATE_TENANT, [
    tx.tenantId,
    change.name,
    change.fingerprintTokens ?? null,
    change.deduplicateTokens ?? null,
    change.modifiedBy ?? null,
    new Date(change.modifiedAtMs),
  ]);
  return updated;
}

const MARK_TENANT_DELETED = statement<{ id: string }>(
  'mark_tenant_deleted',
  // The row stays as a tombstone as long as the log does; what people wrote into it does not.
  `UPDATE tenants SET deleted_at = $2, name = '(deleted)' WHERE id = $1 AND deleted_at IS NULL RETURNING id`,
);

export async function markTenantDeleted(tx: TenantTx, atMs: number): Promise<boolean> {
  return (await tx.run(MARK_TENANT_DELETED, [tx.tenantId, new Date(atMs)])).length > 0;
}

const INSERT_TENANT = statement<never>(
  'insert_tenant',
  'INSERT INTO tenants (id, owner_id, name, created_by, created_at) VALUES ($1, $2, $3, $4, $5)',
);

export async function insertTenant(
  tx: TenantTx,
  tenant: { readonly ownerId: string; readonly name: string; readonly createdBy: string | null; readonly atMs: number },
): Promise<void> {
  await tx.run(INSERT_TENANT, [tx.tenantId, tenant.ownerId, tenant.name, tenant.createdBy, new Date(tenant.atMs)]);
}

const LIST_TENANTS = statement<TenantRow>(
  'list_tenants',
  `SELECT ${COLUMNS} FROM tenants WHERE deleted_at IS NULL AND (created_at, id) > ($1, $2)
   ORDER BY created_at, id LIMIT $3`,
);

export async function listTenants(
  tx: SystemTx,
  after: { readonly createdAt: Date; readonly id: string },
  limit: number,
): Promise<TenantRow[]> {
  return tx.run(LIST_TENANTS, [after.createdAt, after.id, limit]);
}

export interface DeletedTenant {
  readonly id: string;
  readonly deleted_at: Date;
}

const BEFORE_ALL: DeletedTenant = { id: '00000000-0000-0000-0000-000000000000', deleted_at: new Date(0) };

const LIST_TENANTS_TO_PURGE = statement<DeletedTenant>(
  'list_tenants_to_purge',
  `SELECT id, deleted_at FROM tenants
   WHERE deleted_at IS NOT NULL AND purged_at IS NULL AND (deleted_at, id) > ($1, $2)
   ORDER BY deleted_at, id LIMIT $3`,
);

/** Deleted tenants that may still have more than their log. */
export async function listTenantsToPurge(
  tx: SystemTx,
  after: DeletedTenant = BEFORE_ALL,
  limit: number,
): Promise<DeletedTenant[]> {
  return tx.run(LIST_TENANTS_TO_PURGE, [after.deleted_at, after.id, limit]);
}

const LIST_PURGED_TENANTS = statement<DeletedTenant>(
  'list_purged_tenants',
  `SELECT id, deleted_at FROM tenants
   WHERE purged_at IS NOT NULL AND deleted_at <= $1 AND (deleted_at, id) > ($2, $3)
   ORDER BY deleted_at, id LIMIT $4`,
);

/** Tombstones of tenants that were deleted by then and have nothing left but their log. */
export async function listPurgedTenants(
  tx: SystemTx,
  deletedUntilMs: number,
  after: DeletedTenant = BEFORE_ALL,
  limit: number,
): Promise<DeletedTenant[]> {
  return tx.run(LIST_PURGED_TENANTS, [new Date(deletedUntilMs), after.deleted_at, after.id, limit]);
}

const LIST_DELETED_TENANTS = statement<DeletedTenant>(
  'list_deleted_tenants',
  `SELECT id, deleted_at FROM tenants WHERE deleted_at IS NOT NULL AND (deleted_at, id) > ($1, $2)
   ORDER BY deleted_at, id LIMIT $3`,
);

/** Every tombstone there is, for the operator. */
export async function listDeletedTenants(
  tx: SystemTx,
  after: DeletedTenant = BEFORE_ALL,
  limit: number,
): Promise<DeletedTenant[]> {
  return tx.run(LIST_DELETED_TENANTS, [after.deleted_at, after.id, limit]);
}

export interface TenantFate {
  readonly deleted_at: Date | null;
  readonly purged_at: Date | null;
}

const FIND_TENANT_FATE = statement<TenantFate>(
  'find_tenant_fate',
  'SELECT deleted_at, purged_at FROM tenants WHERE id = $1',
);

/** Of a tenant that lives, or was deleted and has a log left. */
export async function findTenantFate(tx: SystemTx, id: string): Promise<TenantFate | undefined> {
  return (await tx.run(FIND_TENANT_FATE, [id]))[0];
}

const TRY_PURGE = statement<{ is_ours: boolean }>(
  'try_purge',
  `SELECT pg_try_advisory_xact_lock(hashtext(tenant_id), hashtext('strongroom.purge')) AS is_ours
   FROM (VALUES ($1::text)) AS given (tenant_id)`,
);

/**
 * True if nobody else is purging this tenant, until the transaction ends. Rows that another is about to remove look as if
 * they were gone, and behind them others may follow: who is not alone would take the tombstone away too early.
 */
export async function tryPurge(tx: PurgeTx): Promise<boolean> {
  return (await tx.run(TRY_PURGE, [tx.tenantId]))[0]?.is_ours === true;
}

const HAS_LOGS = statement<{ has_logs: boolean }>(
  'has_logs',
  'SELECT EXISTS (SELECT FROM logs WHERE tenant_id = $1) AS has_logs',
);

export async function hasLogs(tx: PurgeTx): Promise<boolean> {
  return (await tx.run(HAS_LOGS, [tx.tenantId]))[0]?.has_logs === true;
}

const MARK_TENANT_PURGED = statement<never>(
  'mark_tenant_purged',
  'UPDATE tenants SET purged_at = $2 WHERE id = $1 AND deleted_at IS NOT NULL',
);

export async function markTenantPurged(tx: PurgeTx, atMs: number): Promise<void> {
  await tx.run(MARK_TENANT_PURGED, [tx.tenantId, new Date(atMs)]);
}

const DELETE_TENANT = statement<never>('purge_tenant', 'DELETE FROM tenants WHERE id = $1 AND deleted_at IS NOT NULL');

export async function deleteTenantRow(tx: PurgeTx): Promise<void> {
  await tx.run(DELETE_TENANT, [tx.tenantId]);
}

const DELETE_TOMBSTONE = statement<never>(
  'purge_tombstone',
  'DELETE FROM tenants WHERE id = $1 AND purged_at IS NOT NULL',
);

/** Only where everything but the log was gone before. */
export async function deleteTombstone(tx: PurgeTx): Promise<void> {
  await tx.run(DELETE_TOMBSTONE, [tx.tenantId]);
}
