/** What a server says of a plan that it carried out. */
export interface RanPlan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly RanPlan[];
}

/** Rows of tables that a plan read, whether it used them or not. */
export function rowsRead(node: RanPlan): number {
  const {
    'Actual Rows': rows,
    'Rows Removed by Filter': filtered = 0,
    'Rows Removed by Index Recheck': lost = 0,
  } = node;
  const own = node['Node Type'].endsWith('Scan') && node['Relation Name'] ? rows + filtered + lost : 0;
  return own * node['Actual Loops'] + (node.Plans ?? []).reduce((all, plan) => all + rowsRead(plan), 0);
}
