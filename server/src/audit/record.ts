import { AppError, storageUnavailable } from '../kernel/errors.js';
import { newOrderedId } from '../kernel/ids.js';
import { textArray, timestampArray, uuidArray } from '../storage/binary-array.js';
import { bulkWrite } from '../storage/bulk.js';
import type { TenantTx } from '../storage/scope.js';
import type { Value } from '../storage/statement.js';
import { statement } from '../storage/statement.js';
import type { AuditContext, Entry } from './entry.js';
import { KIND_NUMBER } from './kind.js';

interface LogInsert {
  readonly tenantId: string;
  readonly auditContext: AuditContext;
  readonly entry: Entry;
}

const INSERT_LOGS = bulkWrite<LogInsert>(
  statement(
    'insert_logs',
    `INSERT INTO logs (tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message,
                       outcome, source_address, trace_id, kind)
     SELECT tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message, outcome,
            source_address, trace_id, ${KIND_NUMBER}
     FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::uuid[], $6::text[], $7::text[], $8::text[],
                 $9::text[], $10::text[], $11::text[], $12::text[])
       AS given (tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message, outcome,
                 source_address, trace_id)`,
  ),
  90,
  columnsOf,
);

function columnsOf(rows: readonly LogInsert[]): Value[] {
  const at = rows.map(({ auditContext }) => auditContext.atMs);
  return [
    uuidArray(rows.map(({ tenantId }) => tenantId)),
    timestampArray(at),
    uuidArray(at.map(newOrderedId)),
    textArray(rows.map(({ auditContext }) => auditContext.actor?.type ?? null)),
    uuidArray(rows.map(({ auditContext }) => auditContext.actor?.id ?? null)),
    textArray(rows.map((row) => row.entry.entityType ?? row.entry.event.entityType)),
    textArray(rows.map(({ entry }) => entry.entityId)),
    textArray(rows.map(({ entry }) => entry.event.operation)),
    textArray(rows.map(({ entry }) => entry.event.message)),
    textArray(rows.map(({ entry }) => entry.outcome)),
    textArray(rows.map(({ auditContext }) => auditContext.sourceAddress ?? null)),
    textArray(rows.map(({ auditContext }) => auditContext.traceId ?? null)),
  ];
}

/**
 * Writes entries into the transaction of the change they are about: both are committed, or neither. Taking an open
 * transaction is the point; there is no other way to write an entry. Whatever keeps an entry from being written (a right
 * taken away, a month without a partition) means the log store cannot be used, and the request fails closed.
 */
export async function recordAll(tx: TenantTx, auditContext: AuditContext, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map((entry) => ({ tenantId: tx.tenantId, auditContext, entry }));
  try {
    await tx.gather(INSERT_LOGS, rows);
  } catch (error) {
    throw error instanceof AppError ? error : storageUnavailable(error);
  }
}

export async function record(tx: TenantTx, auditContext: AuditContext, entry: Entry): Promise<void> {
  await recordAll(tx, auditContext, [entry]);
}
