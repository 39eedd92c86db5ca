import type { Database } from '../storage/database.js';
import { statement } from '../storage/statement.js';

const ENSURE_LOG_PARTITIONS = statement<{ made: number }>(
  'ensure_log_partitions',
  'SELECT ensure_log_partitions($1, $2) AS made',
);

/** Far enough that a process which restarts once a quarter never meets a month without a partition. */
const MONTHS_AHEAD = 3;

/** Makes the partitions of this month and the next ones where they are missing; returns how many it made. */
export async function ensureLogPartitions(database: Database, nowMs: number): Promise<number> {
  const [row] = await database.system((tx) => tx.run(ENSURE_LOG_PARTITIONS, [new Date(nowMs), MONTHS_AHEAD]));
  return row?.made ?? 0;
}
