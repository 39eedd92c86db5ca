import type { TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';
import type { LogFilter } from '../../logs/index.js';
import type { DaySpan } from '../queries.js';

const COUNT_BY_DAY = statement<{ day: number; count: string }>(
  'count_logs_by_day',
  `SELECT (day - DATE '1970-01-01')::int AS day, sum(count) AS count FROM log_counts
   WHERE tenant_id = $1 AND day >= DATE '1970-01-01' + $2::int AND day <= DATE '1970-01-01' + $3::int
     AND ($4::text IS NULL OR entity_type = $4) AND ($5::text IS NULL OR operation = $5)
     AND ($6::text IS NULL OR outcome = $6) AND ($7::uuid IS NULL OR actor_id = $7)
   GROUP BY day LIMIT 1000`,
);

type Kinds = Pick<LogFilter, 'entityType' | 'operation' | 'outcome' | 'actorId'>;

/** From the counters: the log is not looked at. */
export async function countByDay(
  tx: TenantTx,
  { entityType, operation, outcome, actorId }: Kinds,
  { firstDay, lastDay }: DaySpan,
): Promise<{ readonly day: number; readonly count: number }[]> {
  const kinds = [entityType ?? null, operation ?? null, outcome ?? null, actorId ?? null];
  const rows = await tx.run(COUNT_BY_DAY, [tx.tenantId, firstDay, lastDay, ...kinds]);
  return rows.map(({ day, count }) => ({ day, count: Number(count) }));
}

const HAS_ACTOR = statement<{ is_there: boolean }>(
  'has_counted_actor',
  `SELECT EXISTS (SELECT FROM log_counts WHERE tenant_id = $1 AND actor_id = $4
     AND day >= DATE '1970-01-01' + $2::int AND day <= DATE '1970-01-01' + $3::int) AS is_there`,
);

export async function hasActor(tx: TenantTx, actorId: string, { firstDay, lastDay }: DaySpan): Promise<boolean> {
  const [row] = await tx.run(HAS_ACTOR, [tx.tenantId, firstDay, lastDay, actorId]);
  return row?.is_there === true;
}
