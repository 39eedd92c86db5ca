import { int4Array, int8Array, textArray, uuidArray } from '../../../storage/binary-array.js';
import type { Bulk } from '../../../storage/bulk.js';
import { bulkWrite } from '../../../storage/bulk.js';
import type { SystemTx, TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';

/** How much a counter of a definition grew. Days are counted from 1970-01-01 in UTC. */
export interface FigureGrowth {
  readonly tenantId: string;
  readonly definitionId: string;
  readonly day: number;
  readonly figure: string;
  readonly count: number;
}

export interface FigureTable {
  readonly table: string;
  /** `reactor` */
  readonly one: string;
  /** The table of what is counted, and the column that names it. */
  readonly owners: string;
  readonly owner: string;
  /** What the statement is called that looks for days that are over. */
  readonly oldName: string;
}

/**
 * Only for definitions that are there: one that is deleted at this moment is passed over, and cannot go before this has
 * committed otherwise. In the order of the key, so that two processes never wait for each other in a circle.
 */
export function addFiguresOf(
  { table, one, owners, owner }: FigureTable,
  order: number,
): Bulk<FigureGrowth, never, void> {
  return bulkWrite<FigureGrowth>(
    statement(
      `add_${one}_figures`,
      `WITH given AS (
         SELECT tenant_id, ${owner}, DATE '1970-01-01' + day AS day, figure, sum(count)::bigint AS count
         FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::bigint[])
           AS each (tenant_id, ${owner}, day, figure, count)
         GROUP BY tenant_id, ${owner}, day, figure),
       there AS (
         SELECT found.tenant_id, found.id
         FROM (SELECT DISTINCT tenant_id, ${owner} FROM given) AS named
         CROSS JOIN LATERAL (
           SELECT r.tenant_id, r.id FROM ${owners} r WHERE r.tenant_id = named.tenant_id AND r.id = named.${owner}
           FOR KEY SHARE SKIP LOCKED) AS found)
       INSERT INTO ${table} (tenant_id, ${owner}, day, figure, count)
       SELECT given.tenant_id, given.${owner}, given.day, given.figure, given.count
       FROM given JOIN there ON there.tenant_id = given.tenant_id AND there.id = given.${owner}
       ORDER BY given.tenant_id, given.${owner}, given.day, given.figure
       ON CONFLICT (tenant_id, ${owner}, day, figure) DO UPDATE SET count = ${table}.count + EXCLUDED.count`,
      `INSERT INTO ${table} (tenant_id, ${owner}, day, figure, count)
       SELECT there.tenant_id, given.${owner}, DATE '1970-01-01' + given.day, given.figure, sum(given.count)::bigint
       FROM (SELECT r.tenant_id, r.id FROM ${owners} r WHERE r.tenant_id = $1 AND r.id = ANY ($2::uuid[])
             FOR KEY SHARE SKIP LOCKED) AS there
       JOIN unnest($2::uuid[], $3::int[], $4::text[], $5::bigint[]) AS given (${owner}, day, figure, count)
         ON given.${owner} = there.id
       GROUP BY there.tenant_id, given.${owner}, given.day, given.figure
       ORDER BY given.${owner}, given.day, given.figure
       ON CONFLICT (tenant_id, ${owner}, day, figure) DO UPDATE SET count = ${table}.count + EXCLUDED.count`,
    ),
    order,
    (rows) => [
      uuidArray(rows.map(({ tenantId }) => tenantId)),
      uuidArray(rows.map(({ definitionId }) => definitionId)),
      int4Array(rows.map(({ day }) => day)),
      textArray(rows.map(({ figure }) => figure)),
      int8Array(rows.map(({ count }) => count)),
    ],
  );
}

export interface FigureRow {
  readonly day: number;
  readonly figure: string;
  readonly count: string;
}

export type FigureQueries = ReturnType<typeof createFigureQueries>;

export function createFigureQueries({ table, one, owner, oldName }: FigureTable, add: Bulk<FigureGrowth, never, void>) {
  const LIST = statement<FigureRow>(
    `list_${one}_figures`,
    `SELECT (day - DATE '1970-01-01')::int AS day, figure, count FROM ${table}
     WHERE tenant_id = $1 AND ${owner} = $2 AND day >= DATE '1970-01-01' + $3::int
     ORDER BY day, figure LIMIT 10000`,
  );
  const LIST_TENANTS_WITH_OLD = statement<{ tenant_id: string }>(
    oldName,
    `SELECT DISTINCT due.tenant_id FROM (
       SELECT f.tenant_id FROM ${table} f JOIN tenants t ON t.id = f.tenant_id AND t.deleted_at IS NULL
       WHERE f.day < DATE '1970-01-01' + $1::int ORDER BY f.day LIMIT $2) AS due`,
  );
  const DELETE_OLD = statement<{ figure: string }>(
    `delete_old_${one}_figures`,
    `DELETE FROM ${table} AS f USING (
       SELECT ${owner}, day, figure FROM ${table}
       WHERE tenant_id = $1 AND day < DATE '1970-01-01' + $2::int ORDER BY day LIMIT $3) AS old
     WHERE f.tenant_id = $1 AND f.${owner} = old.${owner} AND f.day = old.day AND f.figure = old.figure
     RETURNING f.figure`,
  );
  return {
    add: async (tx: TenantTx, growth: readonly FigureGrowth[]): Promise<void> => {
      await tx.gather(add, growth);
    },
    /** From a day on. A day has a fixed number of counters. */
    list: async (tx: TenantTx, definitionId: string, fromDay: number): Promise<FigureRow[]> =>
      tx.run(LIST, [tx.tenantId, definitionId, fromDay]),
    listTenantsWithOld: async (tx: SystemTx, fromDay: number, limit: number): Promise<string[]> =>
      (await tx.run(LIST_TENANTS_WITH_OLD, [fromDay, limit])).map(({ tenant_id }) => tenant_id),
    deleteOld: async (tx: TenantTx, fromDay: number, limit: number): Promise<number> =>
      (await tx.run(DELETE_OLD, [tx.tenantId, fromDay, limit])).length,
  };
}
