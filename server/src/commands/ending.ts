import { constants } from 'node:os';
import type { ProcessLog } from '../telemetry/process-log.js';
import { afterSameWish } from './same-wish.js';

export interface Ending {
  /** Resolves with the exit code once the process is asked, or has, to end. */
  readonly code: Promise<number>;
  readonly endWith: (code: number) => void;
  /** Asks for a clean stop on behalf of another process. */
  readonly ask: () => void;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Supervisors kill after thirty seconds; ending by ourselves a little earlier leaves a line that says why. */
const STOP_MAX_MS = 28_000;
const LAST_WORDS_MS = 300;

/**
 * The first signal asks for a clean stop, and those that come with it ask for the same. One that comes later, or a stop that
 * takes too long, ends the process at once.
 */
export function expectEnd(log: ProcessLog): Ending {
  let end: (code: number) => void = () => {};
  const code = new Promise<number>((resolve) => {
    end = resolve;
  });
  let isEnding = false;
  let isNextAnother = false;

  function giveUp(why: string, exitCode: number): void {
    log.main.fatal(why);
    // The line gets its chance, but nothing may keep the process: not even a helper thread stuck on a full pipe.
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), LAST_WORDS_MS);
    void log.flush().then(() => process.exit(exitCode));
  }

  function endWith(exitCode: number): void {
    isEnding = true;
    afterSameWish(() => {
      isNextAnother = true;
    });
    setTimeout(() => giveUp('could not stop cleanly in time', 1), STOP_MAX_MS).unref();
    end(exitCode);
  }

  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (isNextAnother) return giveUp(`${signal} again: ending at once`, 128 + constants.signals[signal]);
      if (isEnding) return;
      log.main.info({ signal }, 'stopping');
      endWith(0);
    });
  }
  return {
    code,
    endWith,
    ask() {
      if (!isEnding) endWith(0);
    },
  };
}
