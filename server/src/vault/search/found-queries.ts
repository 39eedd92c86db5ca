import type { TenantTx } from '../../storage/scope.js';
import type { Value } from '../../storage/statement.js';
import type { TokenPosition } from '../stored/position.js';
import type { Parameters } from './condition-queries.js';
import { bytesList, conditionSql, createParameters } from './condition-queries.js';
import { groupIdArray } from './group-ids.js';
import type { Driver, Plan } from './plan.js';

export const ORDER = 'ORDER BY created_at DESC, tie DESC';
const FIRST_TIE = '00000000-0000-0000-0000-000000000000';

const TYPE_OF_KEYS = { ids: 'text[]', groups: 'uuid[]', fingerprints: 'bytea[]', terms: 'bytea[]' } as const;
const COLUMN_OF = { groups: 't.group_id', fingerprints: 't.fingerprint' } as const;

/** The pieces that page and total have in common, with the values they stand for. */
export interface Parts {
  readonly parameters: Parameters;
  readonly drivers: readonly { readonly by: Driver['by']; readonly keysAt: string }[];
  /** What the token called `t` must be, besides what the drivers ask for. */
  readonly filter: string;
  /** The stretch of the list it must be in: from one position, up to but without another. */
  readonly fromAt: string | undefined;
  readonly beforeAt: string | undefined;
  readonly isAfter: boolean;
  /** A token may be found more than once. */
  readonly isRepeating: boolean;
}

export function partsOf(tx: TenantTx, nowMs: number, plan: Plan, after: TokenPosition | undefined): Parts {
  const { drivers, rest } = plan;
  const parameters = createParameters();
  parameters.add(tx.tenantId, 'uuid');
  const live = `(t.expires_at IS NULL OR t.expires_at > ${parameters.add(new Date(nowMs), 'timestamptz')})`;
  const positionAt = (position: TokenPosition | undefined): string | undefined =>
    position &&
    `${parameters.add(new Date(position.createdAtMs), 'timestamptz')}, ${parameters.add(position.tie, 'uuid')}`;
  const { from, before } = stretchOf(plan, after);
  return {
    parameters,
    fromAt: positionAt(from),
    beforeAt: positionAt(before),
    drivers: drivers.map((driver) => ({
      by: driver.by,
      keysAt: parameters.add(keysOf(driver), TYPE_OF_KEYS[driver.by]),
    })),
    filter: `${live} AND ${conditionSql(rest, parameters)}`,
    isAfter: after !== undefined,
    isRepeating: drivers.length > 1 || drivers.some(({ by, keys }) => by === 'terms' && keys.length > 1),
  };
}

/** Bounds on time and the cursor as one bound for each end: an index stops at one bound, and only filters by a second. */
function stretchOf(
  { window }: Plan,
  after: TokenPosition | undefined,
): { from: TokenPosition | undefined; before: TokenPosition | undefined } {
  const fromMs = Math.max(...window.map((span) => span.fromMs ?? -Infinity));
  const beforeMs = Math.min(...window.map((span) => span.beforeMs ?? Infinity));
  const before = beforeMs === Infinity ? undefined : { createdAtMs: beforeMs, tie: FIRST_TIE };
  return {
    from: fromMs === -Infinity ? undefined : { createdAtMs: fromMs, tie: FIRST_TIE },
    before: after !== undefined && after.createdAtMs < beforeMs ? after : before,
  };
}

/** `lead` is a column that stands before the time in an index, and the value it must have. */
function stretchSql({ fromAt, beforeAt }: Parts, table: 't' | 'm', lead?: { column: string; key: string }): string {
  const columns = `(${lead ? `${lead.column}, ` : ''}${table}.created_at, ${table}.tie)`;
  const position = (at: string): string => `(${lead ? `${lead.key}, ` : ''}${at})`;
  const from = fromAt === undefined ? lead && `${lead.column} >= ${lead.key}` : `${columns} >= ${position(fromAt)}`;
  const before =
    beforeAt === undefined ? lead && `${lead.column} <= ${lead.key}` : `${columns} < ${position(beforeAt)}`;
  return [from, before].filter((bound) => bound !== undefined).join(' AND ') || 'true';
}

function keysOf(driver: Driver): Value {
  if (driver.by === 'groups') return groupIdArray(driver.keys);
  return driver.by === 'ids' ? driver.keys : bytesList(driver.keys);
}

/** The tokens as a table of these columns. `end` puts each driver's share in order and bounds it. */
export function tokensFound(parts: Parts, columns: string, end: string): string {
  const { drivers, filter } = parts;
  if (drivers.length === 0) {
    return `SELECT ${columns} FROM tokens t WHERE t.tenant_id = $1 AND ${stretchSql(parts, 't')} AND ${filter} ${end}`;
  }
  const shares = drivers.map(({ by, keysAt }) => {
    const share = shareOf(parts, by, columns, end);
    return `SELECT ${columns} FROM unnest(${keysAt}) AS wanted (key) CROSS JOIN LATERAL (${share}) AS t`;
  });
  return shares.join(' UNION ALL ');
}

function shareOf(parts: Parts, by: Driver['by'], columns: string, end: string): string {
  if (by === 'terms') return termShare(parts, columns, end);
  return by === 'ids' ? idShare(parts, columns) : columnShare(parts, COLUMN_OF[by], columns, end);
}

/**
 * The tokens of one group or fingerprint. They are asked for as a range in the order of the index that finds them: asked for
 * equality, a planner that knows nothing of the table yet may take any index that begins with the tenant, and go through
 * all of its tokens.
 */
function columnShare(parts: Parts, column: string, columns: string, end: string): string {
  return `SELECT ${columns} FROM tokens t
    WHERE t.tenant_id = $1 AND ${stretchSql(parts, 't', { column, key: 'wanted.key' })} AND ${parts.filter}
    ${end.replace('ORDER BY', `ORDER BY ${column} DESC,`)}`;
}

/** One token, for the same reason as a range of one. */
function idShare(parts: Parts, columns: string): string {
  return `SELECT ${columns} FROM tokens t
    WHERE t.tenant_id = $1 AND t.id >= wanted.key AND t.id <= wanted.key AND ${stretchSql(parts, 't')} AND ${parts.filter}
    ORDER BY t.id LIMIT 1`;
}

/**
 * Goes along a term's rows and fetches each token by itself: walking both tables side by side would mean all tokens where
 * the term is rare. Each is a range of one here too.
 */
function termShare(parts: Parts, columns: string, end: string): string {
  return `SELECT ${columns} FROM token_terms m CROSS JOIN LATERAL (
      SELECT ${columns} FROM tokens t
      WHERE t.tenant_id = $1 AND (t.created_at, t.tie) >= (m.created_at, m.tie)
        AND (t.created_at, t.tie) <= (m.created_at, m.tie) AND ${parts.filter} ${ORDER} LIMIT 1) AS t
    WHERE m.tenant_id = $1 AND m.term = wanted.key AND ${stretchSql(parts, 'm')}
    ${end.replaceAll(/created_at|tie/g, 'm.$&')}`;
}
