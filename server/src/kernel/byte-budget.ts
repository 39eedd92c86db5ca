import { overloaded } from './errors.js';

/** Gives back what was taken. Calling it again does nothing. */
export type Release = () => void;

/** Bytes that may be held in memory at once, shared by everybody. */
export interface ByteBudget {
  /** Waits for a share, in the order of asking, and for a bounded time: then, or when too many wait, 503. */
  take(owner: string, bytes: number): Promise<Release>;
  /** The same without waiting; undefined when there is none to be had. */
  takeNow(owner: string, bytes: number): Release | undefined;
  readonly taken: () => number;
  /** How many hold something. */
  readonly shares: () => number;
  readonly waiting: () => number;
}

export interface ByteBudgetOptions {
  readonly bytesMax: number;
  /** One owner's part. Whoever asks for more gets this much, and then has all of it to itself. */
  readonly ownerBytesMax: number;
  readonly waitingMax: number;
  readonly ownerWaitingMax: number;
  readonly waitMaxMs: number;
  /** Calls back after a time unless it is told not to; a test turns it by hand. */
  readonly after?: (ms: number, call: () => void) => () => void;
}

interface Waiting {
  readonly owner: string;
  readonly bytes: number;
  readonly grant: (release: Release) => void;
}

export function createByteBudget(options: ByteBudgetOptions): ByteBudget {
  const { bytesMax, ownerBytesMax, after = afterMs } = options;
  const byOwner = new Map<string, number>();
  const queue: Waiting[] = [];
  let taken = 0;
  let shares = 0;

  function fitsOwner(owner: string, bytes: number): boolean {
    return (byOwner.get(owner) ?? 0) + bytes <= ownerBytesMax;
  }

  function grant(owner: string, bytes: number): Release {
    taken += bytes;
    shares += 1;
    byOwner.set(owner, (byOwner.get(owner) ?? 0) + bytes);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      taken -= bytes;
      shares -= 1;
      const left = (byOwner.get(owner) ?? bytes) - bytes;
      if (left === 0) byOwner.delete(owner);
      else byOwner.set(owner, left);
      serve();
    };
  }

  /** An owner that has its part steps aside; among the others nobody is overtaken, or a large share would never come. */
  function serve(): void {
    for (;;) {
      const at = queue.findIndex(({ owner, bytes }) => fitsOwner(owner, bytes));
      const next = queue[at];
      if (next === undefined || taken + next.bytes > bytesMax) return;
      queue.splice(at, 1);
      next.grant(grant(next.owner, next.bytes));
    }
  }

  function takeNow(owner: string, wanted: number): Release | undefined {
    const bytes = Math.min(wanted, ownerBytesMax);
    const isFirst = !queue.some((waiting) => fitsOwner(waiting.owner, waiting.bytes));
    if (!isFirst || !fitsOwner(owner, bytes) || taken + bytes > bytesMax) return undefined;
    return grant(owner, bytes);
  }

  return {
    takeNow,
    take(owner, wanted) {
      const now = takeNow(owner, wanted);
      if (now) return Promise.resolve(now);
      const own = queue.filter((waiting) => waiting.owner === owner).length;
      if (queue.length >= options.waitingMax || own >= options.ownerWaitingMax) return Promise.reject(overloaded());
      return new Promise((resolve, reject) => {
        const waiting: Waiting = {
          owner,
          bytes: Math.min(wanted, ownerBytesMax),
          grant: (release) => {
            cancel();
            resolve(release);
          },
        };
        const cancel = after(options.waitMaxMs, () => {
          queue.splice(queue.indexOf(waiting), 1);
          reject(overloaded());
          // Whoever stood behind it may fit.
          serve();
        });
        queue.push(waiting);
      });
    },
    taken: () => taken,
    shares: () => shares,
    waiting: () => queue.length,
  };
}

function afterMs(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
}
