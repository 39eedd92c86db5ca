import { readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { processorMs } from '../processor-time.js';
import { NICE } from '../wall/wall-steps.js';

/** A run that has used this much processor time goes behind those of other tenants. */
const LIGHT_MS = 100;
const LOOK_MS = 100;
const LOWEST = 19;

/**
 * Looks at how much processor time a run takes while it lasts, and gives a long one the lowest priority, so that code which
 * loops does not stand in the way of short runs; `onLong` is told of it once. The result stops looking, and tells whether the
 * process stays so and should not be used again.
 */
export function watchRun(enginePid: number, onLong: () => void): () => boolean {
  let isDemoted = false;
  let isLowest = false;
  let isOver = false;
  let before: number | undefined;
  const look = async (): Promise<void> => {
    const used = await processorMs(enginePid);
    if (used === undefined || isLowest || isOver) return;
    // What it had used before the run is not known: it is counted from the first look on.
    before ??= used;
    if (used - before < LIGHT_MS) return;
    if (!isDemoted) onLong();
    isDemoted = true;
    // The kernel may want it asked again later.
    isLowest = isGiven(enginePid, LOWEST);
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  return () => {
    isOver = true;
    clearInterval(timer);
    // Only root may raise a priority.
    return isDemoted && !isGiven(enginePid, NICE);
  };
}

/**
 * Each instance is a session of its own. Where the kernel shares the processors between sessions first (autogroup), the
 * priority of a process counts only within its session, so the session has to be given one too.
 */
function isGiven(enginePid: number, priority: number): boolean {
  try {
    setPriority(enginePid, priority);
    if (sharesBySession()) writeFileSync(`/proc/${enginePid}/autogroup`, String(priority));
    return true;
  } catch {
    // It has ended meanwhile, or may not be changed, or not yet.
    return false;
  }
}

function sharesBySession(): boolean {
  try {
    return readFileSync('/proc/sys/kernel/sched_autogroup_enabled', 'utf8').trim() === '1';
  } catch {
    return false;
  }
}
