import { constants } from 'node:os';
import type { ProcessLog } from '../telemetry/process-log.js';

export interface Ending {
  /** Resolves with the exit code once the process is asked, or has, to end. */
  readonly code: Promise<number>;
  readonly endWith: (code: number) => void;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Supervisors kill after thirty seconds; ending by ourselves a little earlier leaves a line that says why. */
const STOP_MAX_MS = 28_000;

/** The first signal asks for a clean stop. A second one, or a stop that takes too long, ends the process at once. */
export function expectEnd(log: ProcessLog): Ending {
  let end: (code: number) => void = () => {};
  const code = new Promise<number>((resolve) => {
    end = resolve;
  });
  let isEnding = false;

  function giveUp(why: string, exitCode: number): never {
    log.main.fatal(why);
    log.flush();
    process.exit(exitCode);
  }

  function endWith(exitCode: number): void {
    isEnding = true;
    setTimeout(() => giveUp('could not stop cleanly in time', 1), STOP_MAX_MS).unref();
    end(exitCode);
  }

  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (isEnding) giveUp(`${signal} again: ending at once`, 128 + constants.signals[signal]);
      log.main.info({ signal }, 'stopping');
      endWith(0);
    });
  }
  return { code, endWith };
}
