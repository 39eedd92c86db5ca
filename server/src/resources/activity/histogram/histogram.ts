import { dayOfEntry } from '../../../audit/count-queries.js';
import { formatDate } from '../../../kernel/dates.js';
import type { Database } from '../../../storage/database.js';
import { READ_BY_INDEX } from '../../../storage/in-order.js';
import type { TenantTx } from '../../../storage/scope.js';
import type { LogFilter } from '../../logs/index.js';
import { countNewestByBucket, isNobody, startOfMonth } from '../../logs/index.js';
import { DAYS_KEPT } from '../counts/sweep.js';
import type { LogHistogram } from '../schema.js';
import type { Buckets, TimeSpan } from './buckets.js';
import { bucketsOf, DAY_MS } from './buckets.js';
import { countByDay, hasActor } from './queries.js';

export interface HistogramOptions {
  readonly database: Database;
  /** How many months of the log are kept; undefined keeps them all. */
  readonly logRetentionMonths: number | undefined;
}

/** Unless dates are given. */
const DAYS_SHOWN = 30;
/** In a longer span days are short enough, and nothing is looked for in the log where the counters can tell. */
const SHORT_SPAN_MS = 7 * DAY_MS;
/** In a shorter one whole days would mostly count what was not asked for. */
const WHOLE_DAYS_MS_MIN = 2 * DAY_MS;
/** Entries that are looked at, of each kind. */
const ENTRIES_MAX = 10_000;

/** Counts by the numbers of buckets. */
interface Counted {
  readonly buckets: Buckets;
  readonly counts: ReadonlyMap<number, number>;
  /** The oldest bucket of which not all entries were looked at. */
  readonly cutIn?: number | undefined;
}

export async function histogramOf(
  { database, logRetentionMonths }: HistogramOptions,
  tenantId: string,
  filter: LogFilter,
  nowMs: number,
): Promise<LogHistogram> {
  const span = spanOf(filter, nowMs, logRetentionMonths);
  const lengthMs = span.endMs - span.startMs;
  if (span.endMs <= span.startMs || isNobody(filter)) return bodyOf({ buckets: bucketsOf(span), counts: new Map() });
  const counted = await database.readReplicated(tenantId, async (tx) => {
    const [, isCounted] = await Promise.all([tx.run(READ_BY_INDEX, []), areCountersEnough(tx, filter, span)]);
    if (isCounted && lengthMs > SHORT_SPAN_MS) return byDay(tx, filter, span);
    const newest = await inLog(tx, filter, span);
    const isTooMuch = newest.cutIn !== undefined && lengthMs >= WHOLE_DAYS_MS_MIN;
    return isCounted && isTooMuch ? byDay(tx, filter, span) : newest;
  });
  return bodyOf(counted);
}

/** Nothing in the future, nothing that is kept no more. */
function spanOf({ startMs, endMs }: LogFilter, nowMs: number, retentionMonths: number | undefined): TimeSpan {
  const end = Math.min(endMs ?? nowMs + 1, nowMs + 1);
  const kept = [
    (dayOfEntry(nowMs) - DAYS_KEPT + 1) * DAY_MS,
    ...(retentionMonths === undefined ? [] : [startOfMonth(nowMs, -retentionMonths)]),
  ];
  return { startMs: Math.max(startMs ?? end - DAYS_SHOWN * DAY_MS, ...kept), endMs: end };
}

/**
 * Counters know kinds, and actors but for sessions. Whether an actor is one nobody can see from its id: who is in no
 * counter of the time is looked for in the log, which is quick where there is nothing.
 */
async function areCountersEnough(tx: TenantTx, { entityId, actorId }: LogFilter, span: TimeSpan): Promise<boolean> {
  if (entityId !== undefined) return false;
  return actorId === undefined || hasActor(tx, actorId, daysOf(span));
}

/** Both belong to it. */
function daysOf({ startMs, endMs }: TimeSpan) {
  return { firstDay: dayOfEntry(startMs), lastDay: dayOfEntry(endMs - 1) };
}

async function byDay(tx: TenantTx, filter: LogFilter, span: TimeSpan): Promise<Counted> {
  const buckets = bucketsOf(span, DAY_MS);
  const days = await countByDay(tx, filter, daysOf(buckets));
  const counts = new Map<number, number>();
  for (const { day, count } of days) {
    const bucket = Math.floor((day * DAY_MS) / buckets.lengthMs);
    counts.set(bucket, (counts.get(bucket) ?? 0) + count);
  }
  return { buckets, counts };
}

async function inLog(tx: TenantTx, filter: LogFilter, span: TimeSpan): Promise<Counted> {
  const buckets = bucketsOf(span);
  const { startMs, endMs, lengthMs } = buckets;
  // One more tells whether there are more.
  const counts = await countNewestByBucket(tx, { ...filter, startMs, endMs }, lengthMs, ENTRIES_MAX + 1);
  const looked = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { buckets, counts, cutIn: looked > ENTRIES_MAX ? Math.min(...counts.keys()) : undefined };
}

function bodyOf({ buckets: { lengthMs, first, count }, counts, cutIn }: Counted): LogHistogram {
  const buckets = Array.from({ length: count }, (_, later) => ({
    from: formatDate((first + later) * lengthMs),
    to: formatDate((first + later + 1) * lengthMs),
    count: counts.get(first + later) ?? 0,
  }));
  return {
    bucket_seconds: lengthMs / 1_000,
    buckets,
    total: buckets.reduce((sum, bucket) => sum + bucket.count, 0),
    is_partial: cutIn !== undefined,
    ...(cutIn !== undefined && { complete_from: formatDate((cutIn + 1) * lengthMs) }),
  };
}
