import { int4Array, textArray, uuidArray } from '../../storage/binary-array.js';
import { bulkWrite } from '../../storage/bulk.js';
import type { TenantTx } from '../../storage/scope.js';
import type { Value } from '../../storage/statement.js';
import { distributedStatement, statement } from '../../storage/statement.js';

/** A type with a set of containers. */
export interface Combination {
  readonly groupId: string;
  readonly type: string;
  readonly containers: readonly string[];
}

/** How many a tenant has, and how many of them public keys and sessions added. */
export interface CombinationCount {
  readonly all: number;
  readonly byStrangers: number;
}

const FIND_KNOWN = statement<{ group_id: string }>(
  'find_known_combinations',
  'SELECT DISTINCT group_id FROM token_groups WHERE tenant_id = $1 AND group_id = ANY ($2::uuid[])',
);

/** Those that are there, whether or not they were let in by name: what is counted anywhere exists. */
export async function findKnown(tx: TenantTx, groupIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx.run(FIND_KNOWN, [tx.tenantId, uuidArray(groupIds)]);
  return new Set(rows.map(({ group_id }) => group_id));
}

const COUNT = statement<{ all_of_them: string; by_strangers: string }>(
  'count_combinations',
  `SELECT count(*) AS all_of_them, count(*) FILTER (WHERE by_stranger) AS by_strangers
   FROM token_groups WHERE tenant_id = $1 AND slot = -1`,
);

export async function countCombinations(tx: TenantTx): Promise<CombinationCount> {
  const [row] = await tx.run(COUNT, [tx.tenantId]);
  return { all: Number(row?.all_of_them ?? 0), byStrangers: Number(row?.by_strangers ?? 0) };
}

interface LetIn extends Combination {
  readonly tenantId: string;
  readonly isByStranger: boolean;
}

/** The same for one tenant, as a call that travels to the server that has it. */
const LET_IN_OF_TENANT = distributedStatement<unknown>(
  'let_in_of_tenant',
  'SELECT let_in_combinations($1::uuid, $2::uuid[], $3::text[], $4::text[], $5::int[]) AS let_in',
);

/** One that is counted already was let in before anybody wrote such things down, and not by a stranger. */
const LET_IN = bulkWrite<LetIn>(
  statement(
    'let_in_combinations',
    `WITH given AS (
       SELECT tenant_id, group_id, type, containers, by_stranger
       FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::int[])
         AS given (tenant_id, group_id, type, containers, by_stranger)),
     let_in AS (
       INSERT INTO token_groups (tenant_id, group_id, slot, type, containers, count, by_stranger, seen_at)
       SELECT tenant_id, group_id, -1, type, string_to_array(containers, ','), 0,
              by_stranger = 1 AND NOT EXISTS (SELECT FROM token_groups AS g
                WHERE g.tenant_id = given.tenant_id AND g.group_id = given.group_id), now()
       FROM given
       ON CONFLICT (tenant_id, group_id, slot) DO UPDATE SET seen_at = EXCLUDED.seen_at
       RETURNING tenant_id, xmax = 0 AS is_new)
     INSERT INTO token_directories (tenant_id, version)
     SELECT tenant_id, 1 FROM let_in WHERE is_new GROUP BY tenant_id ORDER BY tenant_id
     ON CONFLICT (tenant_id) DO UPDATE SET version = token_directories.version + 1`,
  ),
  60,
  combinationColumns,
  {
    distributed: (tenantId, rows) => [
      { statement: LET_IN_OF_TENANT, values: [tenantId, ...combinationColumns(rows).slice(1)] },
    ],
  },
);

function combinationColumns(rows: readonly LetIn[]): Value[] {
  const unique = new Map(rows.map((row) => [`${row.tenantId} ${row.groupId}`, row]));
  // In the order of their keys, so that two who let in the same ones do not wait for each other in a circle.
  const sorted = [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  return [
    uuidArray(sorted.map(({ tenantId }) => tenantId)),
    uuidArray(sorted.map(({ groupId }) => groupId)),
    textArray(sorted.map(({ type }) => type)),
    textArray(sorted.map(({ containers }) => containers.join(','))),
    int4Array(sorted.map(({ isByStranger }) => (isByStranger ? 1 : 0))),
  ];
}

/** Writes down that these may be used from now on, or that they were asked for again. */
export async function insertCombinations(
  tx: TenantTx,
  given: readonly Combination[],
  isByStranger: boolean,
): Promise<void> {
  await tx.gather(
    LET_IN,
    given.map(({ groupId, type, containers }) => ({ tenantId: tx.tenantId, groupId, type, containers, isByStranger })),
  );
}

const FREE_EMPTY = statement<{ freed: number }>(
  'free_empty_combinations',
  `WITH empty AS MATERIALIZED (
     SELECT group_id FROM token_groups WHERE tenant_id = $1 GROUP BY group_id
     HAVING sum(count) = 0 AND max(seen_at) < now() - $2::int * interval '1 second'),
   freed AS (DELETE FROM token_groups AS g USING empty
             WHERE g.tenant_id = $1 AND g.group_id = empty.group_id RETURNING g.slot)
   SELECT count(*) FILTER (WHERE slot = -1)::int AS freed FROM freed`,
);

/** Takes away those that no token is in and nobody asked for since; gives how many. */
export async function freeEmpty(tx: TenantTx, unseenSeconds: number): Promise<number> {
  const [row] = await tx.run(FREE_EMPTY, [tx.tenantId, unseenSeconds]);
  return row?.freed ?? 0;
}
