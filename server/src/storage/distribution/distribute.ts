import type pg from 'pg';
import { EXIT, ExitError } from '../../kernel/exit.js';
import { connectAsOwner } from '../connect-as-owner.js';
import type { ConnectionTarget } from '../connection.js';
import { MIGRATION_BOUNDS, MIGRATION_LOCK_NAME, takeSchema } from '../schema-lock.js';
import { DIRECTORY, findDistribution, readTables } from './examine.js';
import type { DistributionStep } from './plan.js';
import { COORDINATOR_TABLES, planDistribution } from './plan.js';
import { rewritePolicies } from './policies.js';
import { countSessions, refuseWhileServed } from './refuse-while-served.js';
import { openRoles } from './working-roles.js';

/** Refuses a server that cannot distribute tables, or that is at work, before anything is changed on it. */
export async function refuseToDistribute(owner: ConnectionTarget): Promise<void> {
  await asOwner(owner, async (client) => {
    const { rows } = await client.query<{ has_citus: boolean }>(
      `SELECT to_regclass('pg_dist_partition') IS NOT NULL AND EXISTS (
         SELECT FROM pg_proc WHERE proname = 'create_distributed_table' AND pg_function_is_visible(oid)) AS has_citus`,
    );
    if (rows[0]?.has_citus) {
      const { isDistributed, missing } = await findDistribution(client);
      if (!isDistributed || missing.length > 0) await refuseWhileServed(client);
      return;
    }
    throw new ExitError(
      EXIT.configuration,
      'The database has no Citus. Install the extension on every server, run CREATE EXTENSION citus in this database ' +
        'as a superuser, add the workers, and try again. Nothing was changed.',
    );
  });
}

/**
 * Spreads the tables over the servers by tenant and returns those it did. Each is done for itself: a run that ends half
 * way is taken up by the next, and one that finds everything done changes nothing. Citus copies the rows there are.
 */
export async function distribute(owner: ConnectionTarget): Promise<string[]> {
  return asOwner(owner, async (client) => {
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [MIGRATION_LOCK_NAME]);
    if (planDistribution(await readTables(client)).length > 0) await refuseWhileServed(client);
    return distributeRest(client);
  });
}

/** For a database that is distributed: tables that a migration has just made go where the others are. */
export async function distributeNewTables(client: pg.ClientBase): Promise<void> {
  const { isDistributed, missing } = await findDistribution(client);
  if (isDistributed && missing.length > 0) await distributeRest(client);
}

async function distributeRest(client: pg.ClientBase): Promise<string[]> {
  const steps = planDistribution(await readTables(client));
  if (steps.length > 0) await takeSchema(client);
  // The trigger on tenants is one that every shard may run by itself.
  await client.query('SET citus.enable_unsafe_triggers TO on');
  await rewritePolicies(client, ['credential_directory', ...steps.map(({ table }) => table)]);
  for (const step of steps) await take(client, step);
  await clearLocalRows(client);
  await delegateFunctions(client);
  if (!(await isDirectoryKnown(client))) {
    await fillDirectory(client);
    await client.query(TAKE_DIRECTORY);
  }
  return steps.map(({ table }) => table);
}

/** References to tables that stay on the coordinator: no server can hold its rows to them. */
const FIND_REFERENCES = `
  SELECT k.conname::text AS name FROM pg_constraint k JOIN pg_class t ON t.oid = k.confrelid
  WHERE k.conrelid = $1::regclass AND k.contype = 'f' AND t.relname = ANY ($2)`;

