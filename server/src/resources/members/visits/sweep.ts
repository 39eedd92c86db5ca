import type { Database } from '../../../storage/database.js';
import { deleteDueVisits, listTenantsWithDueVisits } from './queries.js';

const TENANTS_MAX = 20;
const ROWS_MAX = 500;

/** Takes away visits of sessions that are over; returns how many. */
export async function sweepVisits(database: Database, nowMs: number): Promise<number> {
  const tenants = await database.survey((tx) => listTenantsWithDueVisits(tx, nowMs, TENANTS_MAX));
  let swept = 0;
  for (const tenantId of tenants) {
    swept += await database.write(tenantId, (tx) => deleteDueVisits(tx, nowMs, ROWS_MAX));
  }
  return swept;
}
