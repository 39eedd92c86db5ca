import type { Clock } from '../kernel/clock.js';
import type { Output } from './command.js';

export interface ProgressLine {
  /** `before` was done by an earlier run, and says nothing about the speed of this one. */
  show(done: number, total: number, before?: number): void;
  /** Leaves the terminal as it was. */
  clear(): void;
}

export interface ProgressOptions {
  readonly clock: Clock;
  readonly output: Output;
  /** Undefined where nobody watches: then there is a plain line now and then. */
  readonly terminal: { write(text: string): unknown } | undefined;
}

const BAR_CELLS = 24;
const REDRAW_MS = 100;
const PLAIN_MS = 10_000;
const ERASE_LINE = '\r\u001b[2K';

/** How far a long piece of work is, how fast it goes and when it will be done. */
export function createProgressLine({ clock, output, terminal }: ProgressOptions): ProgressLine {
  const startedMs = clock.monotonicMs();
  let shownMs = terminal ? Number.NEGATIVE_INFINITY : startedMs;

  return {
    show(done, total, before = 0) {
      const nowMs = clock.monotonicMs();
      if (nowMs - shownMs < (terminal ? REDRAW_MS : PLAIN_MS)) return;
      shownMs = nowMs;
      const text = describeProgress(done, total, nowMs - startedMs, before);
      if (terminal) terminal.write(`${ERASE_LINE}${barOf(done, total)} ${text}`);
      else output.say(text);
    },
    clear() {
      terminal?.write(ERASE_LINE);
    },
  };
}

/** `1200 of 5000 tokens, 400 a second, 10 s left` */
export function describeProgress(done: number, total: number, elapsedMs: number, before = 0): string {
  const perSecond = elapsedMs > 0 ? ((done - before) * 1_000) / elapsedMs : 0;
  const left = perSecond > 0 && total > done ? `, ${durationText((total - done) / perSecond)} left` : '';
  return `${done} of ${total} tokens, ${Math.round(perSecond)} a second${left}`;
}

function barOf(done: number, total: number): string {
  const full = total === 0 ? BAR_CELLS : Math.min(BAR_CELLS, Math.floor((done / total) * BAR_CELLS));
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_CELLS - full)}]`;
}

function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}
