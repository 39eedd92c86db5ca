import { addToDirectory, removeFromDirectory } from '../../../access/directory-queries.js';
import { timestampArray, uuidArray } from '../../../storage/binary-array.js';
import { bulkWrite } from '../../../storage/bulk.js';
import { givenStatement } from '../../../storage/given.js';
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

/** As it is listed. */
export interface ListedApiKeyRow extends ApiKeyRow {
  readonly last_used_at: Date | null;
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
  await Promise.all([
    tx.run(INSERT_API_KEY, [tx.tenantId, hash, applicationId, id, mac, created_by, created_at]),
    addToDirectory(tx, hash),
  ]);
}

const LIST_API_KEYS = statement<ListedApiKeyRow>(
  'list_api_keys',
  `SELECT hash, id, mac, expires_at, created_by, created_at, last_used_at FROM api_keys
   WHERE tenant_id = $1 AND application_id = $2 AND (expires_at IS NULL OR expires_at > $3)
   ORDER BY created_at DESC, id DESC LIMIT 100`,
);

/** The keys that work, newest first. */
export async function listApiKeys(tx: TenantTx, applicationId: string, nowMs: number): Promise<ListedApiKeyRow[]> {
  return tx.run(LIST_API_KEYS, [tx.tenantId, applicationId, new Date(nowMs)]);
}

/** What the keys of an Application come to. */
export interface KeyTimesRow {
  readonly application_id: string;
  readonly key_count: number;
  readonly last_used_at: Date | null;
  readonly next_end_at: Date | null;
}

const LIST_KEY_TIMES = statement<KeyTimesRow>(
  'list_key_times',
  `SELECT application_id, (count(*) FILTER (WHERE expires_at IS NULL OR expires_at > $3))::int AS key_count,
     max(last_used_at) AS last_used_at, min(expires_at) FILTER (WHERE expires_at > $3) AS next_end_at
   FROM api_keys WHERE tenant_id = $1 AND application_id = ANY ($2::uuid[]) GROUP BY application_id`,
);

/** Of the Applications of a page at once. A key that has just ended was used all the same. */
export async function listKeyTimes(tx: TenantTx, ids: readonly string[], nowMs: number): Promise<KeyTimesRow[]> {
  return tx.run(LIST_KEY_TIMES, [tx.tenantId, ids, new Date(nowMs)]);
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
  await Promise.all([
    tx.run(DELETE_API_KEYS, [tx.tenantId, applicationId, bytesArray(hashes)]),
    removeFromDirectory(tx, hashes),
  ]);
}

const DELETE_OTHER_API_KEYS = statement<{ hash: Buffer }>(
  'delete_other_api_keys',
  'DELETE FROM api_keys WHERE tenant_id = $1 AND application_id = $2 AND NOT hash = ANY ($3::bytea[]) RETURNING hash',
);

/** Removes every key of the Application but these. */
export async function deleteOtherApiKeys(tx: TenantTx, applicationId: string, kept: readonly Buffer[]): Promise<void> {
  const gone = await tx.run(DELETE_OTHER_API_KEYS, [tx.tenantId, applicationId, bytesArray(kept)]);
  await removeFromDirectory(
    tx,
    gone.map(({ hash }) => hash),
  );
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

/** The hour a key was last used in, as far as one process knows. */
export interface KeyUse {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly keyId: string;
  readonly usedAtMs: number;
}

/**
 * Writes only what is newer than what stands there, so that several processes write once. Waits for nobody: a key that is
 * being changed at this moment is left alone, and since that change makes every process forget it, its next use is written.
 */
const TOUCH_API_KEYS = bulkWrite<KeyUse>(
  givenStatement(
    'touch_api_keys',
    ({ rows, tenant, isOf }) =>
      `WITH used AS (
         SELECT found.tenant_id, found.hash, given.used_at
         FROM ${rows('tenant_id uuid', 'application_id uuid', 'id uuid', 'used_at timestamptz')}
         CROSS JOIN LATERAL (
           SELECT k.tenant_id, k.hash FROM api_keys k
           WHERE k.tenant_id = ${tenant} AND k.application_id = given.application_id AND k.id = given.id
             AND (k.last_used_at IS NULL OR k.last_used_at < given.used_at)
           ORDER BY k.created_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) AS found)
       UPDATE api_keys AS k SET last_used_at = used.used_at FROM used
       WHERE ${isOf('k', 'used')} AND k.hash = used.hash`,
  ),
  95,
  (uses) => [
    uuidArray(uses.map(({ tenantId }) => tenantId)),
    uuidArray(uses.map(({ applicationId }) => applicationId)),
    uuidArray(uses.map(({ keyId }) => keyId)),
    timestampArray(uses.map(({ usedAtMs }) => usedAtMs)),
  ],
);

export async function touchApiKeys(tx: TenantTx, uses: readonly KeyUse[]): Promise<void> {
  await tx.gather(TOUCH_API_KEYS, uses);
}

/** The driver takes arrays of text alone, so bytes travel in their own notation. */
function bytesArray(values: readonly Buffer[]): string[] {
  return values.map((value) => `\\x${value.toString('hex')}`);
}

export interface ApiKeyMacRow {
  readonly hash: Buffer;
  readonly application_id: string;
  readonly id: string;
  readonly expires_at: Date | null;
  readonly mac: Buffer;
}

const LIST_API_KEY_MACS = statement<ApiKeyMacRow>(
  'list_api_key_macs',
  `SELECT hash, application_id, id, expires_at, mac FROM api_keys
   WHERE tenant_id = $1 AND hash > decode($2, 'hex') ORDER BY hash LIMIT $3`,
);

export async function listApiKeyMacs(tx: TenantTx, afterHex: string, limit: number): Promise<ApiKeyMacRow[]> {
  return tx.run(LIST_API_KEY_MACS, [tx.tenantId, afterHex, limit]);
}
