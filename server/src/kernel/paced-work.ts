import { setTimeout as rest, setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.js';
import { overloaded } from './errors.js';
import { createFairQueue } from './fair-queue.js';

/** Work on large values, each of which holds up everybody else for milliseconds: one piece at a time. */
export interface PacedWork {
  /**
   * Runs a piece when it is its turn, one of each tenant after another, and gives what it returns at once; the next one
   * waits for a pause. Nothing may be waited for inside a piece: everybody would wait along. 503 when the turn does not
   * come in time.
   */
  run<Output>(tenantId: string, piece: () => Output): Promise<Output>;
}

export interface PacedWorkOptions {
  readonly clock: Clock;
  /** Whether somebody else wants to get on. */
  readonly isContended: () => boolean;
  readonly pause?: (ms: number) => Promise<unknown>;
  /** Calls back after a time unless it is told not to; a test turns it by hand. */
  readonly after?: (ms: number, call: () => void) => () => void;
}

interface Piece {
  readonly tenantId: string;
  readonly work: () => void;
}

/** So many times as long as a piece took, others have the event loop to themselves, but for what the next one reads. */
const PAUSE_TIMES = 16;
/** A single piece cannot be divided; the pause behind it need not be longer than this. */
const PAUSE_MAX_MS = 250;
const WAIT_MAX_MS = 10_000;

export function createPacedWork({ clock, isContended, pause = rest, after = afterMs }: PacedWorkOptions): PacedWork {
  const queue = createFairQueue<Piece>();
  let isBusy = false;

  async function workOff(): Promise<void> {
    isBusy = true;
    for (let [next] = queue.take(1); next !== undefined; [next] = queue.take(1)) {
      const startedMs = clock.monotonicMs();
      next.work();
      const spentMs = clock.monotonicMs() - startedMs;
      if (isContended()) await pause(Math.min(PAUSE_MAX_MS, Math.ceil(spentMs * PAUSE_TIMES)));
      else await setImmediate();
    }
    isBusy = false;
  }

  return {
    run(tenantId, piece) {
      return new Promise((resolve, reject) => {
        let isLate = false;
        const cancel = after(WAIT_MAX_MS, () => {
          isLate = true;
          reject(overloaded());
        });
        const work = (): void => {
          if (isLate) return;
          cancel();
          try {
            resolve(piece());
          } catch (error) {
            reject(error);
          }
        };
        queue.push({ tenantId, work });
        if (!isBusy) void workOff();
      });
    },
  };
}

function afterMs(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
}
