import type { Database } from '../../../storage/database.js';
import { deleteDueSessions, listTenantsWithDueSessions } from '../queries.js';

const LOOK_ROWS = 1_000;
const BATCH_ROWS = 500;

/**
 * Removes sessions past their end, a bounded number a call; returns how many went, 0 when none is due. Their keys were
 * refused from that very moment on, so nobody has to be told.
 */
export async function sweepSessions(database: Database, nowMs: number): Promise<number> {
  const tenants = await database.survey((tx) => listTenantsWithDueSessions(tx, nowMs, LOOK_ROWS));
  let removed = 0;
  for (const tenantId of tenants) {
    removed += await database.write(tenantId, (tx) => deleteDueSessions(tx, nowMs, BATCH_ROWS));
  }
  return removed;
}
