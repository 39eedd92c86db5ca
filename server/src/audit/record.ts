import { AppError, storageUnavailable } from '../kernel/errors.js';
import { orderedIdArray, textArray, timestampArray, uuidArray } from '../storage/binary-array.js';
import { bulkWrite } from '../storage/bulk.js';
import { givenInsert } from '../storage/given.js';
import type { TenantTx } from '../storage/scope.js';
import type { Value } from '../storage/statement.js';
import { ADD_LOG_COUNTS, countsOf } from './count-queries.js';
import type { AuditContext, Entry } from './entry.js';
import { KIND_NUMBER } from './kind.js';

interface LogInsert {
  readonly tenantId: string;
  readonly auditContext: AuditContext;
  readonly entry: Entry;
}

const COLUMNS = [
  ...['tenant_id uuid', 'created_at timestamptz', 'id uuid', 'actor_type text', 'actor_id uuid', 'entity_type text'],
  ...['entity_id text', 'operation text', 'message text', 'outcome text', 'source_address text', 'trace_id text'],
];
/** Behind what entries are about. */
const ORDER = 90;

const INSERT_LOGS = bulkWrite<LogInsert>(
  givenInsert('insert_logs', { into: 'logs', columns: COLUMNS, made: { kind: KIND_NUMBER } }),
  ORDER,
  columnsOf,
);

/** A statement of its own for entries with a version or changes, because hardly any entry has them. */
const INSERT_DETAILED_LOGS = bulkWrite<LogInsert>(
  givenInsert('insert_detailed_logs', {
    into: 'logs',
    columns: [...COLUMNS, 'entity_version text', 'changes text'],
    made: {
      entity_version: 'given.entity_version::integer',
      changes: 'given.changes::jsonb',
      kind: KIND_NUMBER,
    },
  }),
  ORDER,
  (rows) => [
    ...columnsOf(rows),
    textArray(rows.map(({ entry }) => entry.entityVersion?.toString() ?? null)),
    textArray(rows.map(({ entry }) => (entry.changes === undefined ? null : JSON.stringify(entry.changes)))),
  ],
);

function columnsOf(rows: readonly LogInsert[]): Value[] {
  const at = rows.map(({ auditContext }) => auditContext.atMs);
  return [
    uuidArray(rows.map(({ tenantId }) => tenantId)),
    timestampArray(at),
    orderedIdArray(at),
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
export function recordAll(tx: TenantTx, auditContext: AuditContext, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return Promise.resolve();
  const plain: LogInsert[] = [];
  const detailed: LogInsert[] = [];
  for (const entry of entries) {
    const rows = entry.entityVersion === undefined && entry.changes === undefined ? plain : detailed;
    rows.push({ tenantId: tx.tenantId, auditContext, entry });
  }
  // It comes last, so there is nothing of it to wait for here.
  void tx.gather(ADD_LOG_COUNTS, countsOf(tx, auditContext, entries));
  return insert(tx, plain, detailed).then(nothing, failClosed);
}

function insert(tx: TenantTx, plain: readonly LogInsert[], detailed: readonly LogInsert[]): Promise<unknown> {
  if (detailed.length === 0) return tx.gather(INSERT_LOGS, plain);
  if (plain.length === 0) return tx.gather(INSERT_DETAILED_LOGS, detailed);
  return Promise.all([tx.gather(INSERT_LOGS, plain), tx.gather(INSERT_DETAILED_LOGS, detailed)]);
}

function nothing(): void {}

function failClosed(error: unknown): never {
  throw error instanceof AppError ? error : storageUnavailable(error);
}

export function record(tx: TenantTx, auditContext: AuditContext, entry: Entry): Promise<void> {
  return recordAll(tx, auditContext, [entry]);
}
