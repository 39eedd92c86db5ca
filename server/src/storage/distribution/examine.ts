import type pg from 'pg';
import { EXIT, ExitError } from '../../kernel/exit.js';
import type { SchemaTable } from './plan.js';
import { isOurs, planDistribution } from './plan.js';

/** Citus keeps a row here for every table that it has spread, or has put in its charge; anybody may read it. */
const CATALOGUE = 'pg_dist_partition';
const NAMED_MAX = 3;
/** It stays on the coordinator, and Citus knows of it once everything else is done. */
export const DIRECTORY = 'credential_directory';

/** Whether Citus has spread a table of ours over servers, and what it has not spread yet. */
export interface Distribution {
  readonly isDistributed: boolean;
  readonly missing: readonly string[];
}

const NONE: Distribution = { isDistributed: false, missing: [] };

export async function findDistribution(client: pg.ClientBase): Promise<Distribution> {
  const found = await client.query<{ is_there: boolean }>(`SELECT to_regclass('${CATALOGUE}') IS NOT NULL AS is_there`);
  if (!found.rows[0]?.is_there) return NONE;
  // Tables that somebody else has put beside ours are left alone.
  const tables = (await readTables(client)).filter((table) => table.is_distributed || isOurs(table));
  if (!tables.some(({ is_distributed }) => is_distributed)) return NONE;
  // What a run does last, so that one that was interrupted is not taken for a whole one.
  const unknown = tables.filter(({ name, is_distributed }) => name === DIRECTORY && !is_distributed);
  const missing = [...planDistribution(tables).map(({ table }) => table), ...unknown.map(({ name }) => name)];
  return { isDistributed: true, missing };
}

/** As `findDistribution`; a database that is half distributed is refused, because half of its rows would not be seen. */
export async function isWhollyDistributed(client: pg.ClientBase): Promise<boolean> {
  const { isDistributed, missing } = await findDistribution(client);
  if (!isDistributed || missing.length === 0) return isDistributed;
  const names = missing.slice(0, NAMED_MAX);
  const rest = missing.length > NAMED_MAX ? ` and ${missing.length - NAMED_MAX} more` : '';
  throw new ExitError(
    EXIT.configuration,
    `Citus has spread some of the tables of this database and not others (${names.join(', ')}${rest}). ` +
      'Run strongroom migrate --distribute citus again, which goes on where it stopped. Nothing was changed.',
  );
}

/** A backup reads the tables as one moment has them, and the servers of a distributed database share no moment. */
export async function refuseDistributedBackup(client: pg.ClientBase): Promise<void> {
  if (!(await findDistribution(client)).isDistributed) return;
  throw new ExitError(
    EXIT.configuration,
    'Citus has spread the tables of this database over servers, which share no moment that a backup of this kind could be of. ' +
      'Back the servers up themselves, with a restore point that is one for all of them; docs/scaling.md says how. ' +
      'Nothing was changed.',
  );
}

export async function readTables(client: pg.ClientBase): Promise<SchemaTable[]> {
  const { rows } = await client.query<SchemaTable>(
    `SELECT c.relname AS name,
            EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id') AS has_tenant,
            ARRAY(SELECT DISTINCT t.relname::text FROM pg_constraint k JOIN pg_class t ON t.oid = k.confrelid
                  WHERE k.conrelid = c.oid AND k.contype = 'f' ORDER BY 1) AS targets,
            EXISTS (SELECT FROM ${CATALOGUE} d WHERE d.logicalrelid = c.oid) AS is_distributed
     FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
     ORDER BY c.relname`,
  );
  return rows;
}
