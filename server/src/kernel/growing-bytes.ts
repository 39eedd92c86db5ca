import type { ByteBudget, ByteBudgetOptions, Share } from './byte-budget.js';
import { createByteBudget } from './byte-budget.js';

/**
 * Bytes of what is read whole while it comes, shared by everybody. Two rooms of the same size:
 *
 * - Everything grows in the first, with the bytes that really came, so that whoever sends slowly holds little.
 * - What finds no room there waits in line for a place in the second, which has all that one may ever need; then it gives back what
 *   it had in the first.
 *
 * Who waits keeps what it has, because that is still in memory. Nobody waits for ever all the same: whoever has a place asks for
 * nothing more, so places become free without anything that those who wait hold. The wait is bounded, and then it is 503.
 */
export interface GrowingBytes {
  /** A share that has nothing yet. */
  open(owner: string): GrowingShare;
  readonly taken: () => number;
  readonly waiting: () => number;
}

export interface GrowingBytesOptions extends Omit<ByteBudgetOptions, 'bytesMax' | 'ownerBytesMax'> {
  /** The most that one share may come to need. */
  readonly wholeBytes: number;
  /** How many such fit into each of the two rooms, of all and of one owner. */
  readonly wholesMax: number;
  readonly ownerWholesMax: number;
}

interface Rooms {
  readonly growing: ByteBudget;
  readonly places: ByteBudget;
  readonly wholeBytes: number;
}

export function createGrowingBytes(options: GrowingBytesOptions): GrowingBytes {
  const { wholeBytes, wholesMax, ownerWholesMax, ...waiting } = options;
  const bounds = { ...waiting, bytesMax: wholesMax * wholeBytes, ownerBytesMax: ownerWholesMax * wholeBytes };
  const rooms: Rooms = { growing: createByteBudget(bounds), places: createByteBudget(bounds), wholeBytes };
  return {
    open: (owner) => new GrowingShare(rooms, owner),
    taken: () => rooms.growing.taken() + rooms.places.taken(),
    waiting: rooms.places.waiting,
  };
}

/** One reader's share. A class, because most calls open one and never need any room. */
export class GrowingShare {
  readonly #rooms: Rooms;
  readonly #owner: string;
  #grown: Share | undefined;
  #place: Share | undefined;
  #isOver = false;

  constructor(rooms: Rooms, owner: string) {
    this.#rooms = rooms;
    this.#owner = owner;
  }

  /**
   * Makes sure that the share covers this many bytes; what it covered before counts. Undefined where that was done at once. Must
   * not be called again before it has settled. 503 when no place is free in time, or too many wait.
   */
  cover(bytes: number): Promise<void> | undefined {
    if (this.#place || this.#isOver) return undefined;
    this.#grown ??= this.#rooms.growing.open(this.#owner);
    return this.#grown.needNow(bytes) ? undefined : this.#takePlace();
  }

  /** For good; doing it again changes nothing. */
  release(): void {
    this.#isOver = true;
    this.#grown?.();
    this.#place?.();
  }

  async #takePlace(): Promise<void> {
    // Known from here on, so that a share that is released while it waits takes nothing.
    this.#place = this.#rooms.places.open(this.#owner);
    await this.#place.need(this.#rooms.wholeBytes);
    this.#grown?.();
  }
}
