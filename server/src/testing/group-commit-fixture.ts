import assert from 'node:assert/strict';
import { AppError } from '../kernel/errors.js';
import { translateDriverFault } from '../storage/faults.js';
import type { GroupCommitOptions, Member } from '../storage/group-commit.js';
import { GroupCommit } from '../storage/group-commit.js';
import { createFakeClock } from './fake-clock.js';

export interface Batch {
  readonly tenants: string[];
  readonly lane: number;
  commit(): void;
  fail(error: unknown): void;
}

export const WAIT_MAX_MS = 5_000;
const nothing = async (): Promise<void> => {};

/** Lets everything that can go on without outside help go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
}

/** A commit queue over a store that the test answers for. The value of a member is its tenant. */
export function createQueue(options: Partial<GroupCommitOptions> = {}) {
  const clock = createFakeClock(0);
  const batches: Batch[] = [];
  const runBatch = (members: readonly Member[], lane: number): Promise<unknown[]> =>
    new Promise((resolve, reject) => {
      const tenants = members.map(({ tenantId }) => tenantId);
      batches.push({ tenants, lane, commit: () => resolve(tenants), fail: reject });
    });
  const queue = new GroupCommit({
    runBatch,
    clock,
    lanes: 1,
    batchMax: 10,
    queueMax: 10,
    queueOfTenantMax: 10,
    waitMaxMs: WAIT_MAX_MS,
    ...options,
  });
  return { queue, clock, batches, submit: (tenantId: string) => queue.submit(tenantId, nothing) };
}

export function at(batches: readonly Batch[], index: number): Batch {
  const batch = batches[index];
  assert.ok(batch, `batch ${index} was not run`);
  return batch;
}

/** As the database reports them: the driver's fault, translated. */
export function conflict(): unknown {
  return translateDriverFault(Object.assign(new Error('serialization failure'), { code: '40001', severity: 'ERROR' }));
}

export function outage(): unknown {
  return translateDriverFault(new Error('connection reset'));
}

export const isOverloaded = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'overloaded' && error.headers['Retry-After'] === '1';
export const isUnavailable = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'storage_unavailable';
