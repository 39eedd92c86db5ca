import type { SystemTx, TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';

const INSERT_VISIT = statement<{ session_id: string }>(
  'insert_portal_visit',
  `INSERT INTO portal_visits (tenant_id, session_id, expires_at) VALUES ($1, $2, $3)
   ON CONFLICT (tenant_id, session_id) DO NOTHING RETURNING session_id`,
);

/** False where the session has been here before. */
export async function insertVisit(tx: TenantTx, sessionId: string, expiresAtMs: number): Promise<boolean> {
  return (await tx.run(INSERT_VISIT, [tx.tenantId, sessionId, new Date(expiresAtMs)])).length > 0;
}

const UPDATE_SEEN = statement<{ id: string }>(
  'update_member_seen',
  'UPDATE members SET seen_at = $3 WHERE tenant_id = $1 AND id = $2 AND (seen_at IS NULL OR seen_at < $3)',
);

export async function updateSeen(tx: TenantTx, memberId: string, atMs: number): Promise<void> {
  await tx.run(UPDATE_SEEN, [tx.tenantId, memberId, new Date(atMs)]);
}

const LIST_SEEN = statement<{ id: string; seen_at: Date | null }>(
  'list_members_seen',
  'SELECT id, seen_at FROM members WHERE tenant_id = $1 AND id = ANY ($2::uuid[])',
);

/** When each of these members last acted here. */
export async function listSeen(tx: TenantTx, memberIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
  const rows = await tx.run(LIST_SEEN, [tx.tenantId, memberIds]);
  return new Map(rows.flatMap(({ id, seen_at }) => (seen_at === null ? [] : [[id, seen_at] as const])));
}

const LIST_TENANTS_WITH_DUE_VISITS = statement<{ tenant_id: string }>(
  'list_tenants_with_due_visits',
  `SELECT DISTINCT due.tenant_id FROM (
     SELECT v.tenant_id FROM portal_visits v JOIN tenants t ON t.id = v.tenant_id AND t.deleted_at IS NULL
     WHERE v.expires_at <= $1 ORDER BY v.expires_at LIMIT $2) AS due`,
);

export async function listTenantsWithDueVisits(tx: SystemTx, nowMs: number, limit: number): Promise<string[]> {
  const found = await tx.run(LIST_TENANTS_WITH_DUE_VISITS, [new Date(nowMs), limit]);
  return found.map(({ tenant_id }) => tenant_id);
}

const DELETE_DUE_VISITS = statement<{ session_id: string }>(
  'delete_due_visits',
  `DELETE FROM portal_visits WHERE tenant_id = $1 AND session_id IN (
     SELECT session_id FROM portal_visits WHERE tenant_id = $1 AND expires_at <= $2 ORDER BY expires_at LIMIT $3)
   RETURNING session_id`,
);

export async function deleteDueVisits(tx: TenantTx, nowMs: number, limit: number): Promise<number> {
  return (await tx.run(DELETE_DUE_VISITS, [tx.tenantId, new Date(nowMs), limit])).length;
}
