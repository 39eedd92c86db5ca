import type { TenantTx } from '../../../storage/scope.js';
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

const DELETE_API_KEY = statement<{ id: string }>(
  'delete_api_key',
  `DELETE FROM api_keys
   WHERE tenant_id = $1 AND application_id = $2 AND id = $3 AND (expires_at IS NULL OR expires_at > $4)
   RETURNING id`,
);

export async function deleteApiKey(tx: TenantTx, applicationId: string, id: string, nowMs: number): Promise<boolean> {
  return (await tx.run(DELETE_API_KEY, [tx.tenantId, applicationId, id, new Date(nowMs)])).length > 0;
}

const DELETE_OTHER_API_KEYS = statement<never>(
  'delete_other_api_keys',
  'DELETE FROM api_keys WHERE tenant_id = $1 AND application_id = $2 AND NOT hash = ANY ($3::bytea[])',
);

/** Removes every key of the Application but these. */
export async function deleteOtherApiKeys(tx: TenantTx, applicationId: string, kept: readonly Buffer[]): Promise<void> {
  await tx.run(DELETE_OTHER_API_KEYS, [tx.tenantId, applicationId, bytesArray(kept)]);
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
