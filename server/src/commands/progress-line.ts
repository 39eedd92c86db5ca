import type { Clock } from '../kernel/clock.js';
import type { Output } from './command.js';

export interface ProgressLine {
  show(done: number, total: number, what?: string): void;
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
  let shownMs = terminal ? Number.NEGATIVE_INFINITY : clock.monotonicMs();
  let isDrawn = false;
  /** What was done before the first look says nothing about the speed of this run. */
  let start: { readonly what: string; readonly done: number; readonly ms: number } | undefined;

  return {
    show(done, total, what = 'tokens') {
      const nowMs = clock.monotonicMs();
      if (start?.what !== what) start = { what, done, ms: nowMs };
      if (nowMs - shownMs < (terminal ? REDRAW_MS : PLAIN_MS)) return;
      shownMs = nowMs;
      const speed = { done: done - start.done, ms: nowMs - start.ms };
      const text = `${done} of ${total} ${what}${speedText(total - done, speed)}`;
      if (terminal) terminal.write(`${ERASE_LINE}${barOf(done, total)} ${text}`);
      else output.say(text);
      isDrawn = true;
    },
    clear() {
      if (isDrawn) terminal?.write(ERASE_LINE);
      isDrawn = false;
    },
  };
}

function speedText(left: number, { done, ms }: { readonly done: number; readonly ms: number }): string {
  if (done <= 0 || ms <= 0) return '';
  const perSecond = (done * 1_000) / ms;
  return `, ${Math.round(perSecond)} a second${left > 0 ? `, ${durationText(left / perSecond)} left` : ''}`;
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
