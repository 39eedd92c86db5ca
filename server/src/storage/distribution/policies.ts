import type pg from 'pg';

interface PolicyRow {
  readonly table: string;
  readonly name: string;
  readonly using: string | null;
  readonly check: string | null;
}

/** Policies that Citus refuses as they are, because they have subqueries; a table that came later may have such ones. */
const FIND_POLICIES = `
  SELECT tablename::text AS table, policyname::text AS name, qual AS using, with_check AS check FROM pg_policies
  WHERE schemaname = 'public' AND tablename = ANY ($1) AND (qual LIKE '%SELECT%' OR with_check LIKE '%SELECT%')
  ORDER BY tablename, policyname`;

/**
 * Writes the policies of tables that are to be distributed in a form without subqueries. Whoever works for tenants, and whoever
 * takes a backup, sees the same rows by it. What a purge may remove is told by the transaction: a policy on one server cannot
 * look into the table of tenants.
 */
export async function rewritePolicies(client: pg.ClientBase, tables: readonly string[]): Promise<void> {
  const { rows } = await client.query<PolicyRow>(FIND_POLICIES, [tables]);
  for (const policy of rows) {
    const using = policy.using === null ? '' : ` USING (${plainForm(policy, policy.using)})`;
    const check = policy.check === null ? '' : ` WITH CHECK (${plainForm(policy, policy.check)})`;
    await client.query(`ALTER POLICY ${policy.name} ON public.${policy.table}${using}${check}`);
  }
}

function plainForm({ table, name }: PolicyRow, written: string): string {
  const tenant = table === 'tenants' ? 'id' : 'tenant_id';
  if (name === 'backup') return `current_setting('strongroom.backup', true) = 'on'`;
  if (name === 'purge') return `${tenant} = ANY (strongroom_doomed())`;
  if (written.includes('strongroom_scope()')) return `${tenant} = ANY (strongroom_scope())`;
  throw new Error(`no form without a subquery is known for the policy ${name} of ${table}`);
}
