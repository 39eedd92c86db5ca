/** Ctrl-C at `npm start` comes twice, 1 to 5 ms apart: from the terminal, and from npm, which passes it on. */
const SAME_WISH_MS = 1_000;

/**
 * Calls back once a further signal would be a wish of its own. Should the process be held up meanwhile, signals that wait
 * are heard before: timers come first in a turn of the event loop, then signals, then this.
 */
export function afterSameWish(then: () => void): void {
  setTimeout(() => setImmediate(then).unref(), SAME_WISH_MS).unref();
}
