import type pg from 'pg';
import { EXIT, ExitError } from '../../kernel/exit.js';

/** A step of a plan that was carried out, as EXPLAIN tells it. */
interface Step {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Step[];
}

/** By these every row is looked at, once and by one process: an index would leave out what a policy hides without a word. */
export const COUNT_SETTINGS = `
  SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off;
  SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off`;

/** The table itself, or its parts. */
const LIST_PARTS = `
  SELECT c.relname::text AS name FROM pg_partition_tree(to_regclass($1)) t JOIN pg_class c ON c.oid = t.relid WHERE t.isleaf
  UNION
  SELECT c.relname::text FROM pg_class c WHERE c.oid = to_regclass($1) AND c.relkind = 'r'`;

/**
 * How many rows the snapshot has, told apart from how many this login is shown: row-level security does not say what it hides,
 * but a plan says how many rows its filters took away. Throws unless the login is shown all of them. A server that keeps the
 * rows elsewhere looks at none here, and is refused too.
 */
export async function countEveryRow(client: pg.ClientBase, name: string): Promise<number> {
  const parts = (await client.query<{ name: string }>(LIST_PARTS, [`public."${name}"`])).rows;
  const { rows } = await client.query<{ 'QUERY PLAN': readonly { readonly Plan: Step }[] }>(
    `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) SELECT FROM "${name}"`,
  );
  const scans = stepsOf(rows[0]?.['QUERY PLAN'][0]?.Plan).filter(
    (step) => step['Node Type'] === 'Seq Scan' && step['Actual Loops'] === 1,
  );
  let shown = 0;
  let hidden = 0;
  for (const part of parts) {
    const scan = scans.find((step) => step['Relation Name'] === part.name);
    if (scan === undefined) throw notAllShown(name, 'cannot even be counted');
    shown += Number(scan['Actual Rows']);
    hidden += Number(scan['Rows Removed by Filter'] ?? 0);
  }
  if (hidden > 0) throw notAllShown(name, `are ${shown + hidden}, of which ${shown} are shown`);
  return shown;
}

/** After the copy, which has to be of the same rows. */
export function refuseFewerRows(name: string, copied: number, counted: number): void {
  if (copied !== counted) throw notAllShown(name, `are ${counted}, of which ${copied} were copied`);
}

function stepsOf(step: Step | undefined): Step[] {
  return step === undefined ? [] : [step, ...(step.Plans ?? []).flatMap(stepsOf)];
}

function notAllShown(name: string, story: string): ExitError {
  return new ExitError(
    EXIT.configuration,
    `A backup would leave out rows of ${name}: they ${story}. Something hides rows from this login, most often a policy named ` +
      'backup that is not as strongroom migrate made it. Put it back, or back up as a superuser. Nothing was kept.',
  );
}
