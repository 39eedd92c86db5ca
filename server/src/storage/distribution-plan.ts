/** A table of ours as it stands in the database. */
export interface SchemaTable {
  readonly name: string;
  readonly has_tenant: boolean;
  /** Tables its foreign keys point to. */
  readonly targets: readonly string[];
  readonly is_distributed: boolean;
}

export type DistributionStep =
  | { readonly kind: 'reference'; readonly table: string }
  | { readonly kind: 'distribute'; readonly table: string; readonly column: string; readonly with: string };

/**
 * Tables that belong to no tenant, and where they stay. Any other table must have a tenant_id: one that comes later and
 * has none fails the test and the command, until somebody has decided.
 */
export const GLOBAL_TABLES: Readonly<Record<string, { readonly place: 'reference' | 'local'; readonly why: string }>> =
  {
    users: { place: 'reference', why: 'people, small, referenced by every tenant; a copy on each server' },
    user_passwords: { place: 'local', why: 'what people sign in with, asked by sign-ins alone' },
    portal_sessions: { place: 'local', why: 'sessions of people, found by a hash of their secret' },
    user_links: { place: 'local', why: 'links that work once, found by a hash of their secret' },
    email_changes: { place: 'local', why: 'addresses that people have not confirmed yet, a few rows' },
    user_devices: { place: 'local', why: 'browsers that people are known by, asked by sign-ins alone' },
    sign_in_failures: { place: 'local', why: 'failed sign-ins, which belong to no tenant' },
    user_authenticators: { place: 'local', why: 'sealed secrets for one-time codes, asked by sign-ins alone' },
    user_recovery_codes: { place: 'local', why: 'codes that stand in for an authenticator, asked by sign-ins alone' },
    user_passkeys: { place: 'local', why: 'keys that people sign in with, found by the id of the passkey' },
    passkey_challenges: { place: 'local', why: 'what passkeys are asked to sign, a few minutes each' },
    user_identities: { place: 'local', why: 'for whom issuers vouch, found by issuer and subject' },
    mails: { place: 'local', why: 'mail to people that waits to be sent, a few rows; taken by all processes' },
    root_key_check: { place: 'local', why: 'one row of the installation, asked at start alone' },
    system_keys: { place: 'local', why: 'a few wrapped keys of the installation, asked at start alone' },
    schema_migrations: { place: 'local', why: 'the history of the schema, asked at start alone' },
  };

/** The table of tenants is distributed by its own id; every other table is placed beside it. */
const ROOT = { table: 'tenants', column: 'id' };

/** What is left to do, in an order in which whatever is referenced comes first. */
export function planDistribution(tables: readonly SchemaTable[]): DistributionStep[] {
  const unknown = tables.filter(
    ({ name, has_tenant }) => !has_tenant && name !== ROOT.table && !(name in GLOBAL_TABLES),
  );
  if (unknown.length > 0) throw new Error(`no place is known for ${unknown.map(({ name }) => name).join(', ')}`);
  return inReferenceOrder(tables)
    .filter(({ is_distributed }) => !is_distributed)
    .map(({ name }) => stepOf(name))
    .filter((step) => step !== undefined);
}

function stepOf(table: string): DistributionStep | undefined {
  if (table === ROOT.table) return { kind: 'distribute', table, column: ROOT.column, with: 'none' };
  const known = GLOBAL_TABLES[table];
  if (known === undefined) return { kind: 'distribute', table, column: 'tenant_id', with: ROOT.table };
  return known.place === 'reference' ? { kind: 'reference', table } : undefined;
}

/** The tenant's own row first, since the others are put beside it whether they reference it or not. */
function inReferenceOrder(tables: readonly SchemaTable[]): SchemaTable[] {
  const byName = new Map(tables.map((table) => [table.name, table]));
  const ordered = new Set<SchemaTable>();
  const place = (table: SchemaTable, above: readonly string[]): void => {
    if (above.includes(table.name)) throw new Error(`tables reference each other: ${above.join(', ')}`);
    for (const name of table.targets) {
      const target = byName.get(name);
      if (target && target !== table) place(target, [...above, table.name]);
    }
    ordered.add(table);
  };
  const root = byName.get(ROOT.table);
  for (const table of [...(root ? [root] : []), ...tables]) place(table, []);
  return [...ordered];
}
