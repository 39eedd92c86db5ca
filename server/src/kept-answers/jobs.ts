import type { JobRecord } from '../jobs/job-record.js';
import { MINUTE_MS } from '../jobs/job-record.js';
import type { Database } from '../storage/database.js';
import { sweepIdempotencyKeys } from './upkeep.js';

const BATCH_ROWS = 500;

export function keptAnswerJobs(database: Database): JobRecord[] {
  const step = (nowMs: number) => sweepIdempotencyKeys(database, nowMs, BATCH_ROWS);
  return [{ name: 'idempotency-keys', restMs: 10 * MINUTE_MS, step }];
}
