import type pg from 'pg';
import { EXIT, ExitError } from '../kernel/exit.js';

/** Citus keeps a row here for every table that it has spread, or has put in its charge; anybody may read it. */
const CATALOGUE = 'pg_dist_partition';
const NAMED_MAX = 3;

/**
 * Refuses a database whose tables Citus has spread over servers. The scope of a transaction does not reach those, so that
 * policies there show no row: requests would find nothing, and a backup would be all but empty.
 */
export async function refuseDistributed(client: pg.ClientBase): Promise<void> {
  const found = await client.query<{ is_there: boolean }>(`SELECT to_regclass('${CATALOGUE}') IS NOT NULL AS is_there`);
  if (!found.rows[0]?.is_there) return;
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname::text AS name FROM ${CATALOGUE} d JOIN pg_class c ON c.oid = d.logicalrelid
     WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition ORDER BY 1`,
  );
  if (rows.length === 0) return;
  const names = rows.slice(0, NAMED_MAX).map(({ name }) => name);
  const shown = rows.length > NAMED_MAX ? `${names.join(', ')} and ${rows.length - NAMED_MAX} more` : names.join(', ');
  throw new ExitError(
    EXIT.configuration,
    `The tables of this database are distributed by Citus (${shown}), and this release does not run on such a database: it ` +
      "would see only a part of the rows. As the owner, run SELECT undistribute_table('public.…') for each of them, or use " +
      'a plain PostgreSQL server; docs/scaling.md says how. Nothing was changed.',
  );
}
