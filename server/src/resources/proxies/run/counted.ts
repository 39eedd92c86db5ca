import type { Clock } from '../../../kernel/clock.js';
import { AppError } from '../../../kernel/errors.js';
import type { CalledProxy } from './called-proxy.js';

/** A call as figures count it. */
export interface ProxyCalled {
  readonly tenantId: string;
  readonly proxyId: string | undefined;
  readonly durationMs: number;
  readonly failure: AppError | undefined;
}

/** How a call went, for its figures: the first word counts. An answer that flows is told of at its end. */
export interface Counted {
  /** There is an answer, or the head of one. */
  readonly answered: () => void;
  readonly well: () => void;
  readonly failed: (error: unknown) => void;
}

interface CountOptions {
  readonly clock: Clock;
  readonly onCalled: (called: ProxyCalled) => void;
}

/** The duration is that until there was an answer: how long its client took to read it says nothing of the Proxy. */
export function countOnce(
  { clock, onCalled }: CountOptions,
  { tenantId, proxy }: CalledProxy,
  startedMs: number,
): Counted {
  let durationMs: number | undefined;
  let isCounted = false;
  const count = (failure: AppError | undefined): void => {
    if (isCounted) return;
    isCounted = true;
    onCalled({ tenantId, proxyId: proxy?.proxyId, durationMs: durationMs ?? clock.monotonicMs() - startedMs, failure });
  };
  return {
    answered() {
      durationMs = clock.monotonicMs() - startedMs;
    },
    well: () => count(undefined),
    failed: (error) =>
      count(error instanceof AppError ? error : new AppError('internal_error', 'The call failed on our side.')),
  };
}
