import type { DroppedMonth } from './audit/partitions.js';
import { dropOldLogMonth, ensureLogPartitions } from './audit/partitions.js';
import type { JobRecord } from './jobs/job-record.js';
import { HOUR_MS } from './jobs/job-record.js';
import type { Job } from './jobs/runner.js';
import { keptAnswerJobs } from './kept-answers/jobs.js';
import type { Clock } from './kernel/clock.js';
import { peopleJobs } from './people/jobs.js';
import { SLICES, TABLES } from './resources.js';
import type { Database } from './storage/database.js';
import type { Vault } from './vault/index.js';
import { vaultJobs } from './vault/index.js';

export interface BackgroundOptions {
  readonly database: Database;
  readonly vault: Pick<Vault, 'sweepExpired' | 'sweepCvcs'>;
  readonly clock: Clock;
  /** Tells what time it is for what is over; by both clocks unless told. */
  readonly timeOf?: ((databaseMs: number) => number) | undefined;
  /** How many months of the log to keep; undefined keeps them all. */
  readonly logRetentionMonths: number | undefined;
  readonly onLogsDropped: (dropped: DroppedMonth) => void;
}

/** Everything the product does without being asked: what rooms and slices declare, and the months of the log. */
export function backgroundJobs(options: BackgroundOptions): Job[] {
  const { database, clock, vault } = options;
  // A process whose clock is ahead would erase what has not ended, for good; one that is behind only waits.
  const timeOf = options.timeOf ?? ((databaseMs: number) => Math.min(clock.nowMs(), databaseMs));
  const records: readonly JobRecord[] = [
    ...SLICES.flatMap(({ jobs }) => jobs?.({ database, tables: TABLES }) ?? []),
    ...vaultJobs(vault),
    ...keptAnswerJobs(database),
    ...peopleJobs(database),
    { name: 'log-partitions', restMs: HOUR_MS, step: (nowMs) => turnMonths(options, nowMs) },
  ];
  return records.map(({ name, restMs, step }) => ({
    name,
    restMs,
    step: ({ databaseMs }) => step(timeOf(databaseMs)),
  }));
}

/** Months of the log come and go in one job: each job at work holds a connection of its own for its lock. */
async function turnMonths(options: BackgroundOptions, nowMs: number): Promise<number> {
  const { database, logRetentionMonths } = options;
  const made = await ensureLogPartitions(database, nowMs);
  if (logRetentionMonths === undefined) return made;
  const dropped = await dropOldLogMonth(database, nowMs, logRetentionMonths);
  if (dropped === undefined) return made;
  options.onLogsDropped(dropped);
  return made + 1;
}
