import { int4Array, int8Array, textArray, uuidArray } from '../storage/binary-array.js';
import { bulkWrite } from '../storage/bulk.js';
import { givenInsert } from '../storage/given.js';
import { sumBy } from '../storage/sum-by.js';
import type { Actor, AuditContext, Entry } from './entry.js';

/** As many as the counters of tokens have: a lane keeps to one, so that writers do not wait for each other on a row. */
const COUNTER_SLOTS = 8;
const DAY_MS = 86_400_000;
/** Who is no actor of its own in the counters. */
export const NO_ACTOR_ID = '00000000-0000-0000-0000-000000000000';

/** The day in UTC, counted from 1970-01-01. */
export function dayOfEntry(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

/** Entries of one kind that an actor made. */
interface EntryCount {
  readonly tenantId: string;
  readonly day: number;
  readonly actorType: string;
  readonly actorId: string;
  readonly entityType: string;
  readonly operation: string;
  readonly outcome: string;
  readonly slot: number;
  readonly count: number;
}

/**
 * Once for a transaction, right before its COMMIT. Every entry has a counter, so one that was locked earlier would be held
 * while its transaction waits for other rows, perhaps for those of somebody who waits for the counter.
 */
export const ADD_LOG_COUNTS = bulkWrite<EntryCount>(
  givenInsert('add_log_counts', {
    into: 'log_counts',
    columns: [
      ...['tenant_id uuid', 'day int', 'actor_type text', 'actor_id uuid', 'entity_type text', 'operation text'],
      ...['outcome text', 'slot int', 'count bigint'],
    ],
    made: { day: `DATE '1970-01-01' + given.day` },
    end: `ON CONFLICT (tenant_id, day, actor_type, actor_id, entity_type, operation, outcome, slot)
      DO UPDATE SET count = log_counts.count + EXCLUDED.count`,
  }),
  99,
  (rows) => {
    const sums = sumBy(rows, keyOf, ({ count }) => count, isSameKind);
    return [
      uuidArray(sums.map(({ row }) => row.tenantId)),
      int4Array(sums.map(({ row }) => row.day)),
      textArray(sums.map(({ row }) => row.actorType)),
      uuidArray(sums.map(({ row }) => row.actorId)),
      textArray(sums.map(({ row }) => row.entityType)),
      textArray(sums.map(({ row }) => row.operation)),
      textArray(sums.map(({ row }) => row.outcome)),
      int4Array(sums.map(({ row }) => row.slot)),
      int8Array(sums.map(({ sum }) => sum)),
    ];
  },
  { when: 'last' },
);

function keyOf(row: EntryCount): string {
  const { tenantId, day, actorType, actorId, entityType, operation, outcome, slot } = row;
  return `${tenantId} ${day} ${actorType} ${actorId} ${entityType} ${operation} ${outcome} ${slot}`;
}

/** What differs most often comes first. */
function isSameKind(a: EntryCount, b: EntryCount): boolean {
  return (
    a.operation === b.operation &&
    a.entityType === b.entityType &&
    a.actorId === b.actorId &&
    a.tenantId === b.tenantId &&
    a.outcome === b.outcome &&
    a.actorType === b.actorType &&
    a.day === b.day &&
    a.slot === b.slot
  );
}

/** What entries of one act add to the counters. They mostly are of one kind, and then it is a single row. */
export function countsOf(
  { tenantId, lane }: { readonly tenantId: string; readonly lane: number },
  { actor, atMs }: AuditContext,
  entries: readonly Entry[],
): EntryCount[] {
  const counts: { -readonly [K in keyof EntryCount]: EntryCount[K] }[] = [];
  for (const { event, entityType = event.entityType, outcome } of entries) {
    const { operation } = event;
    const last = counts.at(-1);
    if (last && last.entityType === entityType && last.operation === operation && last.outcome === outcome) {
      last.count += 1;
      continue;
    }
    counts.push({
      tenantId,
      day: dayOfEntry(atMs),
      actorType: actor?.type ?? '',
      actorId: countedIdOf(actor),
      entityType,
      operation,
      outcome,
      slot: lane % COUNTER_SLOTS,
      count: 1,
    });
  }
  return counts;
}

/** Sessions come and go by the thousand, and together are one actor. */
function countedIdOf(actor: Actor | undefined): string {
  return actor === undefined || actor.type === 'session' ? NO_ACTOR_ID : actor.id;
}
