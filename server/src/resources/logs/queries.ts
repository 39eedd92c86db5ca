import { ENTITY_TYPE_VALUES } from '../../audit/entity-types.js';
import type { TenantTx } from '../../storage/scope.js';
import type { Statement, Value } from '../../storage/statement.js';
import { statement } from '../../storage/statement.js';

export interface LogRow {
  readonly tenant_id: string;
  readonly created_at: Date;
  readonly id: string;
  readonly actor_type: string | null;
  readonly actor_id: string | null;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly operation: string;
  readonly message: string;
  readonly outcome: 'success' | 'failure' | 'denied';
  readonly source_address: string | null;
  readonly trace_id: string | null;
}

export interface LogFilter {
  readonly entityType: string | undefined;
  readonly entityId: string | undefined;
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  /** Only what comes after this row in the list. */
  readonly after: { readonly atMs: number; readonly id: string } | undefined;
}

const COLUMNS = `tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message, outcome,
  source_address, trace_id`;
const ORDER = 'ORDER BY created_at DESC, id DESC';

/** Conditions in a fixed order with numbered parameters; the letters name the prepared statement. */
interface Conditions {
  readonly letters: string;
  readonly sql: string;
  readonly values: readonly Value[];
}

/**
 * One condition a filter that is present. The plain bound on created_at beside the cursor's row comparison lets the
 * planner leave out partitions the cursor has passed.
 */
function conditionsOf(tx: TenantTx, filter: LogFilter): Conditions {
  const values: Value[] = [tx.tenantId];
  const parts = ['tenant_id = $1'];
  let letters = '';
  const add = (letter: string, sql: (numbers: readonly string[]) => string, ...added: Value[]): void => {
    letters += letter;
    parts.push(sql(added.map((value) => `$${values.push(value)}`)));
  };
  if (filter.entityType !== undefined) add('t', ([n]) => `entity_type = ${n}`, filter.entityType);
  if (filter.entityId !== undefined) add('i', ([n]) => `entity_id = ${n}`, filter.entityId);
  if (filter.startMs !== undefined) add('s', ([n]) => `created_at >= ${n}`, new Date(filter.startMs));
  if (filter.endMs !== undefined && !isPassed(filter.endMs, filter))
    add('e', ([n]) => `created_at < ${n}`, new Date(filter.endMs));
  if (filter.after !== undefined) {
    const { atMs, id } = filter.after;
    add('c', ([at, row]) => `created_at <= ${at} AND (created_at, id) < (${at}, ${row})`, new Date(atMs), id);
  }
  return { letters, sql: parts.join(' AND '), values };
}

/**
 * Of two bounds from above the server may begin at the farther one, and read all that lies between. A cursor comes from a row
 * before the end that was asked for, so it is bound enough.
 */
function isPassed(endMs: number, { after }: LogFilter): boolean {
  return after !== undefined && after.atMs < endMs;
}

const RECENT_MS = 7 * 24 * 3_600_000;

/**
 * The first rows of a list, newest first. They are nearly always in the last partition or two, so those are asked alone:
 * the list is ordered by time, and as many rows as wanted from the newest months are the newest rows there are. Opening
 * every partition only to leave it unread would cost more than reading the page.
 */
export async function listNewestLogs(tx: TenantTx, filter: LogFilter, limit: number, nowMs: number): Promise<LogRow[]> {
  const newestMs = Math.min(filter.after?.atMs ?? nowMs, filter.endMs ?? nowMs);
  const monthMs = startOfMonth(newestMs - RECENT_MS);
  if (filter.startMs === undefined || filter.startMs < monthMs) {
    const recent = await listLogs(tx, { ...filter, startMs: monthMs }, limit, 0);
    if (recent.length === limit) return recent;
  }
  return listLogs(tx, filter, limit, 0);
}

function startOfMonth(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

/** Rows newest first. The same shape of filter always gives the same statement, so it is planned once. */
export async function listLogs(tx: TenantTx, filter: LogFilter, limit: number, offset: number): Promise<LogRow[]> {
  const { letters, sql, values } = conditionsOf(tx, filter);
  const limitAt = `$${values.length + 1}::bigint`;
  const offsetAt = `$${values.length + 2}::bigint`;
  const isByIdAlone = filter.entityId !== undefined && filter.entityType === undefined;
  const list: Statement<LogRow> = isByIdAlone
    ? statement(`list_logs_each_${letters}`, listAcrossTypes(sql, limitAt, offsetAt, `$${values.length + 3}`))
    : statement(
        `list_logs_${letters}`,
        `SELECT ${COLUMNS} FROM logs WHERE ${sql} ${ORDER} LIMIT ${limitAt} OFFSET ${offsetAt}`,
      );
  return tx.run(list, [...values, limit, offset, ...(isByIdAlone ? [ENTITY_TYPE_VALUES] : [])]);
}

/** The index on an entity leads with its type: asking once per known type keeps the cost of a page the same at any size. */
function listAcrossTypes(sql: string, limitAt: string, offsetAt: string, typesAt: string): string {
  return `SELECT ${COLUMNS} FROM unnest(${typesAt}::text[]) AS known (type) CROSS JOIN LATERAL (
            SELECT ${COLUMNS} FROM logs WHERE ${sql} AND entity_type = known.type
            ${ORDER} LIMIT ${limitAt} + ${offsetAt}) AS found
          ${ORDER} LIMIT ${limitAt} OFFSET ${offsetAt}`;
}

export async function countLogs(tx: TenantTx, filter: LogFilter): Promise<number> {
  const { letters, sql, values } = conditionsOf(tx, filter);
  const isByIdAlone = filter.entityId !== undefined && filter.entityType === undefined;
  const byType = isByIdAlone ? ` AND entity_type = ANY ($${values.length + 1}::text[])` : '';
  const count = statement<{ total: string }>(
    `count_logs_${letters}`,
    `SELECT count(*) AS total FROM logs WHERE ${sql}${byType}`,
  );
  const [row] = await tx.run(count, [...values, ...(isByIdAlone ? [ENTITY_TYPE_VALUES] : [])]);
  return Number(row?.total ?? 0);
}

const LIST_LOGS_IN_ORDER = statement<LogRow>(
  'list_logs_in_order',
  `SELECT ${COLUMNS} FROM logs
   WHERE tenant_id = $1 AND created_at >= $2 AND (created_at, id) > ($2, $3) AND created_at <= $4
   ORDER BY created_at, id LIMIT $5`,
);

/** Rows oldest first, those after a row up to a moment: the cost of a page does not depend on how many came before. */
export async function listLogsInOrder(
  tx: TenantTx,
  after: { readonly atMs: number; readonly id: string },
  untilMs: number,
  limit: number,
): Promise<LogRow[]> {
  return tx.run(LIST_LOGS_IN_ORDER, [tx.tenantId, new Date(after.atMs), after.id, new Date(untilMs), limit]);
}
