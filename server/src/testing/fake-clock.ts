import type { Clock } from '../kernel/clock.js';

export interface FakeClock extends Clock {
  /** Moves wall and monotonic time forward together. */
  advance(ms: number): void;
  /** Sets wall time alone, as an operator's mistake or a time server would. */
  jumpTo(ms: number): void;
}

export function createFakeClock(startMs: number): FakeClock {
  let wallMs = startMs;
  let monotonicMs = 0;
  return {
    nowMs: () => wallMs,
    monotonicMs: () => monotonicMs,
    advance(ms) {
      wallMs += ms;
      monotonicMs += ms;
    },
    jumpTo(ms) {
      wallMs = ms;
    },
  };
}
