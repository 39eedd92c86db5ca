import type { TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';

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

/** The groups that have tokens. Writers count in different slots, so a group's rows are added up. */
export async function readDirectory(tx: TenantTx): Promise<Group[]> {
  const groups = new Map<string, Group>();
  for (const { group_id: id, type, containers, count } of await tx.run(LIST_GROUPS, [tx.tenantId])) {
    groups.set(id, { id, type, containers, count: (groups.get(id)?.count ?? 0) + Number(count) });
  }
  return [...groups.values()].filter(({ count }) => count > 0);
}
