import { operatorContext } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import { announce } from '../../../storage/changes.js';
import type { Database } from '../../../storage/database.js';
import type { TenantTx } from '../../../storage/scope.js';
import { APPLICATION_EVENTS } from '../events.js';
import { endSessionsOfApplication, endSessionsOfKeys, SESSIONS_ENDED_MAX } from '../keys/end.js';
import { deleteApiKeys, findApplicationWithDueKeys, listDeadApiKeys, listTenantsWithDueKeys } from '../keys/queries.js';
import { deleteApplications, listDueApplications, listTenantsWithDueApplications } from '../queries.js';

const LOOK_ROWS = 1_000;
const BATCH_ROWS = 100;

/** Applications and keys in one job: each job at work holds a connection of its own for its lock. */
export async function sweepAccess(database: Database, nowMs: number): Promise<number> {
  return (await sweepApplications(database, nowMs)) + (await sweepEndedKeys(database, nowMs));
}

/**
 * Removes Applications past their end, a bounded number a call; returns how many went, 0 when none is due. Their keys
 * were refused from that very moment on: this only clears away, and writes the entry.
 */
export async function sweepApplications(database: Database, nowMs: number): Promise<number> {
  const tenants = await database.survey((tx) => listTenantsWithDueApplications(tx, nowMs, LOOK_ROWS));
  let removed = 0;
  for (const tenantId of tenants) removed += await expireApplications(database, tenantId, nowMs, BATCH_ROWS);
  return removed;
}

export async function expireApplications(
  database: Database,
  tenantId: string,
  nowMs: number,
  limit: number,
): Promise<number> {
  return database.write(tenantId, async (tx) => {
    const auditContext = operatorContext(nowMs);
    const due = await listDueApplications(tx, nowMs, limit);
    let sessions = 0;
    const ids: string[] = [];
    for (const id of due) {
      const { count, isAll } = await endSessionsOfApplication(tx, auditContext, id);
      sessions += count;
      if (isAll) ids.push(id);
      if (sessions >= SESSIONS_ENDED_MAX) break;
    }
    if (ids.length === 0) return sessions;
    await deleteApplications(tx, ids);
    await Promise.all([
      ...ids.map((id) =>
        record(tx, auditContext, { event: APPLICATION_EVENTS.expired, entityId: id, outcome: 'success' }),
      ),
      announce(tx, { kind: 'access', tenantId }),
    ]);
    return ids.length;
  });
}

/**
 * Ends the sessions of keys whose overlap is over, or that had more of them than a request could end, and then removes the
 * keys, a bounded number a call. Keys and sessions were refused from that very moment on.
 */
export async function sweepEndedKeys(database: Database, nowMs: number): Promise<number> {
  const tenants = await database.survey((tx) => listTenantsWithDueKeys(tx, nowMs, LOOK_ROWS));
  let removed = 0;
  for (const tenantId of tenants) {
    removed += await database.write(tenantId, (tx) => clearEndedKeys(tx, nowMs));
  }
  return removed;
}

async function clearEndedKeys(tx: TenantTx, nowMs: number): Promise<number> {
  const applicationId = await findApplicationWithDueKeys(tx, nowMs);
  if (applicationId === undefined) return 0;
  const keys = await listDeadApiKeys(tx, applicationId, nowMs);
  const { count, isAll } = await endSessionsOfKeys(tx, operatorContext(nowMs), applicationId, keys);
  if (!isAll) return count;
  await deleteApiKeys(
    tx,
    applicationId,
    keys.map(({ hash }) => hash),
  );
  return count + keys.length;
}
