import { LOG_TABLE } from '../../audit/tables.js';
import { monthsBefore } from '../../kernel/dates.js';
import type { Database } from '../../storage/database.js';
import type { PurgeTx } from '../../storage/scope.js';
import { purgeBatch } from '../../tables/queries.js';
import type { TableRecord } from '../../tables/table.js';
import { inPurgeOrder } from '../../tables/table.js';
import type { DeletedTenant } from './queries.js';
import {
  deleteTenantRow,
  deleteTombstone,
  hasLogs,
  listPurgedTenants,
  listTenantsToPurge,
  markTenantPurged,
  tryPurge,
} from './queries.js';

const BATCH_ROWS = 2_000;
const TENANTS_PER_LOOK = 100;
/** Longer than any request or queued change can live: what was under way during the deletion has landed by then. */
const TOMBSTONE_MS = 600_000;
/** How long the log of a deleted tenant is kept, unless the retention of the log as a whole is shorter. */
export const LOGS_KEPT_MONTHS = 13;

/**
 * Removes one batch of what deleted tenants left behind; returns how many rows went, 0 when there is nothing to do. Each
 * batch is its own transaction and starts from what is still there, so stopping anywhere loses nothing. The log goes months
 * later than the rest. A tenant that has nothing else left is marked, so that a look does not cost more with every one.
 */
export async function purgeOneBatch(
  database: Database,
  tables: readonly TableRecord[],
  nowMs: number,
): Promise<number> {
  return (await purgeData(database, inPurgeOrder(tables), nowMs)) || (await eraseDueLogs(database, nowMs));
}

/** The tenant's own row stays as a tombstone for a while, so that rows written late are found as well. */
async function purgeData(database: Database, tables: readonly TableRecord[], nowMs: number): Promise<number> {
  let after: DeletedTenant | undefined;
  for (;;) {
    const from = after;
    const doomed = await database.survey((tx) => listTenantsToPurge(tx, from, TENANTS_PER_LOOK));
    for (const tenant of doomed) {
      const removed = await alone(database, tenant.id, (tx) => purgeBatchOf(tx, tables, tenant, nowMs));
      if (removed > 0) return removed;
    }
    after = doomed.at(-1);
    if (doomed.length < TENANTS_PER_LOOK) return 0;
  }
}

async function purgeBatchOf(
  tx: PurgeTx,
  tables: readonly TableRecord[],
  tenant: DeletedTenant,
  nowMs: number,
): Promise<number> {
  for (const { purge } of tables) {
    const rows = await purgeBatch(tx, purge, BATCH_ROWS);
    if (rows > 0) return rows;
  }
  if (nowMs < tenant.deleted_at.getTime() + TOMBSTONE_MS) return 0;
  if (await hasLogs(tx)) {
    await markTenantPurged(tx, nowMs);
    return 0;
  }
  await deleteTenantRow(tx);
  return 1;
}

async function eraseDueLogs(database: Database, nowMs: number): Promise<number> {
  const deletedUntilMs = monthsBefore(nowMs, LOGS_KEPT_MONTHS);
  const due = await database.survey((tx) => listPurgedTenants(tx, deletedUntilMs, undefined, TENANTS_PER_LOOK));
  for (const { id } of due) {
    const removed = await alone(database, id, async (tx) => {
      const rows = await purgeBatch(tx, LOG_TABLE.purge, BATCH_ROWS);
      if (rows > 0) return rows;
      await deleteTombstone(tx);
      return 1;
    });
    if (removed > 0) return removed;
  }
  return 0;
}

/** One batch of the log of a deleted tenant, before its time, because the operator says so. 0 when none is left. */
export function eraseLogsEarly(database: Database, tenantId: string): Promise<number> {
  return database.purge(tenantId, async (tx) => {
    const rows = await purgeBatch(tx, LOG_TABLE.purge, BATCH_ROWS);
    // Where there is more to purge than the log, that comes to an end by itself and takes the row along.
    if (rows === 0) await deleteTombstone(tx);
    return rows;
  });
}

function alone(database: Database, tenantId: string, work: (tx: PurgeTx) => Promise<number>): Promise<number> {
  return database.purge(tenantId, async (tx) => ((await tryPurge(tx)) ? work(tx) : 0));
}
