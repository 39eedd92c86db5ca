import type { TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

const FIND = statement<{ tried: number; is_reported: boolean }>(
  'find_search_tries',
  `SELECT tried, is_reported FROM search_tries
   WHERE tenant_id = $1 AND application_id = $2 AND day >= $3::date LIMIT 1`,
);

/** How many values an Application has tried on a day; undefined before the first. */
export async function findTries(
  tx: TenantTx,
  applicationId: string,
  day: string,
): Promise<{ readonly tried: number; readonly is_reported: boolean } | undefined> {
  const [row] = await tx.run(FIND, [tx.tenantId, applicationId, day]);
  return row;
}

/** A server whose clock is behind counts on for the later day. */
const ADD = statement<{ tried: number }>(
  'add_search_tries',
  `INSERT INTO search_tries (tenant_id, application_id, day, tried) VALUES ($1, $2, $3::date, $4::integer)
   ON CONFLICT (tenant_id, application_id) DO UPDATE
     SET day = greatest(search_tries.day, EXCLUDED.day),
       tried = CASE WHEN search_tries.day < EXCLUDED.day THEN EXCLUDED.tried ELSE search_tries.tried + EXCLUDED.tried END,
       is_reported = search_tries.is_reported AND search_tries.day >= EXCLUDED.day
     WHERE (search_tries.day < EXCLUDED.day OR search_tries.tried + EXCLUDED.tried <= $5::integer)
   RETURNING tried`,
);

export interface AddedTries {
  readonly applicationId: string;
  readonly day: string;
  readonly count: number;
  /** Values that may be tried in a day. */
  readonly most: number;
}

/** Adds to the count of the day, unless it would be above the most. Returns whether it was added. */
export async function addTries(tx: TenantTx, { applicationId, day, count, most }: AddedTries): Promise<boolean> {
  const added = await tx.run(ADD, [tx.tenantId, applicationId, day, count, most]);
  return added.length > 0;
}

const REPORT = statement<{ tried: number }>(
  'report_search_tries',
  `INSERT INTO search_tries (tenant_id, application_id, day, tried, is_reported)
     VALUES ($1, $2, $3::date, 0, true)
   ON CONFLICT (tenant_id, application_id) DO UPDATE
     SET day = greatest(search_tries.day, EXCLUDED.day), is_reported = true,
       tried = CASE WHEN search_tries.day < EXCLUDED.day THEN 0 ELSE search_tries.tried END
     WHERE (search_tries.day < EXCLUDED.day OR NOT search_tries.is_reported)
   RETURNING tried`,
);

/** Notes that the bound of the day was reached. Returns whether this is the first time. */
export async function reportTries(tx: TenantTx, applicationId: string, day: string): Promise<boolean> {
  const reported = await tx.run(REPORT, [tx.tenantId, applicationId, day]);
  return reported.length > 0;
}
