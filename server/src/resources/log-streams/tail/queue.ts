import type { TailEnd } from '../schema.js';
import type { LogStep, StepReader } from './hub.js';

/** Entries that wait for a reader: more means that it does not keep up. */
const WAITING_ROWS_MAX = 2_000;

export type EndReason = TailEnd['reason'];

/** What one reader was told and has not taken yet. Rows are shared with the other readers of the tenant. */
export interface StepQueue extends StepReader {
  /** The next step, or why there is none any more. */
  next(): Promise<LogStep | EndReason>;
  /** The first reason counts. What waits is dropped: it was not sent, so a later connection gets it. */
  end(reason: EndReason): void;
  isOver(): boolean;
}

export function createStepQueue(onTold: () => void, onEnd: () => void): StepQueue {
  let waiting: LogStep[] = [];
  let rows = 0;
  let ended: EndReason | undefined;
  let wake = (): void => {};

  function end(reason: EndReason): void {
    if (ended !== undefined) return;
    ended = reason;
    waiting = [];
    onEnd();
    wake();
  }

  return {
    end,
    isOver: () => ended !== undefined,
    take(step) {
      if (ended !== undefined) return;
      onTold();
      const last = waiting.at(-1);
      // Nothing new is no news: the last word of that is enough.
      if (step.rows.length === 0 && last?.rows.length === 0) waiting.pop();
      waiting.push(step);
      rows += step.rows.length;
      if (rows > WAITING_ROWS_MAX) end('too_slow');
      else wake();
    },
    fail: () => end('restart'),
    async next() {
      while (ended === undefined && waiting.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const step = waiting.shift();
      if (ended !== undefined || step === undefined) return ended ?? 'restart';
      rows -= step.rows.length;
      return step;
    },
  };
}
