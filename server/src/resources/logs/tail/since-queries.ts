import type { TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';
import type { LogRow } from '../queries.js';
import { COLUMN_NAMES } from '../queries.js';

/** An entry with the transaction that wrote it. */
export interface TailedRow extends LogRow {
  readonly xid: string;
}

/** Entries that one snapshot sees and an earlier one did not. */
export interface LogsSince {
  /** The earlier snapshot, as the database writes it, and the lowest transaction that it does not see. */
  readonly since: string;
  readonly sinceXmin: string;
  /** The later one; that of the statement itself without it. */
  readonly until: string | undefined;
  /** No entry that is new can be older. */
  readonly fromMs: number;
  readonly after: { readonly atMs: number; readonly id: string };
  readonly limit: number;
}

const TAKE_SNAPSHOT = statement<{ snapshot: string }>(
  'take_snapshot',
  'SELECT pg_current_snapshot()::text AS snapshot WHERE $1::uuid IS NOT NULL',
  // Of the server that has the tenant: the numbers of transactions are each server's own.
  'SELECT pg_current_snapshot()::text AS snapshot FROM tenants WHERE id = $1',
);

export async function takeSnapshot(tx: TenantTx): Promise<string> {
  const [row] = await tx.run(TAKE_SNAPSHOT, [tx.tenantId]);
  return row?.snapshot ?? '';
}

/** A row has the low half of the number of its transaction; whatever is seen lies below the end of the snapshot. */
const XID = '(taken.top - ((taken.top - logs.xmin::text::bigint) & 4294967295))';

const LIST_LOGS_SINCE = statement<Partial<TailedRow> & { readonly snapshot: string }>(
  'list_logs_since',
  `SELECT taken.snapshot, ${[...COLUMN_NAMES, 'xid'].map((name) => `entry.${name}`).join(', ')}
   FROM (SELECT pg_current_snapshot()::text AS snapshot,
                pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS top) AS taken
   LEFT JOIN LATERAL (
     SELECT ${COLUMN_NAMES.map((name) => `logs.${name}`).join(', ')}, ${XID}::text AS xid FROM logs
     WHERE logs.tenant_id = $1 AND logs.created_at >= $2 AND (logs.created_at, logs.id) > ($3, $4)
       AND ${XID} >= $5::bigint AND NOT pg_visible_in_snapshot(${XID}::text::xid8, $6::pg_snapshot)
       AND ($7::text IS NULL OR pg_visible_in_snapshot(${XID}::text::xid8, $7::text::pg_snapshot))
     ORDER BY logs.created_at, logs.id LIMIT $8) AS entry ON true`,
);

/** Oldest first, at most so many, with the snapshot in which they were seen. */
export async function listLogsSince(
  tx: TenantTx,
  { since, sinceXmin, until, fromMs, after, limit }: LogsSince,
): Promise<{ readonly snapshot: string; readonly rows: TailedRow[] }> {
  const place = [new Date(fromMs), new Date(after.atMs), after.id];
  const found = await tx.run(LIST_LOGS_SINCE, [tx.tenantId, ...place, sinceXmin, since, until ?? null, limit]);
  // Without an entry there is one row, with the snapshot alone.
  const rows = found.filter((row): row is TailedRow & { snapshot: string } => typeof row.id === 'string');
  return { snapshot: found[0]?.snapshot ?? '', rows };
}
