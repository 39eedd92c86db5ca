import type { Clock } from '../kernel/clock.js';
import type { Output } from './command.js';

const REWRITE_EVERY_MS = 200;
const SAY_EVERY_MS = 10_000;
const BAR_CELLS = 24;

export interface Progress {
  /** What is being done, and how much of it is; a total of 0 is unknown. */
  show(phase: string, done: number, total: number): void;
}

/** A bar that moves on a terminal, a line now and then elsewhere. A new phase is always told. */
export function createProgress(output: Output, clock: Clock): Progress {
  let [phase, phaseSinceMs, shownAtMs] = ['', 0, 0];
  return {
    show(what, done, total) {
      const nowMs = clock.monotonicMs();
      const isNew = what !== phase;
      if (isNew) [phase, phaseSinceMs] = [what, nowMs];
      if (!isNew && nowMs - shownAtMs < (output.rewrite ? REWRITE_EVERY_MS : SAY_EVERY_MS)) return;
      shownAtMs = nowMs;
      const seconds = (nowMs - phaseSinceMs) / 1_000;
      const rate = seconds > 0 && done > 0 ? `, ${Math.round(done / seconds)}/s` : '';
      const counts = total > 0 ? `${done} of about ${total}` : done > 0 ? `${done}` : '';
      const line = `${what}${counts === '' ? '' : `: ${counts}${rate}`}`;
      if (output.rewrite) output.rewrite(total > 0 ? `${barOf(done / total)} ${line}` : line);
      else output.say(line);
    },
  };
}

function barOf(share: number): string {
  const full = Math.round(Math.min(1, share) * BAR_CELLS);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_CELLS - full)}]`;
}
