import { setPriority } from 'node:os';
import { processorMs } from '../processor-time.js';

/** A run that has used this much processor time goes behind those of other tenants. */
const LIGHT_MS = 100;
const LOOK_MS = 100;
const LOWEST = 19;
/** As the wall sets it. */
const USUAL = 10;

/**
 * Looks at how much processor time a run takes while it lasts, and gives a long one the lowest priority, so that code which
 * loops does not stand in the way of short runs. The result stops looking, and tells whether the process stays so and should
 * not be used again.
 */
export function watchRun(enginePid: number): () => boolean {
  let isDemoted = false;
  let before: number | undefined;
  const look = async (): Promise<void> => {
    const used = await processorMs(enginePid);
    if (used === undefined || isDemoted) return;
    // What it had used before the run is not known: it is counted from the first look on.
    before ??= used;
    if (used - before < LIGHT_MS) return;
    isDemoted = true;
    try {
      setPriority(enginePid, LOWEST);
    } catch {
      // It has ended meanwhile.
    }
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    return isDemoted && !isRestored(enginePid);
  };
}

/** Only root may raise a priority. */
function isRestored(enginePid: number): boolean {
  try {
    setPriority(enginePid, USUAL);
    return true;
  } catch {
    return false;
  }
}
