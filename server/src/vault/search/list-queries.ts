import { READ_IN_ORDER } from '../../storage/in-order.js';
import type { TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';
import type { TokenPosition } from '../stored/position.js';
import type { FoundRow, SentRow } from '../stored/row.js';
import { received, sentColumnsWithin, TOKEN_COLUMNS } from '../stored/row.js';
import { hiddenBy } from './chosen-groups.js';
import type { SearchCondition } from './condition.js';
import type { Parts } from './found-queries.js';
import { ORDER, partsOf, tokensFound } from './found-queries.js';
import { groupIdArray } from './group-ids.js';
import type { Plan, Statistics } from './plan.js';
import { planFor } from './plan.js';

export interface Search extends Statistics {
  readonly condition: SearchCondition;
  /** What expired before this moment is not there. */
  readonly nowMs: number;
}

export interface Page {
  /** Only what comes after this position. */
  readonly after?: TokenPosition | undefined;
  readonly offset?: number;
  readonly limit: number;
}

const KEYS = 't.created_at, t.tie';
/** Bounds nothing, but keeps the planner from turning many look-ups into one pass over the table. */
const APART = 'OFFSET 0';

/** What the records of a page that come with their rows hold at most, shared evenly; larger ones stay behind. */
const PAGE_BYTES_MAX = 524_288;

/** A page of tokens, newest first. */
export async function findTokens(tx: TenantTx, search: Search & Page): Promise<FoundRow[]> {
  if (search.condition.kind === 'none') return [];
  const { after, offset = 0, limit } = search;
  const plan = planFor(search.condition, search, limit + offset);
  const parts = partsOf(tx, search.nowMs, plan, after);
  const limitAt = parts.parameters.add(limit, 'bigint');
  const offsetAt = parts.parameters.add(offset, 'bigint');
  const columns = sentColumnsWithin(parts.parameters.add(Math.floor(PAGE_BYTES_MAX / limit), 'integer'));
  const found = tokensFound(parts, TOKEN_COLUMNS, `${ORDER} LIMIT ${limitAt} + ${offsetAt}`);
  const distinct = parts.isRepeating ? `DISTINCT ON (${KEYS}) ` : '';
  const text = `SELECT ${distinct}${columns} FROM (${found}) AS t ${ORDER} LIMIT ${limitAt} OFFSET ${offsetAt}`;
  const find = statement<SentRow>(nameOf('find_tokens', parts, plan), text);
  const [, rows] = await Promise.all([tx.run(READ_IN_ORDER, []), tx.run(find, parts.parameters.values)]);
  return rows.map(received);
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
  const plan = planFor(condition, search, Infinity);
  const parts = partsOf(tx, search.nowMs, plan, undefined);
  const distinct = parts.isRepeating ? 'DISTINCT ' : '';
  // Counting needs no order, but an index to go by has it. Going through all tokens is faster without.
  const isIndexed = plan.window.length > 0 || plan.drivers.length > 0;
  const found = tokensFound(parts, KEYS, isIndexed ? `${ORDER} ${APART}` : APART);
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
  `SELECT (SELECT coalesce(sum(count), 0) FROM token_groups WHERE tenant_id = $1 AND slot >= 0)
        - (${expiredSql('true')}) AS total`,
);
const COUNT_BY_GROUPS = statement<TotalRow>(
  'count_tokens_by_groups',
  `SELECT (SELECT coalesce(sum(count), 0) FROM token_groups WHERE tenant_id = $1 AND group_id = ANY ($3::uuid[]) AND slot >= 0)
        - (${expiredSql('group_id = ANY ($3::uuid[])')}) AS total`,
);
/** Null when a group was let in since: nobody may count what was not looked at. */
const COUNT_BUT_GROUPS = statement<{ readonly total: string | null }>(
  'count_tokens_but_groups',
  `SELECT CASE WHEN coalesce((SELECT version FROM token_directories WHERE tenant_id = $1), 0) = $4::bigint THEN
            (SELECT coalesce(sum(count), 0) FROM token_groups WHERE tenant_id = $1)
          - (SELECT coalesce(sum(count), 0) FROM token_groups WHERE tenant_id = $1 AND group_id = ANY ($3::uuid[]) AND slot >= 0)
          - (${expiredSql('NOT (group_id = ANY ($3::uuid[]))')}) END AS total`,
);
const COUNT_BY_TERM = statement<TotalRow>(
  'count_tokens_by_term',
  `SELECT (SELECT count(*) FROM token_terms WHERE tenant_id = $1 AND term = $3)
        - (${expiredSql('position($3 IN terms) > 0')}) AS total`,
);

async function countByGroups(
  tx: TenantTx,
  { nowMs, directory }: Search,
  condition: Extract<SearchCondition, { kind: 'all' | 'groups' }>,
): Promise<number> {
  const values = [tx.tenantId, new Date(nowMs)];
  if (condition.kind === 'all') return totalOf(await tx.run(COUNT_ALL, values));
  const { groupIds } = condition;
  const hidden = directory && hiddenBy(directory, groupIds);
  const [row] = hidden ? await tx.run(COUNT_BUT_GROUPS, [...values, groupIdArray(hidden.ids), hidden.version]) : [];
  if (row && row.total !== null) return Number(row.total);
  return totalOf(await tx.run(COUNT_BY_GROUPS, [...values, groupIdArray(groupIds)]));
}

async function countByTerm(tx: TenantTx, { nowMs }: Search, term: Buffer): Promise<number> {
  return totalOf(await tx.run(COUNT_BY_TERM, [tx.tenantId, new Date(nowMs), term]));
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
