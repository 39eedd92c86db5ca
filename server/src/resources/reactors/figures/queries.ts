import { int4Array, int8Array, textArray, uuidArray } from '../../../storage/binary-array.js';
import { bulkWrite } from '../../../storage/bulk.js';
import type { SystemTx, TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';

/** How much a counter of a Reactor grew. Days are counted from 1970-01-01 in UTC. */
export interface FigureGrowth {
  readonly tenantId: string;
  readonly reactorId: string;
  readonly day: number;
  readonly figure: string;
  readonly count: number;
}

/**
 * Only for Reactors that are there: one that is deleted at this moment is passed over, and cannot go before this has
 * committed otherwise. In the order of the key, so that two processes never wait for each other in a circle.
 */
const ADD_REACTOR_FIGURES = bulkWrite<FigureGrowth>(
  statement(
    'add_reactor_figures',
    `WITH given AS (
       SELECT tenant_id, reactor_id, DATE '1970-01-01' + day AS day, figure, sum(count)::bigint AS count
       FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::bigint[])
         AS each (tenant_id, reactor_id, day, figure, count)
       GROUP BY tenant_id, reactor_id, day, figure),
     there AS (
       SELECT found.tenant_id, found.id
       FROM (SELECT DISTINCT tenant_id, reactor_id FROM given) AS named
       CROSS JOIN LATERAL (
         SELECT r.tenant_id, r.id FROM reactors r WHERE r.tenant_id = named.tenant_id AND r.id = named.reactor_id
         FOR KEY SHARE SKIP LOCKED) AS found)
     INSERT INTO reactor_figures (tenant_id, reactor_id, day, figure, count)
     SELECT given.tenant_id, given.reactor_id, given.day, given.figure, given.count
     FROM given JOIN there ON there.tenant_id = given.tenant_id AND there.id = given.reactor_id
     ORDER BY given.tenant_id, given.reactor_id, given.day, given.figure
     ON CONFLICT (tenant_id, reactor_id, day, figure) DO UPDATE SET count = reactor_figures.count + EXCLUDED.count`,
  ),
  96,
  (rows) => [
    uuidArray(rows.map(({ tenantId }) => tenantId)),
    uuidArray(rows.map(({ reactorId }) => reactorId)),
    int4Array(rows.map(({ day }) => day)),
    textArray(rows.map(({ figure }) => figure)),
    int8Array(rows.map(({ count }) => count)),
  ],
);

export async function addReactorFigures(tx: TenantTx, growth: readonly FigureGrowth[]): Promise<void> {
  await tx.gather(ADD_REACTOR_FIGURES, growth);
}

export interface FigureRow {
  readonly day: number;
  readonly figure: string;
  readonly count: string;
}

const LIST_REACTOR_FIGURES = statement<FigureRow>(
  'list_reactor_figures',
  `SELECT (day - DATE '1970-01-01')::int AS day, figure, count FROM reactor_figures
   WHERE tenant_id = $1 AND reactor_id = $2 AND day >= DATE '1970-01-01' + $3::int
   ORDER BY day, figure LIMIT 10000`,
);

/** From a day on. A day has a fixed number of counters. */
export async function listReactorFigures(tx: TenantTx, reactorId: string, fromDay: number): Promise<FigureRow[]> {
  return tx.run(LIST_REACTOR_FIGURES, [tx.tenantId, reactorId, fromDay]);
}

const LIST_TENANTS_WITH_OLD_FIGURES = statement<{ tenant_id: string }>(
  'list_tenants_with_old_figures',
  `SELECT DISTINCT due.tenant_id FROM (
     SELECT f.tenant_id FROM reactor_figures f JOIN tenants t ON t.id = f.tenant_id AND t.deleted_at IS NULL
     WHERE f.day < DATE '1970-01-01' + $1::int ORDER BY f.day LIMIT $2) AS due`,
);

export async function listTenantsWithOldFigures(tx: SystemTx, fromDay: number, limit: number): Promise<string[]> {
  return (await tx.run(LIST_TENANTS_WITH_OLD_FIGURES, [fromDay, limit])).map(({ tenant_id }) => tenant_id);
}

const DELETE_OLD_FIGURES = statement<{ figure: string }>(
  'delete_old_reactor_figures',
  `DELETE FROM reactor_figures AS f USING (
     SELECT reactor_id, day, figure FROM reactor_figures
     WHERE tenant_id = $1 AND day < DATE '1970-01-01' + $2::int ORDER BY day LIMIT $3) AS old
   WHERE f.tenant_id = $1 AND f.reactor_id = old.reactor_id AND f.day = old.day AND f.figure = old.figure
   RETURNING f.figure`,
);

export async function deleteOldFigures(tx: TenantTx, fromDay: number, limit: number): Promise<number> {
  return (await tx.run(DELETE_OLD_FIGURES, [tx.tenantId, fromDay, limit])).length;
}
