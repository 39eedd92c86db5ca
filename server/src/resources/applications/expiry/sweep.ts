import { operatorAct } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import { announce } from '../../../storage/changes.js';
import type { Database } from '../../../storage/database.js';
import { deleteDueApplications, listTenantsWithDueApplications } from '../queries.js';

const LOOK_ROWS = 1_000;
const BATCH_ROWS = 100;

/**
 * Removes Applications past their end, a bounded number a call; returns how many went, 0 when none is due. Their keys
 * were refused from that very moment on: this only clears away, and writes the entry.
 */
export async function sweepApplications(database: Database, nowMs: number): Promise<number> {
  const tenants = await database.lookUp((tx) => listTenantsWithDueApplications(tx, nowMs, LOOK_ROWS));
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
    const ids = await deleteDueApplications(tx, nowMs, limit);
    if (ids.length === 0) return 0;
    const act = operatorAct(nowMs);
    await Promise.all([
      ...ids.map((id) => record(tx, act, { event: 'application_expired', entityId: id, outcome: 'success' })),
      announce(tx, { kind: 'access', tenantId }),
    ]);
    return ids.length;
  });
}
