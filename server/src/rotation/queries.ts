import type { SystemTx, TenantTx } from '../storage/scope.js';
import { statement } from '../storage/statement.js';

const LOCK_TENANT = statement<{ id: string }>(
  'lock_tenant_for_rotation',
  'SELECT id FROM tenants WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE',
);

/** Of two beginnings at once the second waits here; false when the tenant is gone, and no key may be made for it. */
export async function lockTenant(tx: TenantTx): Promise<boolean> {
  return (await tx.run(LOCK_TENANT, [tx.tenantId])).length > 0;
}

const FIND_NEWEST_KEY = statement<{ version: number; created_at: Date }>(
  'find_newest_encryption_key',
  `SELECT version, created_at FROM tenant_keys WHERE tenant_id = $1 AND kind = 'encryption'
   ORDER BY version DESC LIMIT 1`,
);

export async function findNewestKey(tx: TenantTx): Promise<{ version: number; created_at: Date } | undefined> {
  return (await tx.run(FIND_NEWEST_KEY, [tx.tenantId]))[0];
}

export interface RotationRow {
  readonly to_version: number;
  readonly stage: string;
  readonly place: string;
}

const FIND_UNFINISHED = statement<RotationRow>(
  'find_unfinished_rotation',
  `SELECT to_version, stage, place FROM key_rotations WHERE tenant_id = $1 AND finished_at IS NULL
   ORDER BY to_version DESC LIMIT 1`,
);

export async function findUnfinishedRotation(tx: TenantTx): Promise<RotationRow | undefined> {
  return (await tx.run(FIND_UNFINISHED, [tx.tenantId]))[0];
}

const INSERT_ROTATION = statement<never>(
  'insert_rotation',
  `INSERT INTO key_rotations (tenant_id, to_version, stage, place, started_at) VALUES ($1, $2, $3, $4, $5)`,
);

export async function insertRotation(tx: TenantTx, row: RotationRow, atMs: number): Promise<void> {
  await tx.run(INSERT_ROTATION, [tx.tenantId, row.to_version, row.stage, row.place, new Date(atMs)]);
}

const UPDATE_POSITION = statement<never>(
  'update_rotation_place',
  'UPDATE key_rotations SET stage = $3, place = $4 WHERE tenant_id = $1 AND to_version = $2',
);

export async function updateRotationPosition(tx: TenantTx, row: RotationRow): Promise<void> {
  await tx.run(UPDATE_POSITION, [tx.tenantId, row.to_version, row.stage, row.place]);
}

const FINISH_ROTATION = statement<never>(
  'finish_rotation',
  `UPDATE key_rotations SET finished_at = $3 WHERE tenant_id = $1 AND to_version = $2 AND finished_at IS NULL`,
);

export async function finishRotation(tx: TenantTx, toVersion: number, atMs: number): Promise<void> {
  await tx.run(FINISH_ROTATION, [tx.tenantId, toVersion, new Date(atMs)]);
}

const TRY_LOCK_ROOT = statement<{ is_ours: boolean }>(
  'try_lock_root_rotation',
  // The transaction that holds the lock is idle while the work runs in others, however long that takes.
  `SELECT pg_try_advisory_xact_lock(hashtext('strongroom.rotate-root')) AS is_ours,
          set_config('idle_in_transaction_session_timeout', '0', true) AS idle`,
);

/** Holds until the transaction ends, and so never longer than the process that asked. */
export async function tryLockRootRotation(tx: SystemTx): Promise<boolean> {
  return (await tx.run(TRY_LOCK_ROOT, []))[0]?.is_ours === true;
}
