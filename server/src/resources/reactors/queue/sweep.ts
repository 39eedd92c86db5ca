import type { Database } from '../../../storage/database.js';
import { deleteOldRequests, listTenantsWithOldRequests } from './claim-queries.js';

const LOOK_ROWS = 1_000;
/** A request may have megabytes. */
const BATCH_ROWS = 100;

/** Removes requests past their end, a bounded number a call; returns how many went, 0 when none is left. */
export async function sweepReactorRequests(database: Database, nowMs: number): Promise<number> {
  const tenants = await database.survey((tx) => listTenantsWithOldRequests(tx, nowMs, LOOK_ROWS));
  let removed = 0;
  for (const tenantId of tenants) {
    removed += await database.write(tenantId, (tx) => deleteOldRequests(tx, nowMs, BATCH_ROWS));
  }
  return removed;
}
