import { int4Array, int8Array, textArray, uuidArray } from '../../storage/binary-array.js';
import { bulkWrite } from '../../storage/bulk.js';
import { givenInsert } from '../../storage/given.js';
import type { TenantTx } from '../../storage/scope.js';
import type { Value } from '../../storage/statement.js';
import { distributedStatement, statement } from '../../storage/statement.js';
import { sumBy } from '../../storage/sum-by.js';

/** A writer keeps to one slot, so that writers do not wait for each other on a row. */
const COUNTER_SLOTS = 8;

const FIND_TOKEN_COUNTS = statement<{ type: string; count: string; last_created_at: Date | null }>(
  'find_token_counts',
  `WITH due AS MATERIALIZED (
     SELECT group_id, count(*) AS count
     FROM (SELECT group_id FROM tokens WHERE tenant_id = $1 AND expires_at <= $2 ORDER BY expires_at) AS expired
     GROUP BY group_id)
   SELECT g.type, sum(g.count - COALESCE(due.count, 0)) AS count, max(newest.created_at) AS last_created_at
   FROM (SELECT group_id, type, sum(count) AS count FROM token_groups
         WHERE tenant_id = $1 GROUP BY group_id, type HAVING sum(count) > 0) AS g
   LEFT JOIN due USING (group_id)
   LEFT JOIN LATERAL (SELECT created_at FROM tokens
                      WHERE tenant_id = $1 AND group_id >= g.group_id AND group_id <= g.group_id
                        AND (expires_at IS NULL OR expires_at > $2)
                      ORDER BY group_id DESC, created_at DESC, tie DESC LIMIT 1) AS newest ON true
   GROUP BY g.type HAVING sum(g.count - COALESCE(due.count, 0)) > 0
   ORDER BY g.type LIMIT 1000`,
);

export interface TokenCount {
  readonly type: string;
  readonly count: number;
  readonly lastCreatedAt: Date | null;
}

/**
 * Reads a few counters and one index entry a group, whatever the number of tokens: the newest is asked for as a range of
 * one group in the order of its index, which the server cannot mistake for another. What has expired is still counted
 * until it is swept, so it is taken off here: that is never much.
 */
export async function findTokenCounts(tx: TenantTx, nowMs: number): Promise<TokenCount[]> {
  const rows = await tx.run(FIND_TOKEN_COUNTS, [tx.tenantId, new Date(nowMs)]);
  return rows.map((row) => ({ type: row.type, count: Number(row.count), lastCreatedAt: row.last_created_at }));
}

const FIND_ACTIVE_TOKEN_COUNT = statement<{ count: string }>(
  'find_active_token_count',
  'SELECT COALESCE(sum(count), 0) AS count FROM active_token_counts WHERE tenant_id = $1 AND month = $2',
);

export async function findActiveTokenCount(tx: TenantTx, month: string): Promise<number> {
  const [row] = await tx.run(FIND_ACTIVE_TOKEN_COUNT, [tx.tenantId, month]);
  return Number(row?.count ?? 0);
}

const LIST_ACTIVE_TOKEN_COUNTS = statement<{ month: string; count: string }>(
  'list_active_token_counts',
  `SELECT to_char(month, 'YYYY-MM') AS month, sum(count) AS count FROM active_token_counts
   WHERE tenant_id = $1 AND month >= $2 AND month < $3 GROUP BY month ORDER BY month DESC LIMIT 100`,
);

/** By month, `2030-01`: from one first day on, before another. */
export async function listActiveTokenCounts(
  tx: TenantTx,
  fromMonth: string,
  beforeMonth: string,
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.run(LIST_ACTIVE_TOKEN_COUNTS, [tx.tenantId, fromMonth, beforeMonth]);
  return new Map(rows.map(({ month, count }) => [month, Number(count)]));
}

/** Tokens of one group that came (positive) or went (negative). */
export interface GroupDifference {
  readonly groupId: string;
  readonly type: string;
  readonly containers: readonly string[];
  readonly difference: number;
}

interface GroupInsert extends GroupDifference {
  readonly tenantId: string;
  readonly slot: number;
}

const ADD_TO_GROUPS = bulkWrite<GroupInsert>(
  givenInsert('add_to_token_groups', {
    into: 'token_groups',
    columns: ['tenant_id uuid', 'group_id uuid', 'slot int', 'type text', 'containers text', 'count bigint'],
    made: { containers: `string_to_array(given.containers, ',')` },
    end: 'ON CONFLICT (tenant_id, group_id, slot) DO UPDATE SET count = token_groups.count + EXCLUDED.count',
  }),
  70,
  (rows) => {
    const sums = sumBy(
      rows,
      (row) => `${row.tenantId} ${row.groupId} ${row.slot}`,
      (row) => row.difference,
    ).filter(({ sum }) => sum !== 0);
    return [
      uuidArray(sums.map(({ row }) => row.tenantId)),
      uuidArray(sums.map(({ row }) => row.groupId)),
      int4Array(sums.map(({ row }) => row.slot)),
      textArray(sums.map(({ row }) => row.type)),
      textArray(sums.map(({ row }) => row.containers.join(','))),
      int8Array(sums.map(({ sum }) => sum)),
    ];
  },
);

