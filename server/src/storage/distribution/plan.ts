import { EXIT, ExitError } from '../../kernel/exit.js';

/** A table of ours as it stands in the database. */
export interface SchemaTable {
  readonly name: string;
  readonly has_tenant: boolean;
  /** Tables its foreign keys point to. */
  readonly targets: readonly string[];
  readonly is_distributed: boolean;
}

export interface DistributionStep {
  readonly table: string;
  readonly column: string;
  readonly with: string;
}

/**
 * Tables that stay on the coordinator, and why. Any other table must have a tenant_id: one that comes later and has none fails
 * the test and the command, until somebody has decided.
 */
export const COORDINATOR_TABLES: Readonly<Record<string, string>> = {
  users: 'people, who belong to no tenant; nobody is kept from signing in by a server that is down',
  user_passwords: 'what people sign in with, asked by sign-ins alone',
  portal_sessions: 'sessions of people, found by a hash of their secret',
  user_links: 'links that work once, found by a hash of their secret',
  email_changes: 'addresses that people have not confirmed yet, a few rows',
  user_devices: 'browsers that people are known by, asked by sign-ins alone',
  sign_in_failures: 'failed sign-ins, which belong to no tenant',
  user_authenticators: 'sealed secrets for one-time codes, asked by sign-ins alone',
  user_recovery_codes: 'codes that stand in for an authenticator, asked by sign-ins alone',
  user_passkeys: 'keys that people sign in with, found by the id of the passkey',
  passkey_challenges: 'what passkeys are asked to sign, a few minutes each',
  user_identities: 'for whom issuers vouch, found by issuer and subject',
  credential_directory: 'whose a secret is, asked before the tenant is known',
  mails: 'mail to people that waits to be sent, a few rows; taken by all processes',
  root_key_check: 'one row of the installation, asked at start alone',
  system_keys: 'a few wrapped keys of the installation, asked at start alone',
  schema_migrations: 'the history of the schema, asked at start alone',
};

/** The table of tenants is distributed by its own id; every other table is placed beside it. */
const ROOT = { table: 'tenants', column: 'id' };

/** Whether it is a table whose place is known. */
export function isOurs({ name, has_tenant }: SchemaTable): boolean {
  return has_tenant || name === ROOT.table || name in COORDINATOR_TABLES;
}

/** What is left to do, in an order in which whatever is referenced comes first. */
export function planDistribution(tables: readonly SchemaTable[]): DistributionStep[] {
  const unknown = tables.filter((table) => !isOurs(table));
  if (unknown.length > 0) {
    const names = unknown.map(({ name }) => name).join(', ');
    throw new ExitError(
      EXIT.configuration,
      `In the schema public no place is known for ${names}: it has no tenant_id. Move what is not ours to another schema.`,
    );
  }
  return inReferenceOrder(tables)
    .filter(({ is_distributed }) => !is_distributed)
    .map(({ name }) => stepOf(name))
    .filter((step) => step !== undefined);
}

function stepOf(table: string): DistributionStep | undefined {
  if (table === ROOT.table) return { table, column: ROOT.column, with: 'none' };
  return table in COORDINATOR_TABLES ? undefined : { table, column: 'tenant_id', with: ROOT.table };
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
