import type { SystemTx, TenantTx } from '../storage/scope.js';
import { statement } from '../storage/statement.js';
import type { RootCheck } from './root-check.js';
import type { SystemKeyRow } from './system-keys.js';
import type { TenantKeyRow } from './tenant-keys.js';

const FIND_ROOT_CHECK = statement<{ root_key_id: string; sealed: Buffer }>(
  'find_root_check',
  'SELECT root_key_id, sealed FROM root_key_check',
);

export async function findRootCheck(tx: SystemTx): Promise<RootCheck | undefined> {
  const [row] = await tx.run(FIND_ROOT_CHECK, []);
  return row && { rootKeyId: row.root_key_id, sealed: row.sealed };
}

const INSERT_ROOT_CHECK = statement<{ root_key_id: string }>(
  'insert_root_check',
  'INSERT INTO root_key_check (root_key_id, sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING root_key_id',
);

/** False when another process was first: its key counts. */
export async function insertRootCheck(tx: SystemTx, check: RootCheck): Promise<boolean> {
  return (await tx.run(INSERT_ROOT_CHECK, [check.rootKeyId, check.sealed])).length > 0;
}

const FIND_SYSTEM_KEYS = statement<SystemKeyRow>(
  'find_system_keys',
  'SELECT name, wrapped FROM system_keys ORDER BY name LIMIT 100',
);

export async function findSystemKeys(tx: SystemTx): Promise<SystemKeyRow[]> {
  return tx.run(FIND_SYSTEM_KEYS, []);
}

const UPDATE_ROOT_CHECK = statement<never>(
  'update_root_check',
  'UPDATE root_key_check SET root_key_id = $1, sealed = $2',
);

export async function updateRootCheck(tx: SystemTx, check: RootCheck): Promise<void> {
  await tx.run(UPDATE_ROOT_CHECK, [check.rootKeyId, check.sealed]);
}

const UPDATE_SYSTEM_KEY = statement<never>('update_system_key', 'UPDATE system_keys SET wrapped = $2 WHERE name = $1');

export async function updateSystemKey(tx: SystemTx, row: SystemKeyRow): Promise<void> {
  await tx.run(UPDATE_SYSTEM_KEY, [row.name, row.wrapped]);
}

const INSERT_SYSTEM_KEY = statement<never>(
  'insert_system_key',
  'INSERT INTO system_keys (name, wrapped) VALUES ($1, $2)',
);

export async function insertSystemKey(tx: SystemTx, row: SystemKeyRow): Promise<void> {
  await tx.run(INSERT_SYSTEM_KEY, [row.name, row.wrapped]);
}

const FIND_TENANT_KEYS = statement<TenantKeyRow>(
  'find_tenant_keys',
  'SELECT kind, version, wrapped FROM tenant_keys WHERE tenant_id = $1 ORDER BY kind, version LIMIT 1000',
);

export async function findTenantKeys(tx: TenantTx): Promise<TenantKeyRow[]> {
  return tx.run(FIND_TENANT_KEYS, [tx.tenantId]);
}

const FIND_TENANT_KEYS_FOR_UPDATE = statement<TenantKeyRow>(
  'find_tenant_keys_for_update',
  `SELECT kind, version, wrapped FROM tenant_keys WHERE tenant_id = $1 ORDER BY kind, version LIMIT 1000
   FOR NO KEY UPDATE`,
);

export async function findTenantKeysForUpdate(tx: TenantTx): Promise<TenantKeyRow[]> {
  return tx.run(FIND_TENANT_KEYS_FOR_UPDATE, [tx.tenantId]);
}

const UPDATE_TENANT_KEY = statement<never>(
  'update_tenant_key',
  'UPDATE tenant_keys SET wrapped = $4 WHERE tenant_id = $1 AND kind = $2 AND version = $3',
);

export async function updateTenantKey(tx: TenantTx, row: TenantKeyRow): Promise<void> {
  await tx.run(UPDATE_TENANT_KEY, [tx.tenantId, row.kind, row.version, row.wrapped]);
}

const INSERT_TENANT_KEY = statement<never>(
  'insert_tenant_key',
  'INSERT INTO tenant_keys (tenant_id, kind, version, wrapped, created_at) VALUES ($1, $2, $3, $4, $5)',
);

export async function insertTenantKey(tx: TenantTx, row: TenantKeyRow, atMs: number): Promise<void> {
  await tx.run(INSERT_TENANT_KEY, [tx.tenantId, row.kind, row.version, row.wrapped, new Date(atMs)]);
}

const DELETE_TENANT_KEYS = statement<never>('delete_tenant_keys', 'DELETE FROM tenant_keys WHERE tenant_id = $1');

export async function deleteTenantKeys(tx: TenantTx): Promise<void> {
  await tx.run(DELETE_TENANT_KEYS, [tx.tenantId]);
}

const DELETE_OLD_ENCRYPTION_KEYS = statement<{ version: number }>(
  'delete_old_encryption_keys',
  `DELETE FROM tenant_keys WHERE tenant_id = $1 AND kind = 'encryption' AND version < $2 RETURNING version`,
);

/** Gives how many versions there were before this one. */
export async function deleteEncryptionKeysBefore(tx: TenantTx, version: number): Promise<number> {
  return (await tx.run(DELETE_OLD_ENCRYPTION_KEYS, [tx.tenantId, version])).length;
}
