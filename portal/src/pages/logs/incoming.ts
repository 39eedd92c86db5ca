import type { Log } from '../../api/generated.js';

/** What a page keeps: a tail that runs for days must not grow. */
export const TAIL_ROWS_MAX = 500;

/** Entries that arrived and are not shown yet. However many there are, it keeps no more than a page can show. */
export function createIncoming() {
  let waiting: Log[] = [];
  let waitingCount = 0;
  let arrivedCount = 0;
  /** A stream that goes on may tell an entry again. */
  let seen = new Set<string>();

  return {
    add(entry: Log): void {
      const { id = '' } = entry;
      if (seen.has(id)) return;
      if (seen.size >= 2 * TAIL_ROWS_MAX) seen = new Set([...seen].slice(TAIL_ROWS_MAX));
      seen.add(id);
      arrivedCount += 1;
      waitingCount += 1;
      waiting.push(entry);
      if (waiting.length > 2 * TAIL_ROWS_MAX) waiting = waiting.slice(-TAIL_ROWS_MAX);
    },
    arrived: () => arrivedCount,
    waiting: () => waitingCount,
    /** What is shown from now on, newest first. */
    taken(shown: readonly Log[]): readonly Log[] {
      if (waiting.length === 0) return shown;
      const next = [...waiting.reverse(), ...shown].slice(0, TAIL_ROWS_MAX);
      waiting = [];
      waitingCount = 0;
      return next;
    },
  };
}
