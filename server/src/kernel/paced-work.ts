import { setTimeout as rest } from 'node:timers/promises';
import type { Clock } from './clock.js';

/** Work on large values, each of which holds up everybody else for milliseconds: one piece at a time. */
export interface PacedWork {
  /** Fetches, then uses what came. What `use` returns is given at once; the next piece waits for a pause. */
  run<Input, Output>(fetch: () => Promise<Input> | Input, use: (input: Input) => Output): Promise<Output>;
}

export interface PacedWorkOptions {
  readonly clock: Clock;
  /** Whether somebody else wants to get on. */
  readonly isContended: () => boolean;
  readonly pause?: (ms: number) => Promise<unknown>;
}

/** So many times as long as a piece took, others have the event loop to themselves. */
const PAUSE_TIMES = 3;
/** A single piece cannot be divided; the pause behind it need not be longer than this. */
const PAUSE_MAX_MS = 250;

export function createPacedWork({ clock, isContended, pause = rest }: PacedWorkOptions): PacedWork {
  let last: Promise<unknown> = Promise.resolve();
  let spentMs = 0;

  async function rested(): Promise<void> {
    if (isContended()) await pause(Math.min(PAUSE_MAX_MS, Math.ceil(spentMs * PAUSE_TIMES)));
  }

  return {
    run(fetch, use) {
      const piece = last.then(async () => {
        const input = await fetch();
        const startedMs = clock.monotonicMs();
        try {
          return use(input);
        } finally {
          spentMs = clock.monotonicMs() - startedMs;
        }
      });
      last = piece.then(rested, rested);
      return piece;
    },
  };
}
