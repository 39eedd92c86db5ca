import type { EndSignal } from '../kernel/end-signal.js';
import { EndSource } from '../kernel/end-signal.js';
import { OutboundError } from './outbound-error.js';

/** What ends a call before its time: a bound, its caller, or the end of the process. */
export interface CallEnd {
  /** Its reason is the `OutboundError` to throw. */
  readonly signal: EndSignal;
  /** From now on this long until the next call of `await` or `rest`. */
  await(ms: number, failure?: () => OutboundError): void;
  /** Nothing is awaited of the destination now. */
  rest(): void;
  fail(error: OutboundError): void;
  /** The call is over: nothing ends it any more. Without this its timers would keep it in memory. */
  done(): void;
}

export interface CallEndOptions {
  readonly signal: EndSignal | undefined;
  readonly totalMs: number | undefined;
}

/** A bound on one step of a call. */
interface Step {
  readonly ms: number;
  readonly failure: () => OutboundError;
  readonly timer: NodeJS.Timeout;
}

export function createCallEnd({ signal: callers, totalMs }: CallEndOptions): CallEnd {
  const ending = new EndSource();
  let isDone = false;
  const fail = (error: OutboundError): void => {
    if (!isDone) ending.abort(error);
  };
  const onCaller = (): void => fail(new OutboundError('aborted'));
  /** One for each bound that was awaited. Setting one off again takes far less time than a new one. */
  const steps: Step[] = [];
  let awaited: Step | undefined;
  const total = totalMs === undefined ? undefined : setTimeout(() => fail(timedOut()), totalMs);
  if (callers?.aborted) onCaller();
  else callers?.addEventListener('abort', onCaller);

  function startStep(ms: number, failure: () => OutboundError): Step {
    const step: Step = {
      ms,
      failure,
      timer: setTimeout(() => {
        if (awaited === step) fail(failure());
      }, ms),
    };
    steps.push(step);
    return step;
  }

  const rest = (): void => {
    awaited = undefined;
  };

  return {
    signal: ending,
    await(ms, failure = timedOut) {
      if (isDone) return;
      awaited = steps.find((step) => step.ms === ms && step.failure === failure);
      if (awaited) awaited.timer.refresh();
      else awaited = startStep(ms, failure);
    },
    rest,
    fail,
    done() {
      isDone = true;
      rest();
      for (const { timer } of steps) clearTimeout(timer);
      clearTimeout(total);
      callers?.removeEventListener('abort', onCaller);
    },
  };
}

/** Settles as the promise does, or fails as soon as the signal aborts. What the promise does then concerns nobody. */
export function orAborted<T>(promise: Promise<T>, signal: EndSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function timedOut(): OutboundError {
  return new OutboundError('timeout');
}
