import { KIND_NUMBER } from '../../server/dist/audit/kind.js';
import { connectOwner } from './owner.js';

export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

export interface Filled {
  readonly span: Span;
  readonly seconds: number;
  readonly bytes: number;
}

export const MONTHS = 6;
/**
 * Half of the rows are about one application, read by one actor, so that page 400 exists under every filter also among few rows.
 * The other half is all that filters are mixed of which nothing is.
 */
export const BUSY_ENTITY = '11111111-1111-4111-8111-111111111111';
export const BUSY_ACTOR = '22222222-2222-4222-8222-222222222222';
/** So many of the oldest rows are of an operation and an outcome that no other row has. */
const RARE_ROWS = 30;

/**
 * Writes rows over six months past the product. The indexes are made anew afterwards, from their own definitions:
 * building one costs a tenth of keeping it up row by row.
 */
export async function fillLogs(
  socketDir: string,
  tenants: readonly { readonly id: string; readonly rows: number }[],
): Promise<Filled> {
  const client = await connectOwner(socketDir);
  const helper = await connectOwner(socketDir);
  try {
    const startedMs = performance.now();
    for (const each of [client, helper]) {
      await each.query(`SET synchronous_commit = off; SET maintenance_work_mem = '512MB'`);
    }
    const now = new Date();
    const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS, 1));
    await client.query('SELECT ensure_log_partitions($1, $2)', [start, MONTHS]);
    const span = { startMs: start.getTime(), endMs: now.getTime() };
    const indexes = await client.query<{ name: string; definition: string }>(
      `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
       FROM pg_index WHERE indrelid = 'logs'::regclass AND NOT indisprimary`,
    );
    for (const { name } of indexes.rows) await client.query(`DROP INDEX ${name}`);
    for (const { id, rows } of tenants) {
      // The older half of the time beside the newer one: different partitions, so neither waits for the other.
      const half = Math.floor(rows / 2);
      const fill = (by: typeof client, from: number, to: number) =>
        by.query(FILL, [id, rows, span.startMs, span.endMs, BUSY_ENTITY, from, to, BUSY_ACTOR, RARE_ROWS]);
      await Promise.all([fill(client, 1, half), fill(helper, half + 1, rows)]);
    }
    // The definition of an index on a partitioned table says ONLY, which would leave the partitions without it.
    for (const { definition } of indexes.rows) await client.query(definition.replace(' ON ONLY ', ' ON '));
    await client.query('VACUUM (ANALYZE) logs');
    await client.query('CHECKPOINT');
    const size = await client.query<{ bytes: string }>(
      `SELECT sum(pg_total_relation_size(relid)) AS bytes FROM pg_partition_tree('logs')`,
    );
    const bytes = Number(size.rows[0]?.bytes ?? 0);
    return { span, seconds: (performance.now() - startedMs) / 1_000, bytes };
  } finally {
    await Promise.all([client.end(), helper.end()]);
  }
}

const COLUMNS = 'tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message, outcome';
const FILL = `
  INSERT INTO logs (${COLUMNS}, kind) SELECT ${COLUMNS}, ${KIND_NUMBER} FROM (
    SELECT $1::uuid AS tenant_id, to_timestamp(($3::float8 + ($4::float8 - $3::float8) * n / $2::bigint) / 1000.0) AS created_at,
           gen_random_uuid() AS id, 'application' AS actor_type, 'Token retrieved' AS message,
           CASE WHEN n % 2 = 0 THEN $8::uuid ELSE $1::uuid END AS actor_id,
           CASE WHEN n % 2 = 0 THEN 'application' ELSE 'card' END AS entity_type,
           CASE WHEN n % 2 = 0 THEN $5::text ELSE gen_random_uuid()::text END AS entity_id,
           CASE WHEN n <= $9::bigint THEN 'update' WHEN n % 2 = 0 THEN 'read' ELSE 'create' END AS operation,
           CASE WHEN n <= $9::bigint THEN 'denied' WHEN n % 2 = 0 THEN 'success' ELSE 'failure' END AS outcome
    FROM generate_series($6::bigint, $7::bigint) AS n) AS given`;

/** The counters of what was written past the product, as the product would have written them. */
export async function fillLogCounts(socketDir: string, tenantId: string): Promise<void> {
  const client = await connectOwner(socketDir);
  try {
    await client.query(
      `INSERT INTO log_counts (tenant_id, day, actor_type, actor_id, entity_type, operation, outcome, slot, count)
       SELECT tenant_id, (created_at AT TIME ZONE 'UTC')::date, actor_type, actor_id, entity_type, operation, outcome, 0, count(*)
       FROM logs WHERE tenant_id = $1 AND actor_id IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7
       ON CONFLICT DO NOTHING`,
      [tenantId],
    );
  } finally {
    await client.end();
  }
}
