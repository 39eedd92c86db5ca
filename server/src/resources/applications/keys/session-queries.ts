import { removeFromDirectory } from '../../../access/directory-queries.js';
import type { TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';

interface GoneSession {
  readonly id: string;
  readonly hash: Buffer;
}

const DELETE_SESSIONS_OF_KEYS = statement<GoneSession>(
  'delete_sessions_of_keys',
  `DELETE FROM sessions WHERE tenant_id = $1 AND id IN (
     SELECT id FROM sessions WHERE tenant_id = $1 AND authorized_by = $2 AND authorized_key = ANY ($3::uuid[])
     ORDER BY authorized_key LIMIT $4)
   RETURNING id, hash`,
);

/** Ends sessions that were authorized with one of these keys. */
export async function deleteSessionsOfKeys(
  tx: TenantTx,
  applicationId: string,
  keyIds: readonly string[],
  limit: number,
): Promise<string[]> {
  return clearAway(tx, await tx.run(DELETE_SESSIONS_OF_KEYS, [tx.tenantId, applicationId, keyIds, limit]));
}

const DELETE_SESSIONS_WITHOUT_KEY = statement<GoneSession>(
  'delete_sessions_without_key',
  `DELETE FROM sessions WHERE tenant_id = $1 AND authorized_by = $2 AND authorized_key IS NULL RETURNING id, hash`,
);

/** Ends sessions from before a session remembered its key. None is older than a day when that began, so there is no limit. */
export async function deleteSessionsWithoutKey(tx: TenantTx, applicationId: string): Promise<string[]> {
  return clearAway(tx, await tx.run(DELETE_SESSIONS_WITHOUT_KEY, [tx.tenantId, applicationId]));
}

const DELETE_SESSIONS_OF_APPLICATION = statement<GoneSession>(
  'delete_sessions_of_application',
  `DELETE FROM sessions WHERE tenant_id = $1 AND id IN (
     SELECT id FROM sessions WHERE tenant_id = $1 AND (created_by = $2 OR authorized_by = $2)
     ORDER BY id LIMIT $3)
   RETURNING id, hash`,
);

/** Ends sessions the Application created or authorized. */
export async function deleteSessionsOfApplication(
  tx: TenantTx,
  applicationId: string,
  limit: number,
): Promise<string[]> {
  return clearAway(tx, await tx.run(DELETE_SESSIONS_OF_APPLICATION, [tx.tenantId, applicationId, limit]));
}

async function clearAway(tx: TenantTx, gone: readonly GoneSession[]): Promise<string[]> {
  await removeFromDirectory(
    tx,
    gone.map(({ hash }) => hash),
  );
  return gone.map(({ id }) => id);
}
