import type { TenantTx } from '../../../storage/scope.js';
import type { Value } from '../../../storage/statement.js';
import type { LogFilter } from './filter.js';
import { startOfMonth } from './filter.js';

/**
 * Type, operation and outcome of an entry make its kind. A log holds a few dozen of them, however long it is. Every index for
 * filters leads to a kind (of the tenant, of an entity, of an actor) and goes on in the order of the list. What a filter
 * leaves open of a kind is found out, and the kinds that will do are merged.
 */
export interface Kinds {
  /** Names the statements that are made of this: few, because each is kept with its plan. */
  readonly shape: string;
  /** The common table `kinds`: those there are and that will do. */
  readonly sql: string;
  /** The entries of a kind, as many as there are. */
  readonly entriesSql: string;
  /**
   * Time and id of the newest entries of a kind, at most so many. Undefined where they have to be looked for in a history: that
   * is read until they are found.
   */
  readonly newestSql: ((limitAt: string) => string) | undefined;
  readonly values: readonly Value[];
}

const LOWEST_ID = '00000000-0000-0000-0000-000000000000';
/** The log has months from 1970 to 2099. */
const END_MS = Date.UTC(2100, 0, 1);
const KIND = ['entity_type', 'operation', 'outcome'] as const;
const OF_TENANT = 'tenant_id = $1';
/** Leaves out months that cannot have any. */
export const IN_TIME = 'created_at >= $2 AND created_at <= $3';
const BEFORE_PLACE = '(created_at, id) < ($3, $4)';

export function kindsOf(tx: TenantTx, filter: LogFilter): Kinds {
  const fromMs = Math.max(filter.startMs ?? 0, 0);
  const after = lastPlaceOf(filter);
  const values: Value[] = [tx.tenantId, new Date(fromMs), new Date(after.atMs), after.id];
  const at = (value: Value): string => `$${values.push(value)}`;
  const [firstMonth, lastMonth] = [at(new Date(startOfMonth(fromMs))), at(new Date(startOfMonth(after.atMs, 1)))];
  const given = [filter.entityType, filter.operation, filter.outcome].map((part) => at(part ?? null));
  const isWanted = KIND.map((column, n) => `(${given[n]}::text IS NULL OR ${column} = ${given[n]})`);
  const owner = ownerOf(filter);
  const conditions = [OF_TENANT, ...KIND.map((column) => `${column} = kinds.${column}`), IN_TIME, BEFORE_PLACE];
  let lead: Lead | undefined;
  if (owner) {
    lead = { column: owner.column, at: at(owner.id) };
    conditions.push(`${lead.column} = ${lead.at}`);
    // In these words, which no index answers, so that it is looked for in the history that was chosen.
    if (owner.other) conditions.push(`${owner.other.column} IS NOT DISTINCT FROM ${at(owner.other.id)}`);
  }
  const range = `${OF_TENANT} AND created_at >= ${firstMonth} AND created_at < ${lastMonth}`;
  const typeAt = filter.entityType === undefined ? undefined : given[0];
  return {
    shape: owner?.shape ?? (typeAt === undefined ? 'any' : 'type'),
    sql: `WITH RECURSIVE ${leaps(range, lead, typeAt)},
      kinds AS (SELECT ${KIND.join(', ')} FROM leaps WHERE ${isWanted.join(' AND ')})`,
    entriesSql: conditions.join(' AND '),
    newestSql: owner?.other ? undefined : (limitAt) => newest(range, lead, limitAt),
    values,
  };
}

/**
 * Of two bounds from above the server may begin at the farther one, and read all that lies between. So there is one, the
 * cursor or the end, which is a place that nothing of its time comes before.
 */
function lastPlaceOf({ endMs = END_MS, after }: LogFilter): { readonly atMs: number; readonly id: string } {
  const atMs = Math.min(endMs, END_MS);
  return after !== undefined && after.atMs < atMs ? after : { atMs, id: LOWEST_ID };
}

interface Owner {
  readonly shape: string;
  readonly column: string;
  readonly id: string;
  /** Looked for in the history of the first. */
  readonly other?: { readonly column: string; readonly id: string };
}

/** Whose history is read, if the filter names anybody. */
function ownerOf({ entityId, actorId, along }: LogFilter): Owner | undefined {
  const entity = entityId === undefined ? undefined : { column: 'entity_id', id: entityId };
  const actor = actorId === undefined ? undefined : { column: 'actor_id', id: actorId };
  if (entity && actor) {
    return along === 'actor'
      ? { shape: 'actor_entity', ...actor, other: entity }
      : { shape: 'entity_actor', ...entity, other: actor };
  }
  if (entity) return { shape: 'entity', ...entity };
  return actor && { shape: 'actor', ...actor };
}

/**
 * Kinds are found by leaping from each to the next, past the entries between. Its order names every column of the index that is
 * meant, and its conditions are ranges: equalities would take columns out of the order, and then other indexes would do as
 * well, in which a leap is a walk. What the server believes about a month that has just begun, or in which everything is
 * alike, must not decide that. Only whole months bound it, because a month is a table: a bound within one would be looked
 * for entry by entry.
 */
function leaps(range: string, lead: Lead | undefined, typeAt: string | undefined): string {
  const columns = lead ? [lead.column, ...KIND] : KIND;
  const bound = lead ?? (typeAt === undefined ? undefined : { column: 'entity_type', at: typeAt });
  const from = bound ? ` AND ${bound.column} >= ${bound.at}` : '';
  const upTo = bound ? ` AND ${bound.column} <= ${bound.at}` : '';
  const beyond = ` AND (${columns.join(', ')}) > (${lastOf('leaps', lead)})`;
  const first = (further: string) =>
    `SELECT ${KIND.join(', ')} FROM logs WHERE ${range}${upTo}${further} ORDER BY ${columns.join(', ')} LIMIT 1`;
  return `leaps AS (
    (${first(from)})
    UNION ALL
    SELECT ${KIND.map((column) => `next.${column}`).join(', ')} FROM leaps CROSS JOIN LATERAL (${first(beyond)}) AS next)`;
}

/**
 * Read down the index from the place where they end, for the same reasons. Where there are fewer, entries of other kinds come
 * after them and are left out afterwards: a condition beside the limit would be looked for without one.
 */
function newest(range: string, lead: Lead | undefined, limitAt: string): string {
  const columns = [...(lead ? [lead.column] : []), ...KIND, 'created_at', 'id'];
  const from = lead ? `${lead.column} >= ${lead.at}` : 'entity_type >= kinds.entity_type';
  const isOfKind = KIND.map((column) => `down.${column} = kinds.${column}`).join(' AND ');
  return `SELECT down.created_at, down.id FROM (
      SELECT ${KIND.join(', ')}, created_at, id FROM logs
      WHERE ${range} AND ${from} AND (${columns.join(', ')}) < (${lastOf('kinds', lead)}, $3, $4)
      ORDER BY ${columns.map((column) => `${column} DESC`).join(', ')} LIMIT ${limitAt}) AS down
    WHERE ${isOfKind} AND down.created_at >= $2`;
}

function lastOf(table: string, lead: Lead | undefined): string {
  return [...(lead ? [lead.at] : []), ...KIND.map((column) => `${table}.${column}`)].join(', ');
}

/** The column of an index before the kind, and the parameter it is asked by. */
interface Lead {
  readonly column: string;
  readonly at: string;
}