export async function addToGroups(tx: TenantTx, differences: readonly GroupDifference[]): Promise<void> {
  const slot = tx.lane % COUNTER_SLOTS;
  // Summed before they meet those of others: a request of a hundred tokens mostly has one group.
  const sums = sumBy(
    differences,
    ({ groupId }) => groupId,
    ({ difference }) => difference,
  );
  await tx.gather(
    ADD_TO_GROUPS,
    sums.map(({ row, sum }) => ({ ...row, difference: sum, tenantId: tx.tenantId, slot })),
  );
}

/** Without an id: tokens that are active for the first time by being made, and need not be remembered for that. */
interface ActiveInsert {
  readonly tenantId: string;
  readonly month: string;
  readonly slot: number;
  readonly tokenId: string | undefined;
  readonly count: number;
}

/** The same for one tenant, as a call that travels to the server that has it. */
const ADD_ACTIVE_OF_TENANT = distributedStatement<unknown>(
  'add_active_of_tenant',
  'SELECT add_active_tokens($1::uuid, $2::date[], $3::text[], $4::date[], $5::bigint[], $6::int) AS added',
);

/** The same where all of them were made in the month: nothing has to be looked for, and a call costs its server far more. */
const ADD_MADE_OF_TENANT = distributedStatement<unknown>(
  'add_made_of_tenant',
  `INSERT INTO active_token_counts (tenant_id, month, slot, count) VALUES ($1, $2::date, $3::int, $4::bigint)
   ON CONFLICT (tenant_id, month, slot) DO UPDATE SET count = active_token_counts.count + EXCLUDED.count`,
);

const ADD_ACTIVE_TOKENS = bulkWrite<ActiveInsert>(
  statement(
    'add_active_tokens',
    `WITH fresh AS (
       INSERT INTO active_tokens (tenant_id, month, token_id)
       SELECT tenant_id, month, token_id FROM unnest($1::uuid[], $2::date[], $3::text[])
         AS given (tenant_id, month, token_id)
       ON CONFLICT DO NOTHING RETURNING tenant_id, month),
     counted AS (
       SELECT tenant_id, month, 1 AS count FROM fresh
       UNION ALL
       SELECT tenant_id, month, count FROM unnest($4::uuid[], $5::date[], $6::bigint[])
         AS given (tenant_id, month, count))
     INSERT INTO active_token_counts (tenant_id, month, slot, count)
     SELECT tenant_id, month, $7, sum(count) FROM counted GROUP BY tenant_id, month ORDER BY tenant_id, month
     ON CONFLICT (tenant_id, month, slot) DO UPDATE SET count = active_token_counts.count + EXCLUDED.count`,
  ),
  80,
  activeColumns,
  {
    distributed(tenantId, rows) {
      const [, seenMonths = [], seenIds = [], , madeMonths = [], madeCounts = [], slot = 0] = activeColumns(rows);
      const [first] = rows;
      if (first !== undefined && rows.every(({ tokenId, month }) => tokenId === undefined && month === first.month)) {
        const count = rows.reduce((sum, row) => sum + row.count, 0);
        return [{ statement: ADD_MADE_OF_TENANT, values: [tenantId, first.month, slot, count] }];
      }
      return [
        { statement: ADD_ACTIVE_OF_TENANT, values: [tenantId, seenMonths, seenIds, madeMonths, madeCounts, slot] },
      ];
    },
  },
);

function activeColumns(rows: readonly ActiveInsert[]): Value[] {
  const seen = sumBy(
    rows.filter(({ tokenId }) => tokenId !== undefined),
    (row) => `${row.tenantId} ${row.month} ${row.tokenId}`,
    () => 1,
  ).map(({ row }) => row);
  const made = sumBy(
    rows.filter(({ tokenId }) => tokenId === undefined),
    (row) => `${row.tenantId} ${row.month}`,
    ({ count }) => count,
  );
  return [
    seen.map(({ tenantId }) => tenantId),
    seen.map(({ month }) => month),
    seen.map(({ tokenId }) => tokenId ?? null),
    made.map(({ row }) => row.tenantId),
    made.map(({ row }) => row.month),
    made.map(({ sum }) => sum),
    // Everybody in a transaction is in the same lane.
    rows[0]?.slot ?? 0,
  ];
}

/** A token counts once a month: only those not seen yet, and those made this very month, raise the counter. */
export async function addActiveTokens(
  tx: TenantTx,
  month: string,
  tokenIds: readonly (string | undefined)[],
): Promise<void> {
  const slot = tx.lane % COUNTER_SLOTS;
  const made = tokenIds.filter((tokenId) => tokenId === undefined).length;
  const row = { tenantId: tx.tenantId, month, slot };
  const seen = tokenIds.flatMap((tokenId) => (tokenId === undefined ? [] : [{ ...row, tokenId, count: 1 }]));
  await tx.gather(ADD_ACTIVE_TOKENS, made === 0 ? seen : [...seen, { ...row, tokenId: undefined, count: made }]);
}
