import type { SystemTx } from '../storage/scope.js';
import { statement } from '../storage/statement.js';

export interface CredentialRow {
  readonly tenant_id: string;
  readonly application_id: string;
  readonly type: string;
  readonly permissions: string[];
  readonly mac: Buffer;
  readonly application_expires_at: Date | null;
  readonly key_id: string;
  readonly key_mac: Buffer;
  readonly key_expires_at: Date | null;
}

const FIND_CREDENTIAL_BY_HASH = statement<CredentialRow>(
  'find_credential_by_hash',
  `SELECT a.tenant_id, a.id AS application_id, a.type, a.permissions, a.mac,
          a.expires_at AS application_expires_at, k.id AS key_id, k.mac AS key_mac, k.expires_at AS key_expires_at
   FROM api_keys k
   JOIN applications a ON a.tenant_id = k.tenant_id AND a.id = k.application_id
   JOIN tenants t ON t.id = k.tenant_id AND t.deleted_at IS NULL
   WHERE k.hash = $1`,
);

export async function findCredentialByHash(tx: SystemTx, hash: Buffer): Promise<CredentialRow | undefined> {
  const [found] = await tx.run(FIND_CREDENTIAL_BY_HASH, [hash]);
  return found;
}
