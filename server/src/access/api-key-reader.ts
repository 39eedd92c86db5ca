import type { KeyObject } from 'node:crypto';
import type { Database } from '../storage/database.js';
import type { Credential, StoredRights } from './credential.js';
import { earliest, hourOf } from './credential.js';
import { heldBy } from './grants.js';
import type { CredentialRow } from './queries.js';
import { findCredentialByHash } from './queries.js';
import { isKeyMacValid } from './row-macs.js';

export interface ApiKeyReaderOptions {
  readonly database: Pick<Database, 'readCredential'>;
  readonly rowMacKey: KeyObject;
  readonly rights: StoredRights;
}

/** Finds the Application behind an API key by the key's hash. Undefined where there is none. */
export type ApiKeyReader = (keyHash: Buffer) => Promise<Credential | undefined>;

export function createApiKeyReader({ database, rowMacKey, rights }: ApiKeyReaderOptions): ApiKeyReader {
  function credentialOf(row: CredentialRow, keyHash: Buffer): Credential {
    const { tenant_id: tenantId, application_id: id, key_expires_at: expiresAt } = row;
    const key = { hash: keyHash, tenantId, applicationId: id, id: row.key_id, expiresAt };
    if (!isKeyMacValid(rowMacKey, key, row.key_mac)) return rights.refuse({ tenantId, applicationId: id });
    const { type, grants } = rights.of(tenantId, row);
    return {
      principal: {
        kind: 'application',
        tenantId,
        applicationId: id,
        applicationType: type,
        keyId: row.key_id,
        actor: { type: 'application', id },
        permissions: heldBy(grants),
        grants: [grants],
      },
      expiresAtMs: earliest(row.application_expires_at, expiresAt),
      usedHour: hourOf(row.key_last_used_at?.getTime() ?? 0),
      usedRound: 0,
    };
  }

  return async (keyHash) => {
    const row = await database.readCredential((tx) => findCredentialByHash(tx, keyHash));
    return row && credentialOf(row, keyHash);
  };
}
