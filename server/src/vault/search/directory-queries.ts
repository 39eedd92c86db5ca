import type { TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

/** Tokens that share their type and their containers. */
export interface Group {
  readonly id: string;
  readonly type: string;
  readonly containers: readonly string[];
  readonly count: number;
}

interface GroupRow {
  readonly group_id: string;
  readonly type: string;
  readonly containers: readonly string[];
  readonly count: string;
}

const LIST_GROUPS = statement<GroupRow>(
  'list_token_groups',
  'SELECT group_id, type, containers, count FROM token_groups WHERE tenant_id = $1',
);

/** Every group that may have tokens, with how many. Writers count in different slots, so a group's rows are added up. */
export async function listGroups(tx: TenantTx): Promise<Group[]> {
  const groups = new Map<string, Group>();
  for (const { group_id: id, type, containers, count } of await tx.run(LIST_GROUPS, [tx.tenantId])) {
    groups.set(id, { id, type, containers, count: (groups.get(id)?.count ?? 0) + Number(count) });
  }
  return [...groups.values()];
}

const FIND_VERSION = statement<{ version: string }>(
  'find_token_directory_version',
  'SELECT version FROM token_directories WHERE tenant_id = $1',
);

/** Changes whenever a group is let in, which is before the first token is in it. */
export async function findDirectoryVersion(tx: TenantTx): Promise<string> {
  const [row] = await tx.run(FIND_VERSION, [tx.tenantId]);
  return row?.version ?? '0';
}

const LIST_CONTAINERS = statement<{ container: string }>(
  'list_token_containers',
  `SELECT container FROM token_groups CROSS JOIN LATERAL unnest(containers) AS container
   WHERE tenant_id = $1 GROUP BY container HAVING sum(count) > 0 ORDER BY sum(count) DESC, container LIMIT $2`,
);

/** Those that have tokens, the fullest first. */
export async function listContainers(tx: TenantTx, limit: number): Promise<string[]> {
  return (await tx.run(LIST_CONTAINERS, [tx.tenantId, limit])).map(({ container }) => container);
}
