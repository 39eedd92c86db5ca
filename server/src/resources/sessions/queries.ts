import { addToDirectory, removeFromDirectory } from '../../access/directory-queries.js';
import type { SystemTx, TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

export interface StoredSession {
  readonly id: string;
  readonly hash: Buffer;
  readonly nonce_hash: Buffer;
  readonly created_by: string;
  readonly authorized_by: string | null;
  readonly authorized_key: string | null;
  readonly permissions: readonly string[];
  readonly rules: string;
  readonly mac: Buffer;
  readonly expires_at: Date;
}

const INSERT_SESSION = statement<never>(
  'insert_session',
  `INSERT INTO sessions (tenant_id, id, hash, nonce_hash, created_by, permissions, rules, mac, expires_at, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

export async function insertSession(tx: TenantTx, row: StoredSession, atMs: number): Promise<void> {
  const { id, hash, nonce_hash, created_by, permissions, rules, mac, expires_at } = row;
  const rights = [permissions, rules, mac, expires_at, new Date(atMs)];
  await Promise.all([
    tx.run(INSERT_SESSION, [tx.tenantId, id, hash, nonce_hash, created_by, ...rights]),
    addToDirectory(tx, hash),
  ]);
}

const FIND_SESSION_BY_NONCE = statement<StoredSession>(
  'find_session_by_nonce',
  `SELECT id, hash, nonce_hash, created_by, authorized_by, authorized_key, permissions, rules, mac, expires_at
   FROM sessions WHERE tenant_id = $1 AND nonce_hash = $2 AND expires_at > $3 LIMIT 1`,
);

export async function findSessionByNonce(
  tx: TenantTx,
  nonceHash: Buffer,
  nowMs: number,
): Promise<StoredSession | undefined> {
  const [found] = await tx.run(FIND_SESSION_BY_NONCE, [tx.tenantId, nonceHash, new Date(nowMs)]);
  return found;
}

const AUTHORIZE_SESSION = statement<{ id: string }>(
  'authorize_session',
  `UPDATE sessions SET authorized_by = $3, permissions = $4, rules = $5, mac = $6, expires_at = $7, authorized_key = $8
   WHERE tenant_id = $1 AND id = $2 AND authorized_by IS NULL RETURNING id`,
);

/** Gives it its rights; false when somebody was faster. */
export async function authorizeSession(tx: TenantTx, row: StoredSession): Promise<boolean> {
  const { id, authorized_by, authorized_key, permissions, rules, mac, expires_at } = row;
  const values = [tx.tenantId, id, authorized_by, permissions, rules, mac, expires_at, authorized_key];
  return (await tx.run(AUTHORIZE_SESSION, values)).length > 0;
}

const DELETE_SESSION = statement<{ authorized_by: string | null; hash: Buffer }>(
  'delete_session',
  `DELETE FROM sessions WHERE tenant_id = $1 AND id = $2 AND (created_by = $3 OR authorized_by = $3) AND expires_at > $4
   RETURNING authorized_by, hash`,
);

/** Ends a session that this Application created or authorized; undefined when there is none that lives. */
export async function deleteSession(
  tx: TenantTx,
  id: string,
  applicationId: string,
  nowMs: number,
): Promise<{ readonly authorized_by: string | null } | undefined> {
  const [found] = await tx.run(DELETE_SESSION, [tx.tenantId, id, applicationId, new Date(nowMs)]);
  if (found) await removeFromDirectory(tx, [found.hash]);
  return found;
}

const LIST_TENANTS_WITH_DUE_SESSIONS = statement<{ tenant_id: string }>(
  'list_tenants_with_due_sessions',
  `SELECT DISTINCT due.tenant_id FROM (
     SELECT s.tenant_id FROM sessions s JOIN tenants t ON t.id = s.tenant_id AND t.deleted_at IS NULL
     WHERE s.expires_at <= $1 ORDER BY s.expires_at LIMIT $2) AS due`,
);

export async function listTenantsWithDueSessions(tx: SystemTx, nowMs: number, limit: number): Promise<string[]> {
  const found = await tx.run(LIST_TENANTS_WITH_DUE_SESSIONS, [new Date(nowMs), limit]);
  return found.map(({ tenant_id }) => tenant_id);
}

const DELETE_DUE_SESSIONS = statement<{ hash: Buffer }>(
  'delete_due_sessions',
  `DELETE FROM sessions WHERE tenant_id = $1 AND id IN (
     SELECT id FROM sessions WHERE tenant_id = $1 AND expires_at <= $2 ORDER BY expires_at, id LIMIT $3)
   RETURNING hash`,
);

export async function deleteDueSessions(tx: TenantTx, nowMs: number, limit: number): Promise<number> {
  const gone = await tx.run(DELETE_DUE_SESSIONS, [tx.tenantId, new Date(nowMs), limit]);
  await removeFromDirectory(
    tx,
    gone.map(({ hash }) => hash),
  );
  return gone.length;
}

const LIST_SESSION_MACS = statement<StoredSession>(
  'list_session_macs',
  `SELECT id, hash, nonce_hash, created_by, authorized_by, authorized_key, permissions, rules, expires_at, mac
   FROM sessions WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);

export async function listSessionMacs(tx: TenantTx, after: string, limit: number): Promise<StoredSession[]> {
  return tx.run(LIST_SESSION_MACS, [tx.tenantId, after, limit]);
}
