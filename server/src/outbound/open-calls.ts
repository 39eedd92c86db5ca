import { Bag } from '../kernel/bag.js';
import type { CallEnd } from './call-end.js';
import { OutboundError } from './outbound-error.js';
import type { OutboundOutcome } from './outbound-figures.js';

/** One call from `send` to the last byte of its answer. */
export interface OpenCall {
  readonly end: CallEnd;
  /** What is given back when the call is over. */
  holds(leave: () => void): void;
  /** The first of these counts. A call that was ended early is counted as what ended it. */
  fail(error: OutboundError): void;
  /** Its answer is whole, or will never be. */
  readonly over: (isWhole: boolean) => void;
}

export interface OpenCalls {
  open(end: CallEnd): OpenCall;
  /** Aborts every call, and those that come later, and waits until they are over. */
  close(): Promise<void>;
}

export function createOpenCalls(onOutcome: (outcome: OutboundOutcome) => void): OpenCalls {
  const ends = new Bag<CallEnd>();
  let isClosed = false;
  let onEmpty = (): void => {};

  return {
    open(end) {
      const placed = ends.add(end);
      if (isClosed) end.fail(new OutboundError('aborted'));
      let leave = (): void => {};

      function finish(outcome: OutboundOutcome): void {
        if (!ends.remove(placed)) return;
        const { aborted, reason } = end.signal;
        onOutcome(aborted && reason instanceof OutboundError ? reason.code : outcome);
        end.done();
        leave();
        if (ends.size === 0) onEmpty();
      }

      return {
        end,
        over: (isWhole) => finish(isWhole ? 'answered' : 'unreachable'),
        holds(giveBack) {
          leave = giveBack;
        },
        fail(error) {
          end.fail(error);
          finish(error.code);
        },
      };
    },
    async close() {
      isClosed = true;
      for (const end of ends.members()) end.fail(new OutboundError('aborted'));
      if (ends.size > 0) await new Promise<void>((resolve) => (onEmpty = resolve));
    },
  };
}
