import { KIND_BITS } from '../../../audit/kind.js';
import type { TenantTx } from '../../../storage/scope.js';
import type { Value } from '../../../storage/statement.js';
import type { LogFilter } from './filter.js';
import { startOfMonth } from './filter.js';

/**
 * Type, operation and outcome of an entry make its kind. A log holds a few dozen of them, however long it is. Every index for
 * filters leads to the number of a kind (of the tenant, of an entity, of an actor) and goes on by time. What a filter leaves
 * open of a kind is found out, and the kinds that may do are merged.
 */
export interface Kinds {
  /** Names the statements that are made of this: few, because each is kept with its plan. */
  readonly shape: string;
  /** The common table `kinds`: the numbers there are and that may do, and 0, as entries without a number may too. */
  readonly sql: string;
  /** Columns of the newest entries of a kind: at most so many, and all that share the last one's millisecond. */
  readonly newestSql: (columns: string, limitAt: string) => string;
  /** After `sql`: how many entries there are of all of them. */
  readonly countSql: string;
  readonly values: readonly Value[];
}

const LOWEST_ID = '00000000-0000-0000-0000-000000000000';
/** The log has months from 1970 to 2099. */
const END_MS = Date.UTC(2100, 0, 1);
const OF_TENANT = 'tenant_id = $1';
const IN_TIME = 'created_at >= $2 AND created_at <= $3';
const BEFORE_PLACE = '(created_at, id) < ($3, $4)';

/** What a statement is made of, each a condition. */
interface Conditions {
  /** The tenant, the months that can have any, and whose history is read: what an index begins with. */
  readonly among: readonly string[];
  /** The texts that are asked for. Two texts may share bits of the number, and the entries tell them apart. */
  readonly isSo: readonly string[];
  /** Whoever is looked for in the history of another. */
  readonly ofOther: readonly string[];
}

export function kindsOf(tx: TenantTx, filter: LogFilter): Kinds {
  const fromMs = Math.max(filter.startMs ?? 0, 0);
  const after = lastPositionOf(filter);
  const values: Value[] = [tx.tenantId, new Date(fromMs), new Date(after.atMs), after.id];
  const at = (value: Value): string => `$${values.push(value)}`;
  const month = (ms: number, later = 0) => at(new Date(startOfMonth(ms, later)));
  const months = [`created_at >= ${month(fromMs)}`, `created_at < ${month(after.atMs, 1)}`];
  const type = { column: 'entity_type', at: `${at(filter.entityType ?? null)}::text` } as const;
  const parts = [
    type,
    { column: 'operation', at: `${at(filter.operation ?? null)}::text` },
    { column: 'outcome', at: `${at(filter.outcome ?? null)}::text` },
  ] as const;
  const mayDo = parts.map(({ column, at: text }) => {
    const { shift, mask } = KIND_BITS[column];
    return `(${text} IS NULL OR (kind >> ${shift}) & ${mask} = hashtext(${text}) & ${mask})`;
  });
  const owner = ownerOf(filter);
  const order = owner ? ORDER_OF_OWNER : ORDER_OF_TENANT;
  const conditions: Conditions = {
    among: [OF_TENANT, ...months, ...(owner ? [`${owner.column} = ${at(owner.id)}`] : [])],
    isSo: parts.map(({ column, at: text }) => `(${text} IS NULL OR ${column} = ${text})`),
    // In these words, which no index answers, so that it is looked for in the history that was chosen.
    ofOther: owner?.other ? [`${owner.other.column} IS NOT DISTINCT FROM ${at(owner.other.id)}`] : [],
  };
  return {
    shape: owner?.shape ?? 'tenant',
    sql: `WITH RECURSIVE ${leaps(conditions.among, type.at, order.up)},
      kinds AS (SELECT kind FROM leaps WHERE ${mayDo.join(' AND ')} UNION ALL SELECT 0)`,
    newestSql: (columns, limitAt) => newest(conditions, order.down, columns, limitAt),
    countSql: count(conditions, order),
    values,
  };
}

/**
 * Of two bounds from above the server may begin at the farther one, and read all that lies between. So there is one, the
 * cursor or the end, which is a position that nothing of its time comes before.
 */
