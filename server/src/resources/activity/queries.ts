import type { TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

/** Days are counted from 1970-01-01 in UTC, and both ends belong to a span. */
export interface DaySpan {
  readonly firstDay: number;
  readonly lastDay: number;
}

const IN_SPAN = `tenant_id = $1 AND day >= DATE '1970-01-01' + $2::int AND day <= DATE '1970-01-01' + $3::int`;

interface KindOfDayRow {
  readonly day: number;
  readonly entity_type: string;
  readonly operation: string;
  readonly is_denied: boolean;
  readonly count: string;
}

const LIST_KINDS_BY_DAY = statement<KindOfDayRow>(
  'list_log_kinds_by_day',
  `SELECT (day - DATE '1970-01-01')::int AS day, entity_type, operation, outcome = 'denied' AS is_denied, sum(count) AS count
   FROM log_counts WHERE ${IN_SPAN} GROUP BY day, entity_type, operation, outcome = 'denied' LIMIT 100000`,
);

export interface KindOfDay {
  readonly day: number;
  readonly entityType: string;
  readonly operation: string;
  readonly isDenied: boolean;
  readonly count: number;
}

/** A few dozen for each day at most, by the catalogue of events. */
export async function listKindsByDay(tx: TenantTx, { firstDay, lastDay }: DaySpan): Promise<KindOfDay[]> {
  const rows = await tx.run(LIST_KINDS_BY_DAY, [tx.tenantId, firstDay, lastDay]);
  return rows.map((row) => ({
    day: row.day,
    entityType: row.entity_type,
    operation: row.operation,
    isDenied: row.is_denied,
    count: Number(row.count),
  }));
}

export interface BusyApplicationRow {
  readonly id: string;
  /** Null where it is gone. */
  readonly name: string | null;
  readonly count: string;
}

const LIST_BUSY_APPLICATIONS = statement<BusyApplicationRow>(
  'list_busy_applications',
  `SELECT busy.id, a.name, busy.count
   FROM (SELECT actor_id AS id, sum(count) AS count FROM log_counts
         WHERE ${IN_SPAN} AND actor_type = 'application' AND outcome <> 'denied'
         GROUP BY actor_id ORDER BY sum(count) DESC, actor_id LIMIT $5) AS busy
   LEFT JOIN applications a ON a.tenant_id = $1 AND a.id = busy.id AND (a.expires_at IS NULL OR a.expires_at > $4)
   ORDER BY busy.count DESC, busy.id`,
);

export async function listBusyApplications(
  tx: TenantTx,
  { firstDay, lastDay }: DaySpan,
  nowMs: number,
  limit: number,
): Promise<BusyApplicationRow[]> {
  return tx.run(LIST_BUSY_APPLICATIONS, [tx.tenantId, firstDay, lastDay, new Date(nowMs), limit]);
}

export interface StepsRow {
  readonly has_application: boolean;
  readonly has_token: boolean;
  readonly has_read: boolean;
  readonly has_narrow: boolean;
  readonly has_company: boolean;
  readonly has_code: boolean;
}

const FIND_STEPS = statement<StepsRow>(
  'find_first_steps',
  `SELECT EXISTS (SELECT FROM applications WHERE tenant_id = $1 AND (expires_at IS NULL OR expires_at > $2)) AS has_application,
     EXISTS (SELECT FROM active_token_counts WHERE tenant_id = $1 AND count > 0) AS has_token,
     EXISTS (SELECT FROM log_counts WHERE tenant_id = $1 AND entity_type = ANY ($3::text[])
       AND operation IN ('read', 'search', 'use') AND outcome = 'success') AS has_read,
     EXISTS (SELECT FROM applications WHERE tenant_id = $1 AND (expires_at IS NULL OR expires_at > $2) AND (rules <> '[]'
       OR cardinality(permissions) < CASE type WHEN 'public' THEN $4::int WHEN 'private' THEN $5::int ELSE $6::int END))
       AS has_narrow,
     ((SELECT count(*) FROM (SELECT FROM members WHERE tenant_id = $1 LIMIT 2) AS two) = 2
       OR EXISTS (SELECT FROM invitations WHERE tenant_id = $1 AND expires_at > $2)) AS has_company,
     (EXISTS (SELECT FROM reactors WHERE tenant_id = $1) OR EXISTS (SELECT FROM proxies WHERE tenant_id = $1)) AS has_code`,
);

export interface StepsAsked {
  readonly nowMs: number;
  readonly tokenTypes: readonly string[];
  /** How many permissions an Application of a type can have. */
  readonly permissionsMax: { readonly public: number; readonly private: number; readonly management: number };
}

/** Tables that grow with tokens or entries are not looked at: their counters tell. */
export async function findSteps(
  tx: TenantTx,
  { nowMs, tokenTypes, permissionsMax: most }: StepsAsked,
): Promise<StepsRow | undefined> {
  const values = [tx.tenantId, new Date(nowMs), tokenTypes, most.public, most.private, most.management];
  return (await tx.run(FIND_STEPS, values))[0];
}
