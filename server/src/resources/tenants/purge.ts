import type { Database } from '../../storage/database.js';
import type { DeletedTenant } from './queries.js';
import { deleteBatch, deleteTenantRow, listDeletedTenants, PURGED_TABLES, tryPurge } from './queries.js';

const BATCH_ROWS = 2_000;
const TENANTS_PER_LOOK = 100;
/** Longer than any request or queued change can live: what was under way during the deletion has landed by then. */
const TOMBSTONE_MS = 600_000;

/**
 * Removes one batch of what deleted tenants left behind; returns how many rows went, 0 when there is nothing to do. Each
 * batch is its own transaction and starts from what is still there, so stopping anywhere loses nothing. The tenant's own
 * row stays as a tombstone for a while, so that rows written late are found as well.
 */
export async function purgeOneBatch(database: Database, nowMs: number): Promise<number> {
  let after: DeletedTenant | undefined;
  for (;;) {
    const from = after;
    const doomed = await database.lookUp((tx) => listDeletedTenants(tx, from, TENANTS_PER_LOOK));
    for (const tenant of doomed) {
      const removed = await purgeBatchOf(database, tenant, nowMs);
      if (removed > 0) return removed;
    }
    after = doomed.at(-1);
    if (doomed.length < TENANTS_PER_LOOK) return 0;
  }
}

function purgeBatchOf(database: Database, tenant: DeletedTenant, nowMs: number): Promise<number> {
  return database.purge(tenant.id, async (tx) => {
    if (!(await tryPurge(tx))) return 0;
    for (const table of PURGED_TABLES) {
      const rows = await deleteBatch(tx, table, BATCH_ROWS);
      if (rows > 0) return rows;
    }
    if (nowMs < tenant.deleted_at.getTime() + TOMBSTONE_MS) return 0;
    await deleteTenantRow(tx);
    return 1;
  });
}
