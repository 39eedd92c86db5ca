import type { PurgeTx } from '../storage/scope.js';
import type { Statement } from '../storage/statement.js';
import { statement } from '../storage/statement.js';

export type PurgeStatement = Statement<{ removed: number }>;

/**
 * Takes away some rows of a deleted tenant. `key` tells the rows of a tenant apart where Citus keeps the table on the coordinator:
 * it does not plan a deletion there by places.
 */
export function purgeStatement(table: string, key?: string): PurgeStatement {
  // Rows of a partitioned table are identified by `tableoid` and `ctid`. The subquery selects only these: a join would
  // be planned by the server's estimates, and could read all of the tenant's rows for every batch.
  return statement<{ removed: number }>(
    `purge_${table}`,
    `WITH doomed AS MATERIALIZED (SELECT tableoid AS part, ctid AS place FROM ${table} WHERE tenant_id = $1 LIMIT $2),
          removed AS (DELETE FROM ${table} AS t
                      WHERE t.tenant_id = $1 AND t.tableoid = (SELECT part FROM doomed LIMIT 1)
                        AND t.ctid = ANY (ARRAY(SELECT place FROM doomed WHERE part = (SELECT part FROM doomed LIMIT 1)))
                      RETURNING 1)
     SELECT count(*)::int AS removed FROM removed`,
    key &&
      `DELETE FROM ${table} WHERE tenant_id = $1
         AND ${key} IN (SELECT ${key} FROM ${table} WHERE tenant_id = $1 LIMIT $2) RETURNING 1 AS removed`,
  );
}

/** At most `limit` rows of the tenant; returns how many went. */
export async function purgeBatch(tx: PurgeTx, purge: PurgeStatement, limit: number): Promise<number> {
  const rows = await tx.run(purge, [tx.tenantId, limit]);
  return rows.reduce((sum, { removed }) => sum + removed, 0);
}
