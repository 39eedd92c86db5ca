import { READ_IN_ORDER } from '../../../storage/in-order.js';
import type { TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';
import type { TokenRow } from '../stored/row.js';
import { TOKEN_COLUMNS } from '../stored/row.js';
import type { Condition } from './condition.js';
import type { Parameters } from './condition-queries.js';
import { bytesList, conditionSql, createParameters, spanSql } from './condition-queries.js';
import type { Group } from './directory-queries.js';
import type { Driver, Plan } from './plan.js';
import { planFor } from './plan.js';

export interface Search {
  readonly condition: Condition;
  /** Undefined if the condition was made without looking at it. */
  readonly directory: readonly Group[] | undefined;
  /** What expired before this moment is not there. */
  readonly nowMs: number;
}

export interface Page {
  /** Only what comes after this token in the list. */
  readonly after?: { readonly createdAtMs: number; readonly tie: string } | undefined;
  readonly offset?: number;
  readonly limit: number;
}

const ORDER = 'ORDER BY created_at DESC, tie DESC';
const KEYS = 't.created_at, t.tie';
/** Bounds nothing, but keeps the planner from turning many look-ups into one pass over the table. */
const APART = 'OFFSET 0';

const KEY_OF = {
  ids: { column: 't.id', type: 'text[]' },
  groups: { column: 't.group_id', type: 'uuid[]' },
  fingerprints: { column: 't.fingerprint', type: 'bytea[]' },
  terms: { column: 'm.term', type: 'bytea[]' },
} as const;

/** A page of tokens, newest first. */
export async function findTokens(tx: TenantTx, search: Search & Page): Promise<TokenRow[]> {
  if (search.condition.kind === 'none') return [];
  const { after, offset = 0, limit } = search;
  const plan = planFor(search.condition, search.directory, limit + offset);
  const parts = partsOf(tx, search, plan, after);
  const limitAt = parts.parameters.add(limit, 'bigint');
  const offsetAt = parts.parameters.add(offset, 'bigint');
  const found = tokensFound(parts, TOKEN_COLUMNS, `${ORDER} LIMIT ${limitAt} + ${offsetAt}`);
  const distinct = parts.isRepeating ? `DISTINCT ON (${KEYS}) ` : '';
  const text = `SELECT ${distinct}${TOKEN_COLUMNS} FROM (${found}) AS t ${ORDER} LIMIT ${limitAt} OFFSET ${offsetAt}`;
  const find = statement<TokenRow>(nameOf('find_tokens', parts, plan), text);
  const [, rows] = await Promise.all([tx.run(READ_IN_ORDER, []), tx.run(find, parts.parameters.values)]);
  return rows;
}

/**
 * How many there are, exactly. By groups alone, or without any condition, the answer is a sum over the directory and costs
 * the same at any size; by a term alone it is a range of an index. Everything else visits each token that its driver leads
 * to, so it grows with the matches, and without a driver with all tokens of the tenant.
 */
export async function countTokens(tx: TenantTx, search: Search): Promise<number> {
  const { condition } = search;
  if (condition.kind === 'none') return 0;
  if (condition.kind === 'all' || condition.kind === 'groups') return countByGroups(tx, search, condition);
  if (condition.kind === 'term') return countByTerm(tx, search, condition.term);
  const plan = planFor(condition, search.directory, Infinity);
  const parts = partsOf(tx, search, plan, undefined);
  const distinct = parts.isRepeating ? 'DISTINCT ' : '';
  // Counting needs no order, but bounds on time are for the index that has it.
  const found = tokensFound(parts, KEYS, plan.window.length === 0 ? APART : `${ORDER} ${APART}`);
  const text = `SELECT count(*) AS total FROM (SELECT ${distinct}${KEYS} FROM (${found}) AS t) AS t`;
  const count = statement<TotalRow>(nameOf('count_tokens', parts, plan), text);
  const [, rows] = await Promise.all([tx.run(READ_IN_ORDER, []), tx.run(count, parts.parameters.values)]);
  return totalOf(rows);
}

interface TotalRow {
  readonly total: string;
}

function totalOf([row]: readonly TotalRow[]): number {
  return Number(row?.total ?? 0);
}

/** The order is that of the index on what is due: without it the planner may look through all tokens instead. */
const expiredSql = (condition: string): string => `SELECT count(*) FROM (
    SELECT expires_at FROM tokens WHERE tenant_id = $1 AND expires_at <= $2 AND ${condition} ORDER BY expires_at OFFSET 0
  ) AS expired`;

/** One statement each, so that what expired is counted as of the same moment as what there is. */
const COUNT_ALL = statement<TotalRow>(
  'count_tokens_all',
  `SELECT (SELECT coalesce(sum(count), 0) FROM token_groups WHERE tenant_id = $1)
        - (${expiredSql('true')}) AS total`,
);
const COUNT_BY_GROUPS = statement<TotalRow>(
  'count_tokens_by_groups',
  `SELECT (SELECT coalesce(sum(count), 0) FROM token_groups WHERE tenant_id = $1 AND group_id = ANY ($3::uuid[]))
        - (${expiredSql('group_id = ANY ($3::uuid[])')}) AS total`,
);
const COUNT_BY_TERM = statement<TotalRow>(
  'count_tokens_by_term',
  `SELECT (SELECT count(*) FROM token_terms WHERE tenant_id = $1 AND term = $3)
        - (${expiredSql('position($3 IN terms) > 0')}) AS total`,
);

async function countByGroups(
  tx: TenantTx,
  { nowMs }: Search,
  condition: Extract<Condition, { kind: 'all' | 'groups' }>,
): Promise<number> {
  const values = [tx.tenantId, new Date(nowMs)];
  if (condition.kind === 'all') return totalOf(await tx.run(COUNT_ALL, values));
  return totalOf(await tx.run(COUNT_BY_GROUPS, [...values, condition.groupIds]));
}

async function countByTerm(tx: TenantTx, { nowMs }: Search, term: Buffer): Promise<number> {
  return totalOf(await tx.run(COUNT_BY_TERM, [tx.tenantId, new Date(nowMs), term]));
}

/** The pieces that page and total have in common, with the values they stand for. */
interface Parts {
  readonly parameters: Parameters;
  readonly drivers: readonly { readonly by: Driver['by']; readonly keysAt: string }[];
  /** What the token called `t` must be, besides what the drivers ask for. */
  readonly filter: string;
  /** Where in the list it must be, for the table that is read in the order of the list. */
  readonly place: (alias: 't' | 'm') => string;
  readonly isAfter: boolean;
  /** A token may be found more than once. */
  readonly isRepeating: boolean;
}

function partsOf(tx: TenantTx, { nowMs }: Search, { drivers, window, rest }: Plan, after: Page['after']): Parts {
  const parameters = createParameters();
  parameters.add(tx.tenantId, 'uuid');
  const live = `(t.expires_at IS NULL OR t.expires_at > ${parameters.add(new Date(nowMs), 'timestamptz')})`;
  const spans = window.map((span) => spanSql('#.created_at', span, parameters));
  if (after !== undefined) {
    const at = parameters.add(new Date(after.createdAtMs), 'timestamptz');
    spans.push(`(#.created_at, #.tie) < (${at}, ${parameters.add(after.tie, 'uuid')})`);
  }
  return {
    parameters,
    drivers: drivers.map((driver) => ({
      by: driver.by,
      keysAt: parameters.add(keysOf(driver), KEY_OF[driver.by].type),
    })),
    filter: `${live} AND ${conditionSql(rest, parameters)}`,
    place: (alias) => ['true', ...spans].join(' AND ').replaceAll('#', alias),
    isAfter: after !== undefined,
    isRepeating: drivers.length > 1 || drivers.some(({ by, keys }) => by === 'terms' && keys.length > 1),
  };
}

function keysOf(driver: Driver): readonly string[] {
  return driver.by === 'ids' || driver.by === 'groups' ? driver.keys : bytesList(driver.keys);
}

/** The tokens as a table of these columns. `end` puts each driver's share in order and bounds it. */
function tokensFound(parts: Parts, columns: string, end: string): string {
  const { drivers, filter, place } = parts;
  if (drivers.length === 0) {
    return `SELECT ${columns} FROM tokens t WHERE t.tenant_id = $1 AND ${place('t')} AND ${filter} ${end}`;
  }
  const shares = drivers.map(({ by, keysAt }) => {
    const share = shareOf(parts, by, columns, end);
    return `SELECT ${columns} FROM unnest(${keysAt}) AS wanted (key) CROSS JOIN LATERAL (${share}) AS t`;
  });
  return shares.join(' UNION ALL ');
}

function shareOf(parts: Parts, by: Driver['by'], columns: string, end: string): string {
  if (by === 'terms') return termShare(parts, columns, end);
  return by === 'ids' ? idShare(parts, columns) : columnShare(parts, KEY_OF[by].column, columns, end);
}

function columnShare({ filter, place }: Parts, column: string, columns: string, end: string): string {
  return `SELECT ${columns} FROM tokens t
    WHERE t.tenant_id = $1 AND ${column} = wanted.key AND ${place('t')} AND ${filter} ${end}`;
}

/**
 * One token, asked for as a range of one in the order of the index that finds it. Asked for equality, a planner that knows
 * nothing of the table yet takes any index that begins with the tenant, and goes through all of its tokens.
 */
function idShare({ filter, place }: Parts, columns: string): string {
  return `SELECT ${columns} FROM tokens t
    WHERE t.tenant_id = $1 AND t.id >= wanted.key AND t.id <= wanted.key AND ${place('t')} AND ${filter}
    ORDER BY t.id LIMIT 1`;
}

/**
 * Goes along a term's rows and fetches each token by itself: walking both tables side by side would mean all tokens where
 * the term is rare. A token is a range of one here too.
 */
function termShare({ filter, place }: Parts, columns: string, end: string): string {
  return `SELECT ${columns} FROM token_terms m CROSS JOIN LATERAL (
      SELECT ${columns} FROM tokens t
      WHERE t.tenant_id = $1 AND (t.created_at, t.tie) >= (m.created_at, m.tie)
        AND (t.created_at, t.tie) <= (m.created_at, m.tie) AND ${filter} ${ORDER} LIMIT 1) AS t
    WHERE m.tenant_id = $1 AND m.term = wanted.key AND ${place('m')} ${end.replaceAll(/created_at|tie/g, 'm.$&')}`;
}

/**
 * A prepared statement stays with its connection for good, and clients choose the shapes. So only the shapes of ordinary
 * lists and searches have names, a few dozen together; others go without one and are planned each time.
 */
function nameOf(prefix: string, { isAfter, isRepeating }: Parts, { drivers, window, rest }: Plan): string {
  const isOrdinary = drivers.length <= 1 && window.length === 0 && ['all', 'groups', 'term'].includes(rest.kind);
  if (!isOrdinary) return '';
  const flags = `${isAfter ? '_after' : ''}${isRepeating ? '_each' : ''}`;
  return `${prefix}_by_${drivers[0]?.by ?? 'time'}_${rest.kind}${flags}`;
}
