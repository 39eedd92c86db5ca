import type { DroppedMonth } from './audit/partitions.js';
import { dropOldLogMonth, ensureLogPartitions } from './audit/partitions.js';
import type { Expressions } from './expressions/expressions.js';
import type { Job } from './jobs/runner.js';
import { sweepIdempotencyKeys } from './kept-answers/upkeep.js';
import type { Clock } from './kernel/clock.js';
import { sweepApplications, sweepEndedKeys } from './resources/applications/index.js';
import { sweepSessions } from './resources/sessions/index.js';
import { purgeOneBatch } from './resources/tenants/index.js';
import type { Opener } from './resources/tokens/index.js';
import { sweepCvcs, sweepExpiredTokens } from './resources/tokens/index.js';
import type { Database } from './storage/database.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const BATCH_ROWS = 500;

export interface BackgroundOptions {
  readonly database: Database;
  readonly opener: Opener;
  readonly expressions: Expressions;
  readonly clock: Clock;
  /** Tells what time it is for what is over; by both clocks unless told. */
  readonly timeOf?: ((databaseMs: number) => number) | undefined;
  /** How many months of the log to keep; undefined keeps them all. */
  readonly logRetentionMonths: number | undefined;
  readonly onLogsDropped: (dropped: DroppedMonth) => void;
}

/** Everything the product does without being asked, and how often it looks for it. */
export function backgroundJobs(options: BackgroundOptions): Job[] {
  const { database, clock } = options;
  // A process whose clock is ahead would erase what has not ended, for good; one that is behind only waits.
  const timeOf = options.timeOf ?? ((databaseMs: number) => Math.min(clock.nowMs(), databaseMs));
  const job = (name: string, restMs: number, step: (nowMs: number) => Promise<number>): Job => ({
    name,
    restMs,
    step: ({ databaseMs }) => step(timeOf(databaseMs)),
  });
  return [
    job('purge', 5 * SECOND_MS, (nowMs) => purgeOneBatch(database, nowMs)),
    job('token-expiry', 5 * SECOND_MS, (nowMs) => sweepExpiredTokens(options, nowMs)),
    job('cvc-removal', 5 * SECOND_MS, (nowMs) => sweepCvcs(options, nowMs)),
    job('application-expiry', 5 * SECOND_MS, (nowMs) => sweepAccess(database, nowMs)),
    job('session-expiry', MINUTE_MS, (nowMs) => sweepSessions(database, nowMs)),
    job('idempotency-keys', 10 * MINUTE_MS, (nowMs) => sweepIdempotencyKeys(database, nowMs, BATCH_ROWS)),
    job('log-partitions', HOUR_MS, (nowMs) => turnMonths(options, nowMs)),
  ];
}

/** Applications and keys in one job, for the same reason as below. */
async function sweepAccess(database: Database, nowMs: number): Promise<number> {
  return (await sweepApplications(database, nowMs)) + (await sweepEndedKeys(database, nowMs));
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
