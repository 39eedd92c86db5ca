import type { SystemTx, TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';
import type { BareRow } from '../stored/row.js';
import { BARE_COLUMNS } from '../stored/row.js';

/** What is over: the whole token, or only a card's verification code. */
export type Due = 'expires_at' | 'cvc_expires_at';

const TENANTS_WITH_DUE = {
  expires_at: tenantsWithDue('expires_at'),
  cvc_expires_at: tenantsWithDue('cvc_expires_at'),
};

function tenantsWithDue(column: Due) {
  return statement<{ tenant_id: string }>(
    `find_tenants_by_${column}`,
    `SELECT DISTINCT due.tenant_id
     FROM (SELECT t.tenant_id FROM tokens AS t JOIN tenants AS n ON n.id = t.tenant_id AND n.deleted_at IS NULL
           WHERE t.${column} <= $1 ORDER BY t.${column} LIMIT $2) AS due`,
  );
}

/** Tenants that have something due, as far as the first rows tell. */
export async function findTenantsWithDue(tx: SystemTx, due: Due, nowMs: number, limit: number): Promise<string[]> {
  const rows = await tx.run(TENANTS_WITH_DUE[due], [new Date(nowMs), limit]);
  return rows.map((row) => row.tenant_id);
}

/** A token with the containers of its group: enough to take it away without opening it. */
export type GroupedRow = BareRow & { readonly containers: string[] | null };

const GROUPED_COLUMNS = `${BARE_COLUMNS}, (SELECT g.containers FROM token_groups AS g
                               WHERE g.tenant_id = $1 AND g.group_id = t.group_id LIMIT 1) AS containers`;

const LOCK_DUE = { expires_at: lockDue('expires_at'), cvc_expires_at: lockDue('cvc_expires_at') };

function lockDue(column: Due) {
  return statement<GroupedRow>(
    `lock_tokens_by_${column}`,
    `SELECT ${GROUPED_COLUMNS}
     FROM tokens AS t WHERE t.tenant_id = $1 AND t.${column} <= $2
     ORDER BY t.${column}, t.id LIMIT $3 FOR UPDATE OF t SKIP LOCKED`,
  );
}

/** Due tokens of one tenant, with their containers, kept from others until the transaction ends. */
export async function lockDueTokens(tx: TenantTx, due: Due, nowMs: number, limit: number): Promise<GroupedRow[]> {
  return tx.run(LOCK_DUE[due], [tx.tenantId, new Date(nowMs), limit]);
}

const LOCK_EXPIRED = statement<GroupedRow>(
  'lock_expired_tokens',
  `SELECT ${GROUPED_COLUMNS} FROM tokens AS t
   WHERE t.tenant_id = $1 AND t.id = ANY ($2::text[]) AND t.expires_at <= $3 ORDER BY t.id FOR UPDATE OF t`,
);

/** Those of the given tokens whose time is over, kept from others until the transaction ends. */
export async function lockExpiredTokens(tx: TenantTx, ids: readonly string[], nowMs: number): Promise<GroupedRow[]> {
  return tx.run(LOCK_EXPIRED, [tx.tenantId, ids, new Date(nowMs)]);
}
