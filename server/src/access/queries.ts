import type { SystemTx, TenantTx } from '../storage/scope.js';
import { distributedStatement, plainStatement, statement } from '../storage/statement.js';
import { findInDirectory } from './directory-queries.js';

/** What of an application row its rights are read from. */
export interface ApplicationRights {
  readonly application_id: string;
  readonly type: string;
  readonly permissions: string[];
  readonly rules: string;
  readonly mac: Buffer;
  readonly application_expires_at: Date | null;
}

export interface CredentialRow extends ApplicationRights {
  readonly tenant_id: string;
  readonly key_id: string;
  readonly key_mac: Buffer;
  readonly key_expires_at: Date | null;
  readonly key_last_used_at: Date | null;
}

/**
 * A range of one hash with an order, so that only the index on hashes fits: without statistics the server might scan by
 * tenant.
 */
const FIND_CREDENTIAL_BY_HASH = plainStatement<CredentialRow>(
  'find_credential_by_hash',
  credentialSql('hash >= $1 AND hash <= $1', 'k.tenant_id'),
);

/** The same where the directory has told whose it is. */
const FIND_CREDENTIAL_OF_TENANT = distributedStatement<CredentialRow>(
  'find_credential_of_tenant',
  credentialSql('tenant_id = $2 AND hash >= $1 AND hash <= $1', '$2'),
);

function credentialSql(isIt: string, tenant: string): string {
  return `SELECT a.tenant_id, a.id AS application_id, a.type, a.permissions, a.rules, a.mac,
          a.expires_at AS application_expires_at, k.id AS key_id, k.mac AS key_mac, k.expires_at AS key_expires_at,
          k.last_used_at AS key_last_used_at
   FROM (SELECT tenant_id, application_id, id, mac, expires_at, last_used_at FROM api_keys
         WHERE ${isIt} ORDER BY hash LIMIT 1) AS k
   JOIN applications a ON a.tenant_id = ${tenant} AND a.id = k.application_id
   JOIN tenants t ON t.id = ${tenant} AND t.deleted_at IS NULL`;
}

export async function findCredentialByHash(tx: SystemTx, hash: Buffer): Promise<CredentialRow | undefined> {
  const tenantId = await findInDirectory(tx, hash);
  const [found] = await (tenantId === undefined
    ? tx.run(FIND_CREDENTIAL_BY_HASH, [hash])
    : tx.run(FIND_CREDENTIAL_OF_TENANT, [hash, tenantId]));
  return found;
}

/**
 * A session together with one of the applications it depends on: its creator, and the one that authorized it. Each row
 * has the key it was authorized with; its columns are null when that key is gone, or the session does not name one.
 */
export interface SessionCredentialRow extends ApplicationRights {
  readonly tenant_id: string;
  readonly session_id: string;
  readonly nonce_hash: Buffer;
  readonly created_by: string;
  readonly authorized_by: string | null;
  readonly authorized_key: string | null;
  readonly session_permissions: string[];
  readonly session_rules: string;
  readonly session_mac: Buffer;
  readonly session_expires_at: Date;
  readonly key_hash: Buffer | null;
  readonly key_mac: Buffer | null;
  readonly key_expires_at: Date | null;
}

const SESSION_COLUMNS = `s.tenant_id, s.id AS session_id, s.nonce_hash, s.created_by, s.authorized_by, s.authorized_key,
          s.permissions AS session_permissions, s.rules AS session_rules, s.mac AS session_mac,
          s.expires_at AS session_expires_at, a.id AS application_id, a.type, a.permissions, a.rules, a.mac,
          a.expires_at AS application_expires_at, k.hash AS key_hash, k.mac AS key_mac, k.expires_at AS key_expires_at`;

const FIND_SESSION_BY_HASH = plainStatement<SessionCredentialRow>(
  'find_session_by_hash',
  sessionSql('hash >= $1 AND hash <= $1', 's.tenant_id'),
);

const FIND_SESSION_OF_TENANT = distributedStatement<SessionCredentialRow>(
  'find_session_of_tenant',
  sessionSql('tenant_id = $2 AND hash >= $1 AND hash <= $1', '$2'),
);

function sessionSql(isIt: string, tenant: string): string {
  return `SELECT ${SESSION_COLUMNS}
   FROM (SELECT tenant_id, id, nonce_hash, created_by, authorized_by, authorized_key, permissions, rules, mac, expires_at
         FROM sessions WHERE ${isIt} ORDER BY hash LIMIT 1) AS s
   JOIN applications a ON a.tenant_id = ${tenant} AND a.id IN (s.created_by, s.authorized_by)
   LEFT JOIN api_keys k ON k.tenant_id = ${tenant} AND k.application_id = s.authorized_by AND k.id = s.authorized_key
   JOIN tenants t ON t.id = ${tenant} AND t.deleted_at IS NULL
   LIMIT 10`;
}

/** One row for each application the session depends on. */
export async function findSessionByHash(tx: SystemTx, hash: Buffer): Promise<SessionCredentialRow[]> {
  const tenantId = await findInDirectory(tx, hash);
  return tenantId === undefined
    ? tx.run(FIND_SESSION_BY_HASH, [hash])
    : tx.run(FIND_SESSION_OF_TENANT, [hash, tenantId]);
}

const FIND_SESSION_BY_ID = statement<SessionCredentialRow & { readonly session_hash: Buffer }>(
  'find_session_by_id',
  `SELECT ${SESSION_COLUMNS}, s.hash AS session_hash
   FROM sessions s
   JOIN applications a ON a.tenant_id = $1 AND a.id IN (s.created_by, s.authorized_by)
   LEFT JOIN api_keys k ON k.tenant_id = $1 AND k.application_id = s.authorized_by AND k.id = s.authorized_key
   WHERE s.tenant_id = $1 AND s.id = $2
   LIMIT 10`,
);

/** The same rows, with the hash of the session's key. */
export async function findSessionById(
  tx: TenantTx,
  id: string,
): Promise<(SessionCredentialRow & { readonly session_hash: Buffer })[]> {
  return tx.run(FIND_SESSION_BY_ID, [tx.tenantId, id]);
}

const FIND_RIGHTS_OF_APPLICATION = statement<ApplicationRights>(
  'find_rights_of_application',
  `SELECT id AS application_id, type, permissions, rules, mac, expires_at AS application_expires_at
   FROM applications WHERE tenant_id = $1 AND id = $2`,
);

export async function findRightsOfApplication(tx: TenantTx, id: string): Promise<ApplicationRights | undefined> {
  const [found] = await tx.run(FIND_RIGHTS_OF_APPLICATION, [tx.tenantId, id]);
  return found;
}
