import type { EntryChange } from '../../audit/entry.js';
import { READ_BY_INDEX } from '../../storage/in-order.js';
import type { TenantTx } from '../../storage/scope.js';
import type { Statement, Value } from '../../storage/statement.js';
import { statement } from '../../storage/statement.js';
import type { LogFilter } from './filters/filter.js';
import { isByTimeAlone, startOfMonth } from './filters/filter.js';
import { kindsOf } from './filters/kind-queries.js';

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
  readonly entity_version: number | null;
  readonly changes: readonly EntryChange[] | null;
}

export const COLUMN_NAMES = [
  ...['tenant_id', 'created_at', 'id', 'actor_type', 'actor_id', 'entity_type', 'entity_id', 'operation', 'message'],
  ...['outcome', 'source_address', 'trace_id', 'entity_version', 'changes'],
];
const COLUMNS = COLUMN_NAMES.join(', ');
const ORDER = 'ORDER BY created_at DESC, id DESC';

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

/** Rows newest first. The same shape of filter always gives the same statement, so it is planned once. */
export async function listLogs(tx: TenantTx, filter: LogFilter, limit: number, offset: number): Promise<LogRow[]> {
  if (!isByTimeAlone(filter)) return listByKind(tx, filter, limit, offset);
  const { letters, sql, values } = timesOf(tx, filter);
  const [limitAt, offsetAt] = [`$${values.length + 1}::bigint`, `$${values.length + 2}::bigint`];
  const list = statement<LogRow>(
    `list_logs_${letters}`,
    `SELECT ${COLUMNS} FROM logs WHERE ${sql} ${ORDER} LIMIT ${limitAt} OFFSET ${offsetAt}`,
  );
  return tx.run(list, [...values, limit, offset]);
}

export async function countLogs(tx: TenantTx, filter: LogFilter): Promise<number> {
  if (!isByTimeAlone(filter)) return countByKind(tx, filter);
  const { letters, sql, values } = timesOf(tx, filter);
  const count = statement<Total>(`count_logs_${letters}`, `SELECT count(*) AS total FROM logs WHERE ${sql}`);
  const [row] = await tx.run(count, values);
  return Number(row?.total ?? 0);
}

interface Total {
  readonly total: string;
}

/**
 * One condition a bound that is present; the letters name the prepared statement. The plain bound on created_at beside the
 * cursor's row comparison lets the planner leave out partitions the cursor has passed.
 */
function timesOf(tx: TenantTx, { startMs, endMs, after }: LogFilter) {
  const values: Value[] = [tx.tenantId];
  const parts = ['tenant_id = $1'];
  let letters = '';
  const add = (letter: string, sql: (numbers: readonly string[]) => string, ...added: Value[]): void => {
    letters += letter;
    parts.push(sql(added.map((value) => `$${values.push(value)}`)));
  };
  if (startMs !== undefined) add('s', ([n]) => `created_at >= ${n}`, new Date(startMs));
  // Of two bounds from above the server may begin at the farther one, and read all that lies between. A cursor comes from a
  // row before the end that was asked for, so it is bound enough.
  const isPassed = endMs !== undefined && after !== undefined && after.atMs < endMs;
  if (endMs !== undefined && !isPassed) add('e', ([n]) => `created_at < ${n}`, new Date(endMs));
  if (after !== undefined) {
    const { atMs, id } = after;
    add('c', ([at, row]) => `created_at <= ${at} AND (created_at, id) < (${at}, ${row})`, new Date(atMs), id);
  }
  return { letters, sql: parts.join(' AND '), values };
}

async function listByKind(tx: TenantTx, filter: LogFilter, limit: number, offset: number): Promise<LogRow[]> {
  const { shape, sql, newestSql, values } = kindsOf(tx, filter);
  const [limitAt, offsetAt] = [`$${values.length + 1}::bigint`, `$${values.length + 2}::bigint`];
  const found = (columns: readonly string[]) =>
    `SELECT ${of('found', columns)} FROM kinds
     CROSS JOIN LATERAL (${newestSql(columns.join(', '), `${limitAt} + ${offsetAt}`)}) AS found
     ${ORDER} LIMIT ${limitAt} OFFSET ${offsetAt}`;
  // Of what is skipped only the keys are sorted. Each entry is then the first one down the primary key.
  const list =
    offset === 0
      ? statement<LogRow>(`list_logs_by_kind_${shape}`, `${sql} ${found(COLUMN_NAMES)}`)
      : statement<LogRow>(
          `list_logs_by_kind_${shape}_skipping`,
          `${sql} SELECT ${of('entry', COLUMN_NAMES)} FROM (${found(['created_at', 'id'])}) AS entry_key
           CROSS JOIN LATERAL (
             SELECT ${COLUMNS} FROM logs WHERE tenant_id = $1 AND created_at >= entry_key.created_at
               AND created_at <= entry_key.created_at AND (created_at, id) <= (entry_key.created_at, entry_key.id)
             ${ORDER} LIMIT 1) AS entry
           ORDER BY entry_key.created_at DESC, entry_key.id DESC`,
        );
  return byIndex(tx, list, [...values, limit, offset]);
}

