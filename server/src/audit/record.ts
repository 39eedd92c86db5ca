import { AppError, storageUnavailable } from '../kernel/errors.js';
import { newOrderedId } from '../kernel/ids.js';
import type { TenantTx } from '../storage/scope.js';
import { statement } from '../storage/statement.js';
import type { Act, Entry } from './entry.js';
import { EVENTS } from './events.js';

const INSERT_LOG = statement<never>(
  'insert_log',
  `INSERT INTO logs (tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message,
                     outcome, source_address, trace_id)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
);

/**
 * Writes one entry into the transaction of the change it is about: both are committed, or neither. Taking an open
 * transaction is the point; there is no other way to write an entry. Whatever keeps an entry from being written (a right
 * taken away, a month without a partition) means the log store cannot be used, and the request fails closed.
 */
export async function record(tx: TenantTx, act: Act, entry: Entry): Promise<void> {
  const event = EVENTS[entry.event];
  const values = [
    tx.tenantId,
    new Date(act.atMs),
    newOrderedId(act.atMs),
    act.actor?.type ?? null,
    act.actor?.id ?? null,
    entry.entityType ?? event.entityType,
    entry.entityId,
    event.operation,
    event.message,
    entry.outcome,
    act.sourceAddress ?? null,
    act.traceId ?? null,
  ];
  try {
    await tx.run(INSERT_LOG, values);
  } catch (error) {
    throw error instanceof AppError ? error : storageUnavailable(error);
  }
}
