import { OutboundError } from './outbound-error.js';

/** What ends a call before its time: a bound, its caller, or the end of the process. */
export interface CallEnd {
  /** Its reason is the `OutboundError` to throw. */
  readonly signal: AbortSignal;
  /** From now on this long until the next call of `await` or `rest`. */
  await(ms: number, failure?: () => OutboundError): void;
  /** Nothing is awaited of the destination now. */
  rest(): void;
  fail(error: OutboundError): void;
  /** The call is over: nothing ends it any more. Without this its timers would keep it in memory. */
  done(): void;
}

export interface CallEndOptions {
  readonly signal: AbortSignal | undefined;
  readonly totalMs: number | undefined;
}

export function createCallEnd({ signal: callers, totalMs }: CallEndOptions): CallEnd {
  const controller = new AbortController();
  let isDone = false;
  const fail = (error: OutboundError): void => {
    if (!isDone && !controller.signal.aborted) controller.abort(error);
  };
  const onCaller = (): void => fail(new OutboundError('aborted'));
  let step: NodeJS.Timeout | undefined;
  const total = totalMs === undefined ? undefined : setTimeout(() => fail(timedOut()), totalMs);
  if (callers?.aborted) onCaller();
  else callers?.addEventListener('abort', onCaller);

  function rest(): void {
    clearTimeout(step);
    step = undefined;
  }

  return {
    signal: controller.signal,
    await(ms, failure = timedOut) {
      rest();
      if (!isDone) step = setTimeout(() => fail(failure()), ms);
    },
    rest,
    fail,
    done() {
      isDone = true;
      rest();
      clearTimeout(total);
      callers?.removeEventListener('abort', onCaller);
    },
  };
}

/** Settles as the promise does, or fails as soon as the signal aborts. What the promise does then concerns nobody. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
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
