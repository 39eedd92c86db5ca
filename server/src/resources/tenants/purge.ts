import type { Database } from '../../storage/database.js';
import { deleteBatch, deleteTenantRow, listDeletedTenants, PURGED_TABLES } from './queries.js';

const BATCH_ROWS = 2_000;
const TENANTS_PER_LOOK = 10;

/**
 * Removes one batch of what deleted tenants left behind; returns how many rows went, 0 when there is nothing to do. Each
 * batch is its own transaction and starts from what is still there, so stopping anywhere loses nothing.
 */
export async function purgeOneBatch(database: Database): Promise<number> {
  const doomed = await database.lookUp((tx) => listDeletedTenants(tx, TENANTS_PER_LOOK));
  for (const tenantId of doomed) {
    const removed = await database.purge(tenantId, async (tx) => {
      for (const table of PURGED_TABLES) {
        const rows = await deleteBatch(tx, table, BATCH_ROWS);
        if (rows > 0) return rows;
      }
      await deleteTenantRow(tx);
      return 1;
    });
    if (removed > 0) return removed;
  }
  return 0;
}
