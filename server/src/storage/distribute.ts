import type pg from 'pg';
import { EXIT, ExitError } from '../kernel/exit.js';
import { connectAsOwner } from './connect-as-owner.js';
import type { ConnectionTarget } from './connection.js';
import type { DistributionStep, SchemaTable } from './distribution-plan.js';
import { planDistribution } from './distribution-plan.js';
import { LOCK_NAME, MIGRATION_BOUNDS } from './migrate.js';
import { takeSchema } from './schema-lock.js';

// No command leads here in this release: the service does not run on a database that was distributed, and refuses one
// (refuse-distributed.ts). What is here stays, with its tests, for the release that does.

/** Refuses a server that cannot distribute tables, before anything is changed on it. */
export async function refuseWithoutCitus(owner: ConnectionTarget): Promise<void> {
  await asOwner(owner, async (client) => {
    const { rows } = await client.query<{ has_citus: boolean }>(
      `SELECT to_regclass('pg_dist_partition') IS NOT NULL AND EXISTS (
         SELECT FROM pg_proc WHERE proname = 'create_distributed_table' AND pg_function_is_visible(oid)) AS has_citus`,
    );
    if (rows[0]?.has_citus) return;
    throw new ExitError(
      EXIT.configuration,
      'The database has no Citus. Install the extension on every server, run CREATE EXTENSION citus in this database ' +
        'as a superuser, add the workers, and try again. Nothing was changed.',
    );
  });
}

/**
 * Spreads the tables over the servers by tenant and returns those it did. Each is done for itself: a run that ends half
 * way is taken up by the next, and one that finds everything done changes nothing. Rows that were there before are copied
 * by Citus; the old ones stay on this server until an operator removes them.
 */
export async function distribute(owner: ConnectionTarget): Promise<string[]> {
  return asOwner(owner, async (client) => {
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [LOCK_NAME]);
    const steps = planDistribution(await readTables(client));
    if (steps.length > 0) await takeSchema(client);
    for (const step of steps) await take(client, step);
    return steps.map(({ table }) => table);
  });
}

async function take(client: pg.Client, step: DistributionStep): Promise<void> {
  const table = `public.${step.table}`;
  try {
    if (step.kind === 'reference') {
      await client.query('SELECT create_reference_table($1::regclass)', [table]);
      return;
    }
    const beside = step.with === 'none' ? 'none' : `public.${step.with}`;
    await client.query('SELECT create_distributed_table($1::regclass, $2, colocate_with => $3)', [
      table,
      step.column,
      beside,
    ]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ExitError(
      EXIT.configuration,
      `The table ${step.table} could not be distributed: ${reason}. Those before it are; run the same command again.`,
      error,
    );
  }
}

async function readTables(client: pg.Client): Promise<SchemaTable[]> {
  const { rows } = await client.query<SchemaTable>(
    `SELECT c.relname AS name,
            EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id') AS has_tenant,
            ARRAY(SELECT DISTINCT t.relname::text FROM pg_constraint k JOIN pg_class t ON t.oid = k.confrelid
                  WHERE k.conrelid = c.oid AND k.contype = 'f' ORDER BY 1) AS targets,
            EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid) AS is_distributed
     FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
     ORDER BY c.relname`,
  );
  return rows;
}

async function asOwner<T>(owner: ConnectionTarget, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectAsOwner(owner, MIGRATION_BOUNDS);
  try {
    return await act(client);
  } finally {
    await client.end().catch(() => {});
  }
}
