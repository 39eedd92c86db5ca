import type { Database } from '../storage/database.js';
import { sqlStateOf } from '../storage/faults.js';
import { statement } from '../storage/statement.js';

const ENSURE_LOG_PARTITIONS = statement<{ made: number }>(
  'ensure_log_partitions',
  'SELECT ensure_log_partitions($1, $2) AS made',
);

/**
 * Making a partition locks the whole log for a moment, and while it waits for that lock everybody else waits behind it.
 */
const ENSURE_LOG_PARTITIONS_SOON = statement<{ made: number }>(
  'ensure_log_partitions_soon',
  `SELECT ensure_log_partitions($1, $2) AS made FROM set_config('lock_timeout', '500ms', true)`,
);
const NOT_IN_TIME = '55P03';

/** Far enough that a process which restarts once a quarter never meets a month without a partition. */
const MONTHS_AHEAD = 3;

/**
 * Makes the partitions of this month and the next ones where they are missing; returns how many it made. If another
 * transaction, such as a backup, holds the log for long, it fails after a short wait, and the next run tries again.
 */
export async function ensureLogPartitions(database: Database, nowMs: number): Promise<number> {
  await database.confirmServers();
  const [row] = await database.system((tx) => tx.run(ENSURE_LOG_PARTITIONS_SOON, [new Date(nowMs), MONTHS_AHEAD]));
  return row?.made ?? 0;
}

const FIND_LOG_PARTITION = statement<{ is_there: boolean }>(
  'find_log_partition',
  'SELECT to_regclass($1) IS NOT NULL AS is_there',
);

/** A start needs only the partition of the current month; the others are made by the job, soon after. */
export async function ensureLogPartitionsToStart(database: Database, nowMs: number): Promise<void> {
  const name = `public.logs_${new Date(nowMs).toISOString().slice(0, 7).replace('-', '_')}`;
  const [found] = await database.lookUp((tx) => tx.run(FIND_LOG_PARTITION, [name]));
  if (found?.is_there) return;
  try {
    await ensureLogPartitions(database, nowMs);
  } catch (error) {
    if (sqlStateOf(error) !== NOT_IN_TIME) throw error;
    await database.system((tx) => tx.run(ENSURE_LOG_PARTITIONS, [new Date(nowMs), 0]));
  }
}

const DROP_LOG_PARTITIONS = statement<DroppedMonth>(
  'drop_log_partitions',
  `SELECT dropped AS partition, bytes::float8 AS bytes
   FROM drop_log_partitions(least($1::date,
     (date_trunc('month', now() AT TIME ZONE 'UTC') - make_interval(months => $2::int))::date))`,
);

export interface DroppedMonth {
  readonly partition: string;
  readonly bytes: number;
}

/**
 * Drops the oldest month of the log that ended more than `months` whole months before the current one; undefined when
 * there is none. Dropping cannot be undone, so the month must be over by the clock of the process and by that of the
 * database. The table goes as a whole, so it takes the same time at any size. Where the log is too busy for the lock it
 * fails, changes nothing, and the next look tries again.
 */
export async function dropOldLogMonth(
  database: Database,
  nowMs: number,
  months: number,
): Promise<DroppedMonth | undefined> {
  const now = new Date(nowMs);
  const keepFrom = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1));
  const day = keepFrom.toISOString().slice(0, 10);
  await database.confirmServers();
  const [row] = await database.retain((tx) => tx.run(DROP_LOG_PARTITIONS, [day, months]));
  return row;
}
