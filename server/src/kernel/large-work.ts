import type { ByteBudget } from './byte-budget.js';
import { createByteBudget } from './byte-budget.js';
import { systemClock } from './clock.js';
import type { PacedWork, PacedWorkOptions } from './paced-work.js';
import { createPacedWork } from './paced-work.js';

/** What requests on large values share. */
export interface LargeWork {
  /** Bytes they hold, by tenant. */
  readonly bytes: ByteBudget;
  readonly paced: PacedWork;
  /** Requests that hold a share or wait for one. */
  readonly requests: () => number;
}

const BYTES_MAX = 50_331_648;
const TENANT_BYTES_MAX = BYTES_MAX / 2;
const WAITING_MAX = 64;
const TENANT_WAITING_MAX = 32;
const WAIT_MAX_MS = 5_000;

export function createLargeWork(options: Partial<PacedWorkOptions> = {}): LargeWork {
  const bytes = createByteBudget({
    bytesMax: BYTES_MAX,
    ownerBytesMax: TENANT_BYTES_MAX,
    waitingMax: WAITING_MAX,
    ownerWaitingMax: TENANT_WAITING_MAX,
    waitMaxMs: WAIT_MAX_MS,
  });
  return {
    bytes,
    requests: () => bytes.shares() + bytes.waiting(),
    paced: createPacedWork({ clock: systemClock, isContended: () => false, ...options }),
  };
}

/**
 * Runs a step of a request that takes milliseconds on large values. A request that holds a share of memory takes turns with
 * the others of its kind, and with a pause behind each step; any other runs the step at once.
 */
export function paceLarge<Output>(
  { paced }: Pick<LargeWork, 'paced'>,
  tenantId: string,
  holder: { readonly held: readonly unknown[] | undefined } | undefined,
  step: () => Output,
): Output | Promise<Output> {
  return holder?.held === undefined ? step() : paced.run(tenantId, step);
}
