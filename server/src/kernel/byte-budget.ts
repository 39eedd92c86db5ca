import { overloaded } from './errors.js';

/** One request's share of a budget. Calling it releases the share for good; calling it again does nothing. */
export interface Share {
  (): void;
  /**
   * Makes sure that the share covers this many bytes of work, besides what it was taken for; bytes asked for earlier
   * count. It grows at once if there is room. Otherwise it releases what it holds and waits in line for all of it, so
   * that no request holds one part while it waits for another. 503 when the wait takes too long or too many wait.
   */
  need(bytes: number): Promise<void>;
  /** The same without waiting: returns false and changes nothing when there is no room. */
  needNow(bytes: number): boolean;
}

export type Release = Share;

/** Bytes that may be held in memory at once, shared by everybody. */
export interface ByteBudget {
  /** A share that has nothing yet. */
  open(owner: string): Share;
  /** A share for bytes that are already held and stay held; waits as `need` does. */
  take(owner: string, bytes: number): Promise<Share>;
  readonly taken: () => number;
  /** How many hold something. */
  readonly shares: () => number;
  readonly waiting: () => number;
}

export interface ByteBudgetOptions {
  readonly bytesMax: number;
  /** The most one owner may hold. A request for more gets this much. */
  readonly ownerBytesMax: number;
  readonly waitingMax: number;
  readonly ownerWaitingMax: number;
  readonly waitMaxMs: number;
  /** A timer that can be cancelled; tests replace it. */
  readonly after?: (ms: number, call: () => void) => () => void;
}

interface Waiting {
  readonly owner: string;
  readonly bytes: number;
  readonly grant: () => void;
  /** How often a later request that needed less was served first. */
  passed: number;
}

/**
 * How many smaller requests may be served before a waiting larger one: they need not wait for it, and it must not
 * starve.
 */
const PASSED_MAX = 8;

export function createByteBudget(options: ByteBudgetOptions): ByteBudget {
  const room = new Room(options);
  return {
    open: (owner) => shareOf(room, owner, 0, options.ownerBytesMax),
    async take(owner, bytes) {
      const share = shareOf(room, owner, bytes, options.ownerBytesMax);
      await share.need(0);
      return share;
    },
    taken: () => room.taken,
    shares: () => room.shares,
    waiting: () => room.waiting(),
  };
}

/** `kept`: bytes the share was taken for; work comes on top of them. */
function shareOf(room: Room, owner: string, kept: number, ownerBytesMax: number): Share {
  let held = 0;
  let isOver = false;

  function grow(bytes: number): void {
    if (isOver) return;
    if (held === 0) room.shares += 1;
    held += bytes;
    room.count(owner, bytes);
  }

  function letGo(): void {
    if (held === 0) return;
    room.shares -= 1;
    room.count(owner, -held);
    held = 0;
    room.serve();
  }

  const lackFor = (bytes: number): number => Math.min(kept + bytes, ownerBytesMax) - held;

  function needNow(bytes: number): boolean {
    const lack = lackFor(bytes);
    if (lack <= 0) return true;
    if (!room.goesNow(owner, lack)) return false;
    grow(lack);
    return true;
  }

  async function need(bytes: number): Promise<void> {
    if (needNow(bytes)) return;
    letGo();
    if (needNow(bytes)) return;
    const lack = lackFor(bytes);
    await room.wait(owner, lack, () => grow(lack));
  }

  const end = (): void => {
    isOver = true;
    letGo();
  };
  return Object.assign(end, { need, needNow });
}

/** How much of the budget is taken and by whom, and who waits for room. */
class Room {
  taken = 0;
  /** Shares that hold something. */
  shares = 0;
  readonly #options: ByteBudgetOptions;
  readonly #byOwner = new Map<string, number>();
  readonly #queue: Waiting[] = [];

  constructor(options: ByteBudgetOptions) {
    this.#options = options;
  }

  waiting(): number {
    return this.#queue.length;
  }

  count(owner: string, bytes: number): void {
    this.taken += bytes;
    const left = (this.#byOwner.get(owner) ?? 0) + bytes;
    if (left === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, left);
  }

  goesNow(owner: string, bytes: number): boolean {
    if (!this.#fitsOwner(owner, bytes) || this.taken + bytes > this.#options.bytesMax) return false;
    const ahead = this.#queue.filter((waiting) => this.#fitsOwner(waiting.owner, waiting.bytes));
    if (!mayPass(ahead)) return false;
    pass(ahead);
    return true;
  }

  wait(owner: string, bytes: number, onTurn: () => void): Promise<void> {
    const { waitingMax, ownerWaitingMax, waitMaxMs, after = afterMs } = this.#options;
    const own = this.#queue.filter((waiting) => waiting.owner === owner).length;
    if (this.#queue.length >= waitingMax || own >= ownerWaitingMax) return Promise.reject(overloaded());
    return new Promise((resolve, reject) => {
      const grant = (): void => {
        cancel();
        onTurn();
        resolve();
      };
      const waiting: Waiting = { owner, bytes, grant, passed: 0 };
      const cancel = after(waitMaxMs, () => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(overloaded());
        // A request behind it may fit now.
        this.serve();
      });
      this.#queue.push(waiting);
    });
  }

  /** Serves waiting requests that fit now. */
  serve(): void {
    const ahead: Waiting[] = [];
    for (let at = 0; at < this.#queue.length && mayPass(ahead); ) {
      const next = this.#queue[at];
      if (next === undefined) return;
      const fitsOwner = this.#fitsOwner(next.owner, next.bytes);
      if (fitsOwner && this.taken + next.bytes <= this.#options.bytesMax) {
        this.#queue.splice(at, 1);
        pass(ahead);
        next.grant();
      } else {
        if (fitsOwner) ahead.push(next);
        at += 1;
      }
    }
  }

  #fitsOwner(owner: string, bytes: number): boolean {
    return (this.#byOwner.get(owner) ?? 0) + bytes <= this.#options.ownerBytesMax;
  }
}

/**
 * `ahead` are requests that wait for shared room. A request whose owner is at its own limit blocks nobody and is not
 * among them.
 */
function mayPass(ahead: readonly Waiting[]): boolean {
  return ahead.every(({ passed }) => passed < PASSED_MAX);
}

function pass(ahead: readonly Waiting[]): void {
  for (const waiting of ahead) waiting.passed += 1;
}

function afterMs(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
}
