import { setTimeout as rest, setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.js';
import { overloaded } from './errors.js';
import { createFairQueue } from './fair-queue.js';

/** Work on large values, one piece at a time: each piece blocks the event loop for milliseconds. */
export interface PacedWork {
  /**
   * Runs a piece when it is its turn (tenants take turns) and returns its result at once; the next piece runs after a
   * pause. A piece must be synchronous. 503 when its turn does not come in time.
   */
  run<Output>(tenantId: string, piece: () => Output): Promise<Output>;
}

export interface PacedWorkOptions {
  readonly clock: Clock;
  /** Whether other requests are waiting for the event loop. */
  readonly isContended: () => boolean;
  readonly pause?: (ms: number) => Promise<unknown>;
  /** A timer that can be cancelled; tests replace it. */
  readonly after?: (ms: number, call: () => void) => () => void;
}

interface Piece {
  readonly tenantId: string;
  readonly work: () => void;
}

/** The pause after a piece, as a multiple of its duration: the event loop is free for other requests meanwhile. */
const PAUSE_TIMES = 16;
/** The longest pause: a single piece that cannot be divided may take long. */
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