/** Citus copies rows as the owner, from whom forced row-level security keeps them. */
async function take(client: pg.ClientBase, step: DistributionStep): Promise<void> {
  const table = `public.${step.table}`;
  const references = await client.query<{ name: string }>(FIND_REFERENCES, [table, Object.keys(COORDINATOR_TABLES)]);
  await client.query(`BEGIN; SET LOCAL citus.multi_shard_modify_mode TO 'sequential'`);
  try {
    for (const { name } of references.rows) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
    await client.query(`ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY`);
    const beside = step.with === 'none' ? 'none' : `public.${step.with}`;
    const values = [table, step.column, beside];
    await client.query('SELECT create_distributed_table($1::regclass, $2, colocate_with => $3)', values);
    await client.query(`ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    const reason = error instanceof Error ? error.message : String(error);
    throw new ExitError(
      EXIT.configuration,
      `The table ${step.table} could not be distributed: ${reason}. Those before it are; run the same command again.`,
      error,
    );
  }
}

/** Rows that were copied stand here still, where nobody sees them. */
const FIND_TABLES_WITH_LOCAL_ROWS = `
  SELECT c.relname::text AS name FROM pg_dist_partition d JOIN pg_class c ON c.oid = d.logicalrelid
  WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
    AND (c.relkind = 'p' OR pg_relation_size(c.oid) > 0) AND d.partmethod = 'h'`;

async function clearLocalRows(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(FIND_TABLES_WITH_LOCAL_ROWS);
  for (const { name } of rows) {
    await client.query('SELECT truncate_local_data_after_distributing_table($1::regclass)', [`public.${name}`]);
  }
}

/** Functions that work on one tenant's rows: a call of one travels to the server that has them. */
export const FUNCTIONS_OF_A_TENANT = ['claim_one_fingerprint', 'add_active_tokens', 'let_in_combinations'];
const DELEGATE = `
  SELECT create_distributed_function(p.oid::regprocedure, 'for_tenant', colocate_with => 'public.tenants', force_delegation => true)
  FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.proname = ANY ($1)`;

async function delegateFunctions(client: pg.ClientBase): Promise<void> {
  // What they call has to be there too, and is called there alone.
  await client.query(
    `SELECT create_distributed_function(p.oid::regprocedure) FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace AND p.proname = 'claim_fingerprint'`,
  );
  await client.query(DELEGATE, [FUNCTIONS_OF_A_TENANT]);
}

const WITH_HASHES = { api_keys: 'hash', sessions: 'hash', proxies: 'key_hash', invitations: 'secret_hash' };

/**
 * Entries of the directory for what was there before. The policy for backups lets the owner see it: the one there is now, who may
 * not be the one that made the tables.
 */
async function fillDirectory(client: pg.ClientBase): Promise<void> {
  for (const table of Object.keys(WITH_HASHES)) await client.query(`ALTER POLICY backup ON ${table} TO CURRENT_USER`);
  await client.query(`BEGIN; SET LOCAL citus.propagate_set_commands TO 'local'; SET LOCAL strongroom.backup TO 'on'`);
  await client.query(`ALTER TABLE ${DIRECTORY} NO FORCE ROW LEVEL SECURITY`);
  for (const [table, column] of Object.entries(WITH_HASHES)) {
    await client.query(
      `INSERT INTO ${DIRECTORY} (tenant_id, hash) SELECT tenant_id, ${column} FROM ${table} ON CONFLICT DO NOTHING`,
    );
  }
  // Apart: Citus takes no change of a table that it knows together with another command.
  await client.query(`ALTER TABLE ${DIRECTORY} FORCE ROW LEVEL SECURITY`);
  await client.query('COMMIT');
}

/**
 * The directory stays on the coordinator, and Citus has to know of it: a change of an entry and of the row that has
 * the hash is then committed in two phases. Otherwise the server with the row would commit alone first, and a
 * coordinator that dies then would leave a key that nobody can sign in with.
 */
const TAKE_DIRECTORY = `SELECT citus_add_local_table_to_metadata('public.${DIRECTORY}')`;

async function isDirectoryKnown(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query('SELECT FROM pg_dist_partition WHERE logicalrelid = $1::regclass', [
    `public.${DIRECTORY}`,
  ]);
  return rows.length > 0;
}

/** Sessions of processes that began before the tables were distributed, and do not know of it. */
export async function sessionsLeft(owner: ConnectionTarget): Promise<number> {
  return asOwner(owner, countSessions);
}

/** Lets the coordinator work in the name of the working roles. Roles belong to the whole server. */
export async function openWorkingRoles(owner: ConnectionTarget): Promise<void> {
  await asOwner(owner, openRoles);
}

async function asOwner<T>(owner: ConnectionTarget, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectAsOwner(owner, MIGRATION_BOUNDS);
  try {
    return await act(client);
  } finally {
    await client.end().catch(() => {});
  }
}
