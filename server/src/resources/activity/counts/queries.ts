import type { SystemTx, TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';

const LIST_TENANTS_WITH_OLD = statement<{ tenant_id: string }>(
  'list_tenants_with_old_log_counts',
  `SELECT DISTINCT due.tenant_id FROM (
     SELECT c.tenant_id FROM log_counts c JOIN tenants t ON t.id = c.tenant_id AND t.deleted_at IS NULL
     WHERE c.day < DATE '1970-01-01' + $1::int ORDER BY c.day LIMIT $2) AS due`,
);

export async function listTenantsWithOldCounts(tx: SystemTx, fromDay: number, limit: number): Promise<string[]> {
  return (await tx.run(LIST_TENANTS_WITH_OLD, [fromDay, limit])).map(({ tenant_id }) => tenant_id);
}

const DELETE_OLD_COUNTS = statement<{ slot: number }>(
  'delete_old_log_counts',
  `DELETE FROM log_counts AS c USING (
     SELECT day, actor_type, actor_id, entity_type, operation, outcome, slot FROM log_counts
     WHERE tenant_id = $1 AND day < DATE '1970-01-01' + $2::int ORDER BY day LIMIT $3) AS old
   WHERE c.tenant_id = $1 AND c.day = old.day AND c.actor_type = old.actor_type AND c.actor_id = old.actor_id
     AND c.entity_type = old.entity_type AND c.operation = old.operation AND c.outcome = old.outcome AND c.slot = old.slot
   RETURNING c.slot`,
);

export async function deleteOldCounts(tx: TenantTx, fromDay: number, limit: number): Promise<number> {
  return (await tx.run(DELETE_OLD_COUNTS, [tx.tenantId, fromDay, limit])).length;
}
