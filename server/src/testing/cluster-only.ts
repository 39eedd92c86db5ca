import type pg from 'pg';
import { sharedServer } from './shared-server.js';

/** The tests of this run have a database that is spread over the servers of a cluster. */
export const IS_CLUSTER = sharedServer().workers.length > 0;

/** For the `skip` of a test that looks at what only a server alone has, such as locks that are seen on it. */
export const ONE_SERVER_ALONE = IS_CLUSTER && 'about a server alone, and this run has a cluster';

/** One row for everybody in this database who waits for a lock. */
export const LOCK_WAITS = IS_CLUSTER
  ? 'SELECT waiting_gpid AS pid FROM citus_lock_waits'
  : `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Tables under their own names as this connection sees them: Citus has no plan for some checks across all tenants. */
export async function gatherTables(client: pg.ClientBase, ...names: string[]): Promise<void> {
  if (!IS_CLUSTER) return;
  for (const name of names) await client.query(`CREATE TEMP TABLE ${name} AS SELECT * FROM public.${name}`);
}
