/** A place in a bag. */
export interface Placed<T> {
  readonly member: T;
  /** Where it is; -1 once it has left. */
  at: number;
}

/**
 * Members that come and go often, in no order.
 *
 * A `Set` outgrows its table with every few that come, and an old table holds all that were in it at that time and the table behind
 * it: once one of them has grown old, every later one grows old with it, and so does every member.
 */
export class Bag<T> {
  readonly #placed: Placed<T>[] = [];

  get size(): number {
    return this.#placed.length;
  }

  add(member: T): Placed<T> {
    const placed = { member, at: this.#placed.length };
    this.#placed.push(placed);
    return placed;
  }

  /** False where it has left before. */
  remove(placed: Placed<T>): boolean {
    const { at } = placed;
    if (at === -1) return false;
    placed.at = -1;
    const last = this.#placed.pop();
    if (last === undefined || last === placed) return true;
    last.at = at;
    this.#placed[at] = last;
    return true;
  }

  /** As they are now: what comes or goes meanwhile changes nothing. */
  members(): T[] {
    return this.#placed.map(({ member }) => member);
  }
}
