import { authorize } from '../../../access/authorize.js';
import type { KnownPrincipals } from '../../../access/known-principals.js';
import type { AnswerHolder, AuditContext } from '../../../audit/entry.js';
import type { Clock } from '../../../kernel/clock.js';
import { AppError } from '../../../kernel/errors.js';
import type { Conclude, Invocation, Invoke } from '../run/invocation.js';
import { delayAfter, RUN_DELAYS_MS } from './backoff.js';
import type { HeldRequest } from './held-request.js';
import type { RequestOpener } from './open-request.js';
import type { RequestFacts } from './queries.js';
import type { QueueCounters } from './queue-figures.js';
import type { OpenedRequest, SettleOptions } from './settle.js';
import { failAsItIs, giveBack, postpone, recordNotRun, writeDeadLetter, writeResult } from './settle.js';

export interface RunRequestOptions extends SettleOptions {
  readonly clock: Clock;
  readonly principals: KnownPrincipals;
  readonly invoke: Invoke;
  readonly open: RequestOpener;
  readonly count: QueueCounters;
  /** A fault of ours. */
  readonly onFault: (error: unknown) => void;
  /** There may be a callback to deliver. */
  readonly onConcluded: () => void;
}

/** Somebody else has the request, or nobody: what was to be written with its result is not written either. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

const TRIES_MAX = RUN_DELAYS_MS.length + 1;
/** What the log has an entry for already when a run is refused with it. */
const RECORDED: ReadonlySet<string> = new Set(['payload_too_large']);

/** Runs one, and writes down what came of it: its result, when to try again, or that it failed. */
export async function runRequest(options: RunRequestOptions, held: HeldRequest): Promise<void> {
  if (held.signal.aborted) return handBack(options, held);
  const opened = await options.open(held.row);
  if (opened instanceof AppError) return failAsItIs(options, held, opened);
  const request: OpenedRequest = { held, ...opened };
  // Nobody wrote what became of the tries before: each time the process ended.
  if (held.row.tries > TRIES_MAX) return writeDeadLetter(options, request, broughtDown());
  const holder: AnswerHolder = { held: undefined };
  const auditContext = auditContextOf(options, held.row, holder);
  try {
    await invokeRequest(options, request, auditContext);
    if (held.isGivenUp()) await giveBack(options, held);
    else options.count.run('concluded');
  } catch (error) {
    await settleRefused(options, request, auditContext, error);
  } finally {
    for (const release of holder.held ?? []) release();
  }
  options.onConcluded();
}

async function invokeRequest(
  options: RunRequestOptions,
  request: OpenedRequest,
  auditContext: AuditContext,
): Promise<void> {
  const { row, signal } = request.held;
  const principal = await principalOf(options.principals, row);
  authorize(principal, { permission: 'token:use', admits: ['application', 'session'] });
  const conclude: Conclude = async (tx, result) => {
    if (request.held.isGivenUp() && result.failure) return;
    const isWritten = await writeResult(options, request, tx, result);
    // Of a failure the log entry stays; an answer takes its tokens along.
    if (!isWritten && result.answer) throw new LeaseLost('the request is not held any more');
  };
  await options.invoke(
    {
      ...{ principal, auditContext, signal, args: request.content.args ?? {} },
      ...{ reactorId: row.reactor_id, requestId: row.id, attempt: row.attempt, deadlineMs: row.timeout_ms },
    },
    conclude,
  );
}

/** What kept it from running: a refusal is its result, anything else may be over the next time. */
async function settleRefused(
  options: RunRequestOptions,
  request: OpenedRequest,
  auditContext: AuditContext,
  error: unknown,
): Promise<void> {
  const { held } = request;
  const { tenant_id: tenantId, reactor_id: reactorId, tries } = held.row;
  if (error instanceof LeaseLost) {
    await options.database.write(tenantId, (tx) => recordNotRun(tx, auditContext, reactorId));
    return;
  }
  if (held.signal.aborted) return handBack(options, held);
  if (!(error instanceof AppError)) options.onFault(error);
  const failure = error instanceof AppError ? error : internalError();
  if (failure.status < 500) {
    await options.database.write(tenantId, async (tx) => {
      const isWritten = await writeResult(options, request, tx, { failure });
      if (isWritten && !RECORDED.has(failure.code)) await recordNotRun(tx, auditContext, reactorId);
    });
    options.count.run('concluded');
    return;
  }
  const delayMs = delayAfter(RUN_DELAYS_MS, tries);
  options.count.run(delayMs === undefined ? 'failed' : 'postponed');
  if (delayMs === undefined) await writeDeadLetter(options, request, failure);
  else await postpone(options, held, delayMs, failure);
}

async function handBack(options: RunRequestOptions, held: HeldRequest): Promise<void> {
  if (held.isGivenUp()) await giveBack(options, held);
}

/** Whoever asked, with the rights of now. */
async function principalOf(principals: KnownPrincipals, row: RequestFacts): Promise<Invocation['principal']> {
  const { tenant_id: tenantId, actor_type: type, actor_id: id } = row;
  const found =
    type === 'session' ? await principals.session(tenantId, id) : await principals.application(tenantId, id);
  if (!found) throw new AppError('invalid_api_key', 'The API key it was asked for with is not valid any more.');
  return found;
}

function auditContextOf({ clock }: RunRequestOptions, row: RequestFacts, holder: AnswerHolder): AuditContext {
  return {
    actor: { type: row.actor_type, id: row.actor_id },
    atMs: clock.nowMs(),
    sourceAddress: row.source_address ?? undefined,
    traceId: row.trace_id ?? undefined,
    holder,
  };
}

function internalError(): AppError {
  return new AppError(
    'internal_error',
    'Something failed on our side. If it stays, give the trace id to the operator.',
  );
}

function broughtDown(): AppError {
  return new AppError('internal_error', 'The service ended each time it ran this. Nothing is known of what it did.');
}
