import { readdirSync, readFileSync } from 'node:fs';

/** A process, told from a later one with the same number by when it began. */
interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly startedAt: string;
}

const ABRUPT_MS = 5_000;
const KILLED_MS = 2_000;
const POLL_MS = 25;

/** Every living process that this one, or one of its children, has started; those first that stand nearest. */
export function descendants(of = process.pid): number[] {
  return treeOf(of).map(({ pid }) => pid);
}

/**
 * Ends all of them before it returns, so that a process which is about to end leaves none behind: for a listener of
 * `exit`, where nothing can be awaited. With a time to be polite the children are asked first, and may end what they have
 * started themselves. SIGQUIT then is an immediate shutdown to PostgreSQL, and the end to anything else.
 */
export function endDescendants(politeMs = 0): void {
  const known = new Map<number, Seen>();
  const living = (): Seen[] => {
    // Whoever loses its parent is no descendant any more, and is still ours.
    for (const found of treeOf(process.pid)) known.set(found.pid, found);
    return [...known.values()].filter(isAlive);
  };
  const steps = [
    { signal: 'SIGTERM', withinMs: politeMs, isMeant: (found: Seen) => found.parent === process.pid },
    { signal: 'SIGQUIT', withinMs: ABRUPT_MS, isMeant: () => true },
    { signal: 'SIGKILL', withinMs: KILLED_MS, isMeant: () => true },
  ] as const;
  for (const { signal, withinMs, isMeant } of steps) {
    if (withinMs === 0) continue;
    for (const found of living().filter(isMeant)) {
      send(found.pid, signal);
      // One that stands still would not see it.
      send(found.pid, 'SIGCONT');
    }
    const deadlineMs = performance.now() + withinMs;
    while (living().length > 0 && performance.now() < deadlineMs) sleep(POLL_MS);
    if (living().length === 0) return;
  }
}

function treeOf(root: number): Seen[] {
  const byParent = new Map<number, Seen[]>();
  for (const name of readdirSync('/proc')) {
    const found = /^\d+$/.test(name) ? look(Number(name)) : undefined;
    if (found) byParent.set(found.parent, [...(byParent.get(found.parent) ?? []), found]);
  }
  const tree = [...(byParent.get(root) ?? [])];
  for (const found of tree) tree.push(...(byParent.get(found.pid) ?? []));
  return tree;
}

function isAlive({ pid, startedAt }: Seen): boolean {
  return look(pid)?.startedAt === startedAt;
}

/** Undefined for one that has ended, also while nobody has asked how. */
function look(pid: number): Seen | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name of the program stands in parentheses and may hold anything.
  const words = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent] = words;
  return state === 'Z' || state === 'X' ? undefined : { pid, parent: Number(parent), startedAt: words[19] ?? '' };
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
