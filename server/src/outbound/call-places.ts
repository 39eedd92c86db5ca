import { createDeferred } from '../kernel/deferred.js';
import type { EndSignal } from '../kernel/end-signal.js';
import { orAborted } from './call-end.js';
import { OutboundError } from './outbound-error.js';

/** Who wants a place, and for what. */
export interface PlaceAsked {
  readonly tenantId: string;
  /** Its destinations, each with a bound of its own: one that is slow leaves places for the others. */
  readonly poolName: string;
  /** Nobody's key stands behind it. Strangers must not use up what the tenant's own callers need. */
  readonly isAnonymous?: boolean | undefined;
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

/** Of what a tenant has, of what one of its destinations has, and of those of a tenant that may wait. */
const ANONYMOUS_PARTS = { ofTenant: 1 / 4, ofDestination: 1 / 2, waiting: 1 / 4 };

/** Bounds how many calls are under way. Tenants that wait are served in turn. */
export class CallPlaces {
  readonly #options: CallPlacesOptions;
  /** By tenant, and by the name of a pool, which begins with the tenant and is longer. */
  readonly #held = new Map<string, number>();
  /** The anonymous among them, by the same names; and those that wait, by tenant. */
  readonly #heldAnonymous = new Map<string, number>();
  readonly #waitingAnonymous = new Map<string, number>();
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
  take(asked: PlaceAsked, signal: EndSignal): (() => void) | Promise<() => void> {
    return this.#isFree(asked) ? this.#enter(asked) : this.#wait(asked, signal);
  }

  async #wait(asked: PlaceAsked, signal: EndSignal): Promise<() => void> {
    const queue = this.#queues.get(asked.tenantId) ?? new Set();
    if (queue.size >= this.#options.waitingOfTenantMax || this.#hasTooManyStrangers(asked))
      throw new OutboundError('busy');
    const { promise, resolve } = createDeferred<() => void>();
    const waiter: Waiter = { ...asked, grant: resolve };
    this.#queues.set(asked.tenantId, queue.add(waiter));
    this.#countWaiting(asked, 1);
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
      // An anonymous one gave back two things that different calls may wait for: its place, and one among strangers.
      if (this.#callNext() && asked.isAnonymous) this.#callNext();
    };
  }

  /** False if nobody who waits can have a place. */
  #callNext(): boolean {
    for (const [tenantId, queue] of this.#queues) {
      const next = this.#firstFree(queue);
      if (next === undefined) continue;
      this.#forget(next);
      // Behind the other tenants: an entry that is set again moves to the end of the map.
      if (this.#queues.delete(tenantId)) this.#queues.set(tenantId, queue);
      next.grant(this.#enter(next));
      return true;
    }
    return false;
  }

  #firstFree(queue: ReadonlySet<Waiter>): Waiter | undefined {
    for (const waiter of queue) if (this.#isFree(waiter)) return waiter;
    return undefined;
  }

  #isFree({ tenantId, poolName, isAnonymous }: PlaceAsked): boolean {
    const { max, ofTenantMax, ofDestinationMax } = this.#options;
    const held = this.#held;
    if (this.#taken >= max || of(held, tenantId) >= ofTenantMax || of(held, poolName) >= ofDestinationMax) return false;
    if (!isAnonymous) return true;
    const { ofTenant, ofDestination } = ANONYMOUS_PARTS;
    return (
      of(this.#heldAnonymous, tenantId) < partOf(ofTenantMax, ofTenant) &&
      of(this.#heldAnonymous, poolName) < partOf(ofDestinationMax, ofDestination)
    );
  }

  #hasTooManyStrangers({ tenantId, isAnonymous = false }: PlaceAsked): boolean {
    const most = partOf(this.#options.waitingOfTenantMax, ANONYMOUS_PARTS.waiting);
    return isAnonymous && of(this.#waitingAnonymous, tenantId) >= most;
  }

  #count({ tenantId, poolName, isAnonymous }: PlaceAsked, change: 1 | -1): void {
    this.#taken += change;
    add(this.#held, tenantId, change);
    add(this.#held, poolName, change);
    if (!isAnonymous) return;
    add(this.#heldAnonymous, tenantId, change);
    add(this.#heldAnonymous, poolName, change);
  }

  #countWaiting({ tenantId, isAnonymous }: PlaceAsked, change: 1 | -1): void {
    this.#waiting += change;
    if (isAnonymous) add(this.#waitingAnonymous, tenantId, change);
  }

  /** False if it does not wait any more. */
  #forget(waiter: Waiter): boolean {
    const queue = this.#queues.get(waiter.tenantId);
    if (!queue?.delete(waiter)) return false;
    this.#countWaiting(waiter, -1);
    if (queue.size === 0) this.#queues.delete(waiter.tenantId);
    return true;
  }
}

function of(counts: ReadonlyMap<string, number>, name: string): number {
  return counts.get(name) ?? 0;
}

function add(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const count = of(counts, name) + change;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}

/** At least one. */
function partOf(whole: number, part: number): number {
  return Math.max(1, Math.floor(whole * part));
}
