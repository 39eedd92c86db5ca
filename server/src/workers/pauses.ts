/** A worker that lived this long was well. */
const STEADY_MS = 10_000;
const PAUSE_MS = 100;
const PAUSE_MAX_MS = 5_000;
export const FAILED_STARTS_MAX = 5;

/** How long to wait before another takes the place of a worker that ended: not at all, unless it keeps happening. */
export function createPauses(): { after(livedMs: number): number } {
  let quickEnds = 0;
  return {
    after(livedMs) {
      quickEnds = livedMs < STEADY_MS ? quickEnds + 1 : 0;
      return quickEnds < 2 ? 0 : Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (quickEnds - 2));
    },
  };
}
