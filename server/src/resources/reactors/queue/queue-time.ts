import type { Clock } from '../../../kernel/clock.js';

/** The time that all processes on a database agree on. Leases of one are judged by the others. */
export interface QueueTime {
  nowMs(): number;
  /** Takes over what the database says, seen now. */
  learn(databaseMs: number): void;
}

/** `timeOf` says what time it is by that of the database, for clocks that are turned by hand. */
export function createQueueTime(clock: Clock, timeOf: (databaseMs: number) => number): QueueTime {
  let aheadMs = 0;
  return {
    nowMs: () => Math.round(clock.nowMs() + aheadMs),
    learn(databaseMs) {
      aheadMs = timeOf(databaseMs) - clock.nowMs();
    },
  };
}
