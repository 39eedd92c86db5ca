import type { TenantTx } from '../../storage/scope.js';
import type { Value } from '../../storage/statement.js';
import { statement } from '../../storage/statement.js';

export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Has the statements that are asked for explained in place of run, and tells every step of their plans. */
export async function planNodesOf(tx: TenantTx, ask: (tx: TenantTx) => Promise<unknown>): Promise<PlanNode[]> {
  const nodes: PlanNode[] = [];
  const collect = (node: PlanNode): void => {
    nodes.push(node);
    for (const below of node.Plans ?? []) collect(below);
  };
  const run = async (asked: { readonly text: string }, values: readonly Value[]): Promise<never[]> => {
    const explain = statement<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      '',
      `EXPLAIN (ANALYZE, FORMAT JSON) ${asked.text}`,
    );
    for (const row of await tx.run(explain, values)) for (const { Plan } of row['QUERY PLAN']) collect(Plan);
    return [];
  };
  await ask({ ...tx, run } as TenantTx);
  return nodes;
}
