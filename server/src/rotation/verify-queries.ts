import type { TenantTx } from '../storage/scope.js';
import { statement } from '../storage/statement.js';

export interface ApplicationMacRow {
  readonly id: string;
  readonly type: string;
  readonly permissions: string[];
  readonly rules: string;
  readonly expires_at: Date | null;
  readonly mac: Buffer;
}

const LIST_APPLICATION_MACS = statement<ApplicationMacRow>(
  'list_application_macs',
  `SELECT id, type, permissions, rules, expires_at, mac FROM applications
   WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);

export async function listApplicationMacs(tx: TenantTx, after: string, limit: number): Promise<ApplicationMacRow[]> {
  return tx.run(LIST_APPLICATION_MACS, [tx.tenantId, after, limit]);
}

export interface SessionMacRow {
  readonly id: string;
  readonly hash: Buffer;
  readonly nonce_hash: Buffer;
  readonly created_by: string;
  readonly authorized_by: string | null;
  readonly authorized_key: string | null;
  readonly permissions: string[];
  readonly rules: string;
  readonly expires_at: Date;
  readonly mac: Buffer;
}

const LIST_SESSION_MACS = statement<SessionMacRow>(
  'list_session_macs',
  `SELECT id, hash, nonce_hash, created_by, authorized_by, authorized_key, permissions, rules, expires_at, mac
   FROM sessions WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);

export async function listSessionMacs(tx: TenantTx, after: string, limit: number): Promise<SessionMacRow[]> {
  return tx.run(LIST_SESSION_MACS, [tx.tenantId, after, limit]);
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