async function countByKind(tx: TenantTx, filter: LogFilter): Promise<number> {
  const { shape, sql, countSql, values } = kindsOf(tx, filter);
  const count = statement<Total>(`count_logs_by_kind_${shape}`, `${sql}${countSql}`);
  const [row] = await byIndex(tx, count, values);
  return Number(row?.total ?? 0);
}

interface BucketRow {
  readonly bucket: string;
  readonly count: string;
}

/** Numbered from 1970 on, by how long each is in milliseconds. */
const bucketAt = (lengthAt: string) =>
  `(extract(epoch FROM created_at) * 1000)::bigint / ${lengthAt}::bigint AS bucket`;
const COUNT_NEWEST_BY_BUCKET = statement<BucketRow>(
  'count_newest_logs_by_bucket',
  `SELECT ${bucketAt('$4')}, count(*) AS count FROM (
     SELECT created_at FROM logs WHERE tenant_id = $1 AND created_at >= $2 AND created_at < $3 ${ORDER} LIMIT $5) AS newest
   GROUP BY bucket`,
);

/** How many of the newest entries between two dates are in each bucket: no more than so many of each kind are looked at. */
export async function countNewestByBucket(
  tx: TenantTx,
  filter: LogFilter & { readonly startMs: number; readonly endMs: number },
  lengthMs: number,
  limit: number,
): Promise<ReadonlyMap<number, number>> {
  const { startMs, endMs } = filter;
  const rows = isByTimeAlone(filter)
    ? await tx.run(COUNT_NEWEST_BY_BUCKET, [tx.tenantId, new Date(startMs), new Date(endMs), lengthMs, limit])
    : await countNewestOfKinds(tx, await alongShorterHistory(tx, filter), lengthMs, limit);
  return new Map(rows.map(({ bucket, count }) => [Number(bucket), Number(count)]));
}

async function countNewestOfKinds(tx: TenantTx, filter: LogFilter, lengthMs: number, limit: number) {
  const { shape, sql, newestSql, values } = kindsOf(tx, filter);
  const [lengthAt, limitAt] = [`$${values.length + 1}`, `$${values.length + 2}::bigint`];
  const count = statement<BucketRow>(
    `count_newest_logs_by_kind_${shape}`,
    `${sql} SELECT ${bucketAt(lengthAt)}, count(*) AS count FROM (
       SELECT found.created_at FROM kinds
       CROSS JOIN LATERAL (${newestSql('created_at', limitAt)}) AS found
       ORDER BY found.created_at DESC LIMIT ${limitAt}) AS newest
     GROUP BY bucket`,
  );
  return byIndex(tx, count, [...values, lengthMs, limit]);
}

function of(table: string, columns: readonly string[]): string {
  return columns.map((name) => `${table}.${name}`).join(', ');
}

async function byIndex<Row>(tx: TenantTx, asked: Statement<Row>, values: readonly Value[]): Promise<Row[]> {
  const [, rows] = await Promise.all([tx.run(READ_BY_INDEX, []), tx.run(asked, values)]);
  return rows;
}

/** A history is counted up to this length, so that counting stays cheap. */
const LENGTH_MAX = 10_000;
const LENGTHS_OF_HISTORIES = statement<{ of_entity: number; of_actor: number }>(
  'lengths_of_histories',
  `SELECT (SELECT count(*) FROM (SELECT FROM logs WHERE tenant_id = $1 AND entity_id = $2 LIMIT $4) AS e)::int AS of_entity,
          (SELECT count(*) FROM (SELECT FROM logs WHERE tenant_id = $1 AND actor_id = $3 LIMIT $4) AS a)::int AS of_actor`,
);

/** No index knows an entity and an actor, so one is looked for in the history of the other: in the shorter one. */
export async function alongShorterHistory(tx: TenantTx, filter: LogFilter): Promise<LogFilter> {
  const { entityId, actorId } = filter;
  if (entityId === undefined || actorId === undefined) return filter;
  const [lengths] = await tx.run(LENGTHS_OF_HISTORIES, [tx.tenantId, entityId, actorId, LENGTH_MAX]);
  return { ...filter, along: lengths && lengths.of_actor < lengths.of_entity ? 'actor' : 'entity' };
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
