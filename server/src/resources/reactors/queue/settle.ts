import type { AuditContext } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import type { TenantKeys } from '../../../crypto/tenant-keys.js';
import type { AppError } from '../../../kernel/errors.js';
import type { Database } from '../../../storage/database.js';
import type { TenantTx } from '../../../storage/scope.js';
import { REACTOR_EVENTS } from '../events.js';
import type { InvocationResult } from '../run/invocation.js';
import type { Settlement, StoredFailure } from './claim-queries.js';
import { concludeRun, settleRequest } from './claim-queries.js';
import type { RequestContent } from './content.js';
import { sealRequest } from './content.js';
import type { HeldRequest } from './held-request.js';
import type { QueueTime } from './queue-time.js';
import { storedResultOf } from './result.js';

/** How long a result can be fetched, and how long one that failed can be tried again. */
export const RESULT_KEPT_MS = 86_400_000;
export const FAILED_KEPT_MS = 7 * RESULT_KEPT_MS;

export interface SettleOptions {
  readonly database: Database;
  readonly time: QueueTime;
}

/** A request opened for a run. */
export interface OpenedRequest {
  readonly held: HeldRequest;
  readonly keys: TenantKeys;
  readonly content: RequestContent;
}

/** Writes the result of a run; it never runs again. False where somebody else has the request, or nobody. */
export async function writeResult(
  { time }: SettleOptions,
  { held, keys, content }: OpenedRequest,
  tx: TenantTx,
  result: InvocationResult,
): Promise<boolean> {
  const { row, lease } = held;
  const nowMs = time.nowMs();
  const version = row.version + 1;
  const { callbackUrl } = content;
  const isSent = callbackUrl !== undefined;
  return concludeRun(
    tx,
    { id: row.id, lease },
    {
      state: isSent ? 'delivering' : 'done',
      hasRun: true,
      endedAt: new Date(nowMs),
      expiresAt: isSent ? undefined : new Date(nowMs + RESULT_KEPT_MS),
      failure: undefined,
      version,
      // The arguments are not needed any more.
      sealed: sealRequest(keys, { ...row, version }, { callbackUrl, result: storedResultOf(result) }),
    },
  );
}

/** The end of one that could not be run: its refusal is its result, and it can be tried again as it was asked for. */
export async function writeDeadLetter(
  { database, time }: SettleOptions,
  { held, keys, content }: OpenedRequest,
  failure: AppError,
): Promise<void> {
  const { row, lease } = held;
  const nowMs = time.nowMs();
  const version = row.version + 1;
  const conclusion = {
    state: 'failed',
    hasRun: false,
    endedAt: new Date(nowMs),
    expiresAt: new Date(nowMs + FAILED_KEPT_MS),
    failure: { code: failure.code, status: failure.status },
    version,
    sealed: sealRequest(keys, { ...row, version }, { ...content, result: storedResultOf({ failure }) }),
  } as const;
  await database.write(row.tenant_id, (tx) => concludeRun(tx, { id: row.id, lease }, conclusion));
}

async function settle({ database }: SettleOptions, { row, lease }: HeldRequest, settlement: Settlement): Promise<void> {
  await database.write(row.tenant_id, (tx) => settleRequest(tx, { id: row.id, lease }, settlement));
}

/** Lets another process have it at once; it does not count as a try. */
export async function giveBack(options: SettleOptions, held: HeldRequest): Promise<void> {
  const state = held.row.state === 'delivering' ? 'delivering' : 'queued';
  await settle(options, held, { state, dueAt: new Date(options.time.nowMs()), isUncounted: true });
}

export async function postpone(
  options: SettleOptions,
  held: HeldRequest,
  delayMs: number,
  failure: StoredFailure,
): Promise<void> {
  const state = held.row.state === 'delivering' ? 'delivering' : 'queued';
  await settle(options, held, { state, dueAt: new Date(options.time.nowMs() + delayMs), failure });
}

/** With what it holds as it is: it can be tried again. */
export async function failAsItIs(options: SettleOptions, held: HeldRequest, failure: StoredFailure): Promise<void> {
  const nowMs = options.time.nowMs();
  const expiresAt = new Date(nowMs + FAILED_KEPT_MS);
  await settle(options, held, { state: 'failed', dueAt: new Date(nowMs), expiresAt, failure });
}

export async function markDelivered(options: SettleOptions, held: HeldRequest): Promise<void> {
  const nowMs = options.time.nowMs();
  await settle(options, held, { state: 'done', dueAt: new Date(nowMs), expiresAt: new Date(nowMs + RESULT_KEPT_MS) });
}

/** What the log says of a run that was refused before it began, or whose result nobody wants. */
export async function recordNotRun(tx: TenantTx, auditContext: AuditContext, reactorId: string): Promise<void> {
  await record(tx, auditContext, { event: REACTOR_EVENTS.failed, entityId: reactorId, outcome: 'failure' });
}
