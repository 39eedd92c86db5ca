import { isKeyMacValid, keyMac } from '../../../access/row-macs.js';
import type { AuditContext } from '../../../audit/entry.js';
import { recordAll } from '../../../audit/record.js';
import type { SystemKeys } from '../../../crypto/system-keys.js';
import type { TenantTx } from '../../../storage/scope.js';
import { SESSION_END_EVENTS } from '../events.js';
import type { ApiKeyRow } from './queries.js';
import { deleteApiKeys, limitApiKey } from './queries.js';
import { deleteSessionsOfApplication, deleteSessionsOfKeys, deleteSessionsWithoutKey } from './session-queries.js';

/** As many sessions end in the transaction of one request; the sweep ends the rest. They are refused from its commit on. */
export const SESSIONS_ENDED_MAX = 1_000;
/** Long past for every process, whatever its clock says. */
const LONG_AGO = new Date(0);

/**
 * Stops keys at once, and ends the sessions they authorized. Keys with more sessions than can be ended here stay, past
 * their end, until the sweep has ended the others; they are what it returns.
 */
export async function endKeys(
  tx: TenantTx,
  systemKeys: SystemKeys,
  auditContext: AuditContext,
  applicationId: string,
  keys: readonly ApiKeyRow[],
): Promise<readonly ApiKeyRow[]> {
  if (keys.length === 0) return [];
  const [genuine, altered] = partition(keys, (row) => isGenuine(systemKeys, tx.tenantId, applicationId, row));
  const { isAll } = await endSessionsOfKeys(tx, auditContext, applicationId, keys);
  // What was altered in the database gets no good seal in passing.
  const gone = isAll ? keys : altered;
  await deleteApiKeys(
    tx,
    applicationId,
    gone.map(({ hash }) => hash),
  );
  if (isAll) return [];
  for (const { hash, id } of genuine) {
    const mac = keyMac(systemKeys.rowMac, { hash, tenantId: tx.tenantId, applicationId, id, expiresAt: LONG_AGO });
    await limitApiKey(tx, applicationId, { hash, expires_at: LONG_AGO, mac });
  }
  return genuine;
}

/** How many sessions were ended, and whether that was all. */
export interface EndedSessions {
  readonly count: number;
  readonly isAll: boolean;
}

export async function endSessionsOfKeys(
  tx: TenantTx,
  auditContext: AuditContext,
  applicationId: string,
  keys: readonly ApiKeyRow[],
): Promise<EndedSessions> {
  const ids = keys.map(({ id }) => id);
  return recordEnded(tx, auditContext, await deleteSessionsOfKeys(tx, applicationId, ids, SESSIONS_ENDED_MAX));
}

export async function endSessionsOfApplication(
  tx: TenantTx,
  auditContext: AuditContext,
  applicationId: string,
): Promise<EndedSessions> {
  return recordEnded(tx, auditContext, await deleteSessionsOfApplication(tx, applicationId, SESSIONS_ENDED_MAX));
}

export async function endSessionsWithoutKey(
  tx: TenantTx,
  auditContext: AuditContext,
  applicationId: string,
): Promise<void> {
  await recordEnded(tx, auditContext, await deleteSessionsWithoutKey(tx, applicationId));
}

async function recordEnded(tx: TenantTx, auditContext: AuditContext, ids: readonly string[]): Promise<EndedSessions> {
  await recordAll(
    tx,
    auditContext,
    ids.map((entityId) => ({ event: SESSION_END_EVENTS.ended, entityId, outcome: 'success' })),
  );
  return { count: ids.length, isAll: ids.length < SESSIONS_ENDED_MAX };
}

function isGenuine({ rowMac }: SystemKeys, tenantId: string, applicationId: string, row: ApiKeyRow): boolean {
  const { hash, id, expires_at: expiresAt, mac } = row;
  return isKeyMacValid(rowMac, { hash, tenantId, applicationId, id, expiresAt }, mac);
}

function partition<T>(values: readonly T[], isSo: (value: T) => boolean): [T[], T[]] {
  return [values.filter(isSo), values.filter((value) => !isSo(value))];
}
