import type { Shown } from '../../audit/entry.js';
import { IntegrityError } from '../../crypto/integrity-error.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import type { AnswerBinding, KeptAnswer } from '../../kept-answers/kept-answer.js';
import { AppError } from '../../kernel/errors.js';
import type { TenantTx } from '../../storage/scope.js';
import type { AnswersOptions } from './answers.js';
import { AnswerTaken, createAnswers } from './answers.js';
import type { KeyedRequest } from './keyed-request.js';
import { keyedIdOf, refuseUnfit } from './keyed-request.js';

/** Stores the answer in the transaction of its effect, so that both are there or neither. */
export type Keep = (tx: TenantTx, answer: KeptAnswer, shown: readonly Shown[]) => Promise<void>;

/**
 * Runs `work` unless the same request was answered before; then resolves with that answer. Undefined: `work` has run, and
 * has given its own.
 */
export type RunOnce = (request: KeyedRequest, work: (keep: Keep) => Promise<void>) => Promise<KeptAnswer | undefined>;

export function createRunOnce(options: AnswersOptions): RunOnce {
  const { keyring } = options;
  const answers = createAnswers(options);
  /** What this process works on, so that a repetition is told at once instead of waiting for a lock. */
  const underWay = new Set<string>();

  async function keysOf(tenantId: string): Promise<TenantKeys> {
    try {
      return await keyring.forTenant(tenantId);
    } catch (error) {
      // Its keys are the first thing a deleted tenant loses.
      if (error instanceof IntegrityError) throw gone();
      throw error;
    }
  }

  async function runOrReplay(place: AnswerBinding, request: KeyedRequest, work: (keep: Keep) => Promise<void>) {
    const earlier = await answers.find(place, request);
    if (earlier) return earlier;
    try {
      await work((tx, answer, shown) => answers.keep(place, request, tx, answer, shown));
      return undefined;
    } catch (error) {
      // The other process may be noticed before the answer is: what it made is in the way of making it again.
      const isTaken = error instanceof AnswerTaken;
      if (!isTaken && !(error instanceof AppError && error.status === 409)) throw error;
      const other = await answers.find(place, request);
      if (other) return other;
      throw isTaken ? inFlight() : error;
    }
  }

  return async (request, work) => {
    refuseUnfit(request.key);
    const keys = await keysOf(request.principal.tenantId);
    const place = { keys, id: keyedIdOf(keys, request) };
    const scope = `${keys.tenantId} ${place.id.toString('hex')}`;
    if (underWay.has(scope)) throw inFlight();
    underWay.add(scope);
    try {
      return await runOrReplay(place, request, work);
    } finally {
      underWay.delete(scope);
    }
  };
}

function inFlight(): AppError {
  const detail = 'A request with this idempotency key is still being worked on. Try again shortly for its answer.';
  return new AppError('idempotency_in_flight', detail);
}

function gone(): AppError {
  return new AppError('invalid_api_key', 'The API key is not valid. Check it, or ask for a new one.');
}
