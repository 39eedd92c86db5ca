import { createDeferred } from '../kernel/deferred.js';
import type { EndSignal } from '../kernel/end-signal.js';
import { orAborted } from './call-end.js';
import { OutboundError } from './outbound-error.js';

/** Who wants a place, and for what. */
export interface PlaceAsked {
  readonly tenantId: string;
  /** Its destinations, each with a bound of its own: one that is slow leaves places for the others. */
  readonly poolName: string;
}

export interface CallPlacesOptions {
  readonly max: number;
  readonly ofTenantMax: number;
  readonly ofDestinationMax: number;
  readonly waitingOfTenantMax: number;
}

interface Waiter extends PlaceAsked {
  readonly grant: (leave: () => void) => void;
}

/** Bounds how many calls are under way. Tenants that wait are served in turn. */
export class CallPlaces {
  readonly #options: CallPlacesOptions;
  /** By tenant, and by the name of a pool, which begins with the tenant and is longer. */
  readonly #held = new Map<string, number>();
  /** Those who wait, by tenant, in the order in which tenants are served next. */
  readonly #queues = new Map<string, Set<Waiter>>();
  #taken = 0;
  #waiting = 0;

  constructor(options: CallPlacesOptions) {
    this.#options = options;
  }

  taken(): number {
    return this.#taken;
  }

  waiting(): number {
    return this.#waiting;
  }

  /** A place, now or when one is free; the function gives it back. Fails when the signal aborts or too many wait. */
  async take(asked: PlaceAsked, signal: EndSignal): Promise<() => void> {
    return this.#isFree(asked) ? this.#enter(asked) : this.#wait(asked, signal);
  }

  async #wait(asked: PlaceAsked, signal: EndSignal): Promise<() => void> {
    const queue = this.#queues.get(asked.tenantId) ?? new Set();
    if (queue.size >= this.#options.waitingOfTenantMax) throw new OutboundError('busy');
    const { promise, resolve } = createDeferred<() => void>();
    const waiter: Waiter = { ...asked, grant: resolve };
    this.#queues.set(asked.tenantId, queue.add(waiter));
    this.#waiting += 1;
    try {
      return await orAborted(promise, signal);
    } catch (error) {
      // Granted and aborted in the same turn: the place must not be lost.
      if (!this.#forget(waiter)) (await promise)();
      throw error;
    }
  }

  #enter(asked: PlaceAsked): () => void {
    this.#count(asked, 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count(asked, -1);
      this.#callNext();
    };
  }

  /** One place was given back, so one more can be taken at most. */
  #callNext(): void {
    for (const [tenantId, queue] of this.#queues) {
      const next = this.#firstFree(queue);
      if (next === undefined) continue;
      this.#forget(next);
      // Behind the other tenants: an entry that is set again moves to the end of the map.
      if (this.#queues.delete(tenantId)) this.#queues.set(tenantId, queue);
      next.grant(this.#enter(next));
      return;
    }
  }

  #firstFree(queue: ReadonlySet<Waiter>): Waiter | undefined {
    for (const waiter of queue) if (this.#isFree(waiter)) return waiter;
    return undefined;
  }

  #isFree({ tenantId, poolName }: PlaceAsked): boolean {
    const { max, ofTenantMax, ofDestinationMax } = this.#options;
    return this.#taken < max && this.#of(tenantId) < ofTenantMax && this.#of(poolName) < ofDestinationMax;
  }

  #of(name: string): number {
    return this.#held.get(name) ?? 0;
  }

  #count({ tenantId, poolName }: PlaceAsked, change: 1 | -1): void {
    this.#taken += change;
    for (const name of [tenantId, poolName]) {
      const count = this.#of(name) + change;
      if (count === 0) this.#held.delete(name);
      else this.#held.set(name, count);
    }
  }

  /** False if it does not wait any more. */
  #forget(waiter: Waiter): boolean {
    const queue = this.#queues.get(waiter.tenantId);
    if (!queue?.delete(waiter)) return false;
    this.#waiting -= 1;
    if (queue.size === 0) this.#queues.delete(waiter.tenantId);
    return true;
  }
}