function lastPositionOf({ endMs = END_MS, after }: LogFilter): { readonly atMs: number; readonly id: string } {
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
 * Each an order that one index has alone, so that no other will do: what the server believes about a month that has just begun,
 * or in which everything is alike, must not decide which one is read. A kind is never null. Where nulls would stand is how the
 * indexes of an owner's kinds differ from that of all.
 */
const ORDER_OF_TENANT = { up: 'kind', down: 'kind DESC, created_at DESC' };
const ORDER_OF_OWNER = { up: 'kind NULLS FIRST', down: 'kind DESC NULLS LAST, created_at DESC' };
type Order = typeof ORDER_OF_TENANT;

/**
 * Kinds are found by leaping from each to the next, past the entries between. Only whole months bound it, because a month is a
 * table: a bound within one would be looked for entry by entry. A type bounds it, as the bits of the type come first; in words
 * that row-level security lets through to the index, which coalesce is not.
 */
function leaps(among: readonly string[], typeAt: string, order: string): string {
  const { shift, mask } = KIND_BITS.entity_type;
  const lowest = `((hashtext(${typeAt}) & ${mask})::bigint << ${shift})`;
  const from = `kind > CASE WHEN ${typeAt} IS NULL THEN 0 ELSE ${lowest} END`;
  const upTo = `kind <= CASE WHEN ${typeAt} IS NULL THEN ${2n ** 63n - 1n} ELSE ${lowest} + ${2 ** shift - 1} END`;
  const first = (bound: string) =>
    `SELECT kind FROM logs WHERE ${[...among, upTo, bound].join(' AND ')} ORDER BY ${order} LIMIT 1`;
  return `leaps AS (
    (${first(from)})
    UNION ALL
    SELECT next.kind FROM leaps CROSS JOIN LATERAL (${first('kind > leaps.kind')}) AS next)`;
}

/**
 * Read down the index from where they end to where the kind begins: a range, because an equality would take the kind
 * out of the order. What is too old is left out afterwards, as only the kind ends such a range in every version of the
 * server: a condition beside the limit would be looked for in all that is older.
 */
function newest({ among, isSo, ofOther }: Conditions, order: string, columns: string, limitAt: string): string {
  const range = ['kind >= kinds.kind', '(kind, created_at) <= (kinds.kind, $3)', BEFORE_PLACE];
  // Who is looked for is looked for in all of it anyway.
  const inTime = ofOther.length > 0 ? [IN_TIME] : [];
  return `SELECT ${columns} FROM (
      SELECT ${columns} FROM logs WHERE ${[...among, ...range, ...isSo, ...ofOther, ...inTime].join(' AND ')}
      ORDER BY ${order} FETCH FIRST (${limitAt}) ROWS WITH TIES) AS down
    WHERE created_at >= $2`;
}

/**
 * Counted in the index, where entries have no texts: to look at each takes three times as long. One entry of a kind is asked for
 * them, because a text that is asked for may share bits with another; of those that are written no two do. Entries without
 * a number are looked at, and those of the cursor's own millisecond, whose ids decide.
 */
function count({ among, isSo, ofOther }: Conditions, order: Order): string {
  const entries = (conditions: readonly string[], by: string): string =>
    `SELECT FROM logs WHERE ${[...among, ...ofOther, ...conditions].join(' AND ')} ORDER BY ${by}`;
  const numbered = ['(kind, created_at) >= (counted.kind, $2)', '(kind, created_at) < (counted.kind, $3)'];
  const others = ['(kind, created_at) < (0, $3)', 'created_at >= $2', ...isSo];
  const beside = ['created_at >= $3', BEFORE_PLACE, ...isSo];
  return `, counted AS MATERIALIZED (SELECT kinds.kind FROM kinds CROSS JOIN LATERAL (
      SELECT entity_type, operation, outcome FROM logs WHERE ${[...among, 'kind >= kinds.kind'].join(' AND ')}
      ORDER BY ${order.up} LIMIT 1) AS one WHERE kinds.kind > 0 AND ${isSo.join(' AND ')})
    SELECT (SELECT count(*) FROM counted CROSS JOIN LATERAL (${entries(numbered, order.down)}) AS numbered)
      + (SELECT count(*) FROM (${entries(others, order.down)}) AS others)
      + (SELECT count(*) FROM (${entries(beside, 'created_at DESC, id DESC')}) AS beside) AS total`;
}
