import { processorMs } from '../processor-time.js';

const LOOK_MS = 1_000;
/** Collecting garbage and asking for work take a small part of it. */
const PROCESSOR_MS_MAX = 1_000;

/**
 * Code can go on after its answer: the engine has ways to ask for that, and no bound on it. No deadline is running then, so a
 * process that works while nothing was asked of it is told of. Returns what ends the watch.
 */
export function watchIdle(pid: number, onBusy: () => void): () => void {
  let firstMs: number | undefined;
  const timer = setInterval(async () => {
    const usedMs = await processorMs(pid);
    if (usedMs === undefined) return;
    firstMs ??= usedMs;
    if (usedMs - firstMs > PROCESSOR_MS_MAX) onBusy();
  }, LOOK_MS);
  timer.unref();
  return () => {
    firstMs = Number.POSITIVE_INFINITY;
    clearInterval(timer);
  };
}
