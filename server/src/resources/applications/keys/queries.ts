import type { SystemTx, TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';

export interface ApiKeyRow {
  readonly hash: Buffer;
  readonly id: string;
  readonly mac: Buffer;
  readonly expires_at: Date | null;
  readonly created_by: string | null;
  readonly created_at: Date;
}

const INSERT_API_KEY = statement<never>(
  'insert_api_key',
  `INSERT INTO api_keys (tenant_id, hash, application_id, id, mac, created_by, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);

export async function insertApiKey(
  tx: TenantTx,
  applicationId: string,
  { hash, id, mac, created_by, created_at }: ApiKeyRow,
): Promise<void> {
  await tx.run(INSERT_API_KEY, [tx.tenantId, hash, applicationId, id, mac, created_by, created_at]);
}

const LIST_API_KEYS = statement<ApiKeyRow>(
  'list_api_keys',
  `SELECT hash, id, mac, expires_at, created_by, created_at FROM api_keys
   WHERE tenant_id = $1 AND application_id = $2 AND (expires_at IS NULL OR expires_at > $3)
   ORDER BY created_at DESC, id DESC LIMIT 100`,
);

/** The keys that work, newest first. */
export async function listApiKeys(tx: TenantTx, applicationId: string, nowMs: number): Promise<ApiKeyRow[]> {
  return tx.run(LIST_API_KEYS, [tx.tenantId, applicationId, new Date(nowMs)]);
}

const LIST_DEAD_API_KEYS = statement<ApiKeyRow>(
  'list_dead_api_keys',
  `SELECT hash, id, mac, expires_at, created_by, created_at FROM api_keys
   WHERE tenant_id = $1 AND application_id = $2 AND expires_at <= $3 ORDER BY expires_at, id LIMIT 100`,
);

/** Keys past their end that were not cleared away yet. */
export async function listDeadApiKeys(tx: TenantTx, applicationId: string, nowMs: number): Promise<ApiKeyRow[]> {
  return tx.run(LIST_DEAD_API_KEYS, [tx.tenantId, applicationId, new Date(nowMs)]);
}

const DELETE_API_KEYS = statement<never>(
  'delete_api_keys',
  'DELETE FROM api_keys WHERE tenant_id = $1 AND application_id = $2 AND hash = ANY ($3::bytea[])',
);

export async function deleteApiKeys(tx: TenantTx, applicationId: string, hashes: readonly Buffer[]): Promise<void> {
  await tx.run(DELETE_API_KEYS, [tx.tenantId, applicationId, bytesArray(hashes)]);
}

const DELETE_OTHER_API_KEYS = statement<never>(
  'delete_other_api_keys',
  'DELETE FROM api_keys WHERE tenant_id = $1 AND application_id = $2 AND NOT hash = ANY ($3::bytea[])',
);

/** Removes every key of the Application but these. */
export async function deleteOtherApiKeys(tx: TenantTx, applicationId: string, kept: readonly Buffer[]): Promise<void> {
  await tx.run(DELETE_OTHER_API_KEYS, [tx.tenantId, applicationId, bytesArray(kept)]);
}

const LIST_TENANTS_WITH_DUE_KEYS = statement<{ tenant_id: string }>(
  'list_tenants_with_due_keys',
  `SELECT DISTINCT due.tenant_id FROM (
     SELECT k.tenant_id FROM api_keys k JOIN tenants t ON t.id = k.tenant_id AND t.deleted_at IS NULL
     WHERE k.expires_at <= $1 ORDER BY k.expires_at LIMIT $2) AS due`,
);

export async function listTenantsWithDueKeys(tx: SystemTx, nowMs: number, limit: number): Promise<string[]> {
  return (await tx.run(LIST_TENANTS_WITH_DUE_KEYS, [new Date(nowMs), limit])).map(({ tenant_id }) => tenant_id);
}

const FIND_APPLICATION_WITH_DUE_KEYS = statement<{ application_id: string }>(
  'find_application_with_due_keys',
  `SELECT application_id FROM api_keys WHERE tenant_id = $1 AND expires_at <= $2 ORDER BY expires_at LIMIT 1`,
);

export async function findApplicationWithDueKeys(tx: TenantTx, nowMs: number): Promise<string | undefined> {
  const [found] = await tx.run(FIND_APPLICATION_WITH_DUE_KEYS, [tx.tenantId, new Date(nowMs)]);
  return found?.application_id;
}

const LIMIT_API_KEY = statement<never>(
  'limit_api_key',
  'UPDATE api_keys SET expires_at = $4, mac = $5 WHERE tenant_id = $1 AND application_id = $2 AND hash = $3',
);

/** Gives a key an end. */
export async function limitApiKey(
  tx: TenantTx,
  applicationId: string,
  row: Pick<ApiKeyRow, 'hash' | 'expires_at' | 'mac'>,
): Promise<void> {
  await tx.run(LIMIT_API_KEY, [tx.tenantId, applicationId, row.hash, row.expires_at, row.mac]);
}

/** The driver takes arrays of text alone, so bytes travel in their own notation. */
function bytesArray(values: readonly Buffer[]): string[] {
  return values.map((value) => `\\x${value.toString('hex')}`);
}
