import { overloaded } from './errors.js';

/** What one request has of a budget. Called, it gives everything back for good; calling it again does nothing. */
export interface Share {
  (): void;
  /**
   * Sees to it that there is room for so much work beside what the share was taken for; what was asked for before
   * counts. It grows at once where there is room. Otherwise it lets go of what it has and takes all of it anew, in the
   * order of asking and for a bounded time: nobody holds one part while waiting for another. Then, or when too many
   * wait, 503.
   */
  need(bytes: number): Promise<void>;
  /** The same without waiting; false, and as it was, when there is no room. */
  needNow(bytes: number): boolean;
}

export type Release = Share;

/** Bytes that may be held in memory at once, shared by everybody. */
export interface ByteBudget {
  /** A share that has nothing yet. */
  open(owner: string): Share;
  /** A share for what is there already and stays; it waits as `need` does. */
  take(owner: string, bytes: number): Promise<Share>;
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
  readonly grant: () => void;
  /** How often somebody who needed less was served before it. */
  passed: number;
}

/** So many who fit may be served before one who does not fit yet: it must come to its turn, and they not wait for it. */
const PASSED_MAX = 8;

export function createByteBudget(options: ByteBudgetOptions): ByteBudget {
  const { bytesMax, ownerBytesMax, after = afterMs } = options;
  const byOwner = new Map<string, number>();
  const queue: Waiting[] = [];
  let taken = 0;
  let shares = 0;

  function fitsOwner({ owner, bytes }: { readonly owner: string; readonly bytes: number }): boolean {
    return (byOwner.get(owner) ?? 0) + bytes <= ownerBytesMax;
  }

  function count(owner: string, bytes: number): void {
    taken += bytes;
    const left = (byOwner.get(owner) ?? 0) + bytes;
    if (left === 0) byOwner.delete(owner);
    else byOwner.set(owner, left);
  }

  /** Those ahead wait for room of everybody's; whoever has its own part is not in the way. */
  function mayPass(ahead: readonly Waiting[]): boolean {
    return ahead.every(({ passed }) => passed < PASSED_MAX);
  }

  function pass(ahead: readonly Waiting[]): void {
    for (const waiting of ahead) waiting.passed += 1;
  }

  function serve(): void {
    const ahead: Waiting[] = [];
    for (let at = 0; at < queue.length && mayPass(ahead); ) {
      const next = queue[at];
      if (next === undefined) return;
      if (fitsOwner(next) && taken + next.bytes <= bytesMax) {
        queue.splice(at, 1);
        pass(ahead);
        next.grant();
      } else {
        if (fitsOwner(next)) ahead.push(next);
        at += 1;
      }
    }
  }

  function goesNow(owner: string, bytes: number): boolean {
    if (!fitsOwner({ owner, bytes }) || taken + bytes > bytesMax) return false;
    const ahead = queue.filter(fitsOwner);
    if (!mayPass(ahead)) return false;
    pass(ahead);
    return true;
  }

  function wait(owner: string, bytes: number, onTurn: () => void): Promise<void> {
    const own = queue.filter((waiting) => waiting.owner === owner).length;
    if (queue.length >= options.waitingMax || own >= options.ownerWaitingMax) return Promise.reject(overloaded());
    return new Promise((resolve, reject) => {
      const grant = (): void => {
        cancel();
        onTurn();
        resolve();
      };
      const waiting: Waiting = { owner, bytes, grant, passed: 0 };
      const cancel = after(options.waitMaxMs, () => {
        queue.splice(queue.indexOf(waiting), 1);
        reject(overloaded());
        // Whoever stood behind it may fit.
        serve();
      });
      queue.push(waiting);
    });
  }

  /** `kept` is what the share is for in the first place: work comes on top of it. */
  function shareOf(owner: string, kept: number): Share {
    let held = 0;
    let isOver = false;

    function grow(bytes: number): void {
      if (isOver) return;
      if (held === 0) shares += 1;
      held += bytes;
      count(owner, bytes);
    }

    function letGo(): void {
      if (held === 0) return;
      shares -= 1;
      count(owner, -held);
      held = 0;
      serve();
    }

    const lackFor = (bytes: number): number => Math.min(kept + bytes, ownerBytesMax) - held;

    function needNow(bytes: number): boolean {
      const lack = lackFor(bytes);
      if (lack <= 0) return true;
      if (!goesNow(owner, lack)) return false;
      grow(lack);
      return true;
    }

    async function need(bytes: number): Promise<void> {
      if (needNow(bytes)) return;
      letGo();
      if (needNow(bytes)) return;
      const lack = lackFor(bytes);
      await wait(owner, lack, () => grow(lack));
    }

    const end = (): void => {
      isOver = true;
      letGo();
    };
    return Object.assign(end, { need, needNow });
  }

  return {
    open: (owner) => shareOf(owner, 0),
    async take(owner, bytes) {
      const share = shareOf(owner, bytes);
      await share.need(0);
      return share;
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
