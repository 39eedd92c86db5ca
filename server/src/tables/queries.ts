import type { PurgeTx } from '../storage/scope.js';
import type { Statement } from '../storage/statement.js';
import { statement } from '../storage/statement.js';

export type PurgeStatement = Statement<{ removed: number }>;

/** Takes away some rows of a deleted tenant. */
export function purgeStatement(table: string): PurgeStatement {
  // A partitioned table's rows are told apart by table and place. Each part is asked for the places alone: a join would be
  // planned anew by what the server believes about the table, and read all of the tenant's rows for every batch.
  return statement<{ removed: number }>(
    `purge_${table}`,
    `WITH doomed AS MATERIALIZED (SELECT tableoid AS part, ctid AS place FROM ${table} WHERE tenant_id = $1 LIMIT $2),
          removed AS (DELETE FROM ${table} AS t
                      WHERE t.tenant_id = $1 AND t.tableoid = (SELECT part FROM doomed LIMIT 1)
                        AND t.ctid = ANY (ARRAY(SELECT place FROM doomed WHERE part = (SELECT part FROM doomed LIMIT 1)))
                      RETURNING 1)
     SELECT count(*)::int AS removed FROM removed`,
  );
}

/** At most `limit` rows of the tenant; returns how many went. */
export async function purgeBatch(tx: PurgeTx, purge: PurgeStatement, limit: number): Promise<number> {
  return (await tx.run(purge, [tx.tenantId, limit]))[0]?.removed ?? 0;
}
