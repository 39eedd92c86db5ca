import type pg from 'pg';
import type { Cluster } from '../cluster.js';
import type { ExpectedEntry, Operation } from '../journal.js';
import { outcomeOf } from '../journal.js';

/** A row of the audit log, as the database has it. */
export interface Entry {
  readonly tenantId: string;
  readonly operation: string;
  readonly entityType: string;
  readonly entityId: string;
  readonly trace: string;
}

/** The entries of a round, by the operation that left them. */
export type EntriesOf = ReadonlyMap<string, readonly Entry[]>;

/** Reads them without that of a search itself, which is committed before those of the tokens it shows. */
export async function readEntries(client: pg.Client, roundId: string): Promise<EntriesOf> {
  const { rows } = await client.query<Record<string, string>>(
    `SELECT tenant_id, operation, entity_type, entity_id, trace_id FROM logs
     WHERE starts_with(trace_id, $1) AND NOT (operation = 'search' AND entity_id = '*')`,
    [`${roundId}-`],
  );
  const entries = new Map<string, Entry[]>();
  for (const row of rows) {
    const trace = row.trace_id ?? '';
    const entry = {
      tenantId: row.tenant_id ?? '',
      operation: row.operation ?? '',
      entityType: row.entity_type ?? '',
      entityId: row.entity_id ?? '',
      trace,
    };
    // All attempts of an operation count as one.
    const id = trace.slice(0, trace.lastIndexOf('.'));
    const known = entries.get(id);
    if (known) known.push(entry);
    else entries.set(id, [entry]);
  }
  return entries;
}

/** It took place: the answer said so, or the log does. */
export function tookPlace(operation: Operation, entries: EntriesOf): boolean {
  return outcomeOf(operation) === 'acknowledged' || (entries.get(operation.id)?.length ?? 0) > 0;
}

/** Acknowledged: exactly its entries. Refused: none. Unknown: all or none. */
export function checkEntries(
  cluster: Cluster,
  operations: readonly Operation[],
  entries: EntriesOf,
  violate: (text: string) => void,
): void {
  const known = new Set(operations.map(({ id }) => id));
  for (const id of entries.keys()) if (!known.has(id)) violate(`${id}: entries of an operation nobody sent`);
  for (const operation of operations) {
    const found = entries.get(operation.id) ?? [];
    const outcome = outcomeOf(operation);
    const say = (text: string): void => {
      const notes = operation.attempts.map(({ node, note }) => `node ${node}: ${note}`).join(', ');
      const words = found.map((entry) => `${entry.operation} ${entry.entityType} ${entry.trace}`);
      violate(
        `${operation.id} ${operation.kind} ${outcome} (${notes}): ${text}; entries: ${words.join(', ') || 'none'}`,
      );
    };
    if (found.some(({ tenantId }) => tenantId !== cluster.tenants[operation.tenant]?.id))
      say('in the log of another tenant');
    if (outcome === 'refused' && found.length > 0) say('refused, but in the log');
    if (outcome === 'refused' || (outcome === 'unknown' && found.length === 0)) continue;
    if (!isWhole(operation, found)) say(outcome === 'unknown' ? 'half in the log' : 'not in the log as acknowledged');
  }
}

function isWhole(operation: Operation, found: readonly Entry[]): boolean {
  const { expected, disclosure } = operation;
  if (expected === undefined) {
    const ids = new Set(found.map(({ entityId }) => entityId));
    return ids.size === found.length && found.every((entry) => entry.operation === disclosure);
  }
  const open = [...found];
  for (const wanted of withLearnedIds(operation, expected)) {
    const place = open.findIndex(
      (entry) =>
        entry.operation === wanted.operation &&
        entry.entityType === wanted.entityType &&
        (wanted.entityId === undefined || wanted.entityId === entry.entityId),
    );
    if (place === -1) return false;
    open.splice(place, 1);
  }
  return open.length === 0;
}

/** What a create could not know before its answer, it knows now. */
function withLearnedIds(operation: Operation, expected: readonly ExpectedEntry[]): readonly ExpectedEntry[] {
  return expected.map((entry, n) => {
    const id = operation.entities[n]?.id;
    return entry.entityId === undefined && id !== undefined ? { ...entry, entityId: id } : entry;
  });
}
