import { dayOfEntry } from '../../../audit/count-queries.js';
import type { Database } from '../../../storage/database.js';
import { deleteOldCounts, listTenantsWithOldCounts } from './queries.js';

/** With today. Pages show no more. */
export const DAYS_KEPT = 400;
const LOOK_ROWS = 1_000;
const BATCH_ROWS = 500;

/** Removes counters of days that are shown no more, a bounded number of rows a call; returns how many went. */
export async function sweepLogCounts(database: Database, nowMs: number): Promise<number> {
  const fromDay = dayOfEntry(nowMs) - DAYS_KEPT + 1;
  const tenants = await database.survey((tx) => listTenantsWithOldCounts(tx, fromDay, LOOK_ROWS));
  let removed = 0;
  for (const tenantId of tenants) {
    removed += await database.write(tenantId, (tx) => deleteOldCounts(tx, fromDay, BATCH_ROWS));
  }
  return removed;
}
