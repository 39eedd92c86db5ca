import { availableParallelism } from 'node:os';
import type { Clock } from '../../kernel/clock.js';
import type { PreparedRun } from '../engine/prepared-run.js';
import type { CodeVersion, Run, RunBounds, RunOutcome } from '../run.js';
import { watchRun } from './demotion.js';
import { Turns } from './turns.js';
import type { Waiter } from './waiting.js';
import { Waiting } from './waiting.js';

/** What the pool needs of a process. */
export interface PooledInstance {
  readonly enginePid: number;
  readonly isUsable: boolean;
  readonly ended: Promise<void>;
  run(prepared: PreparedRun, bounds: RunBounds): Promise<RunOutcome>;
  kill(): void;
}

export interface PoolOptions<I extends PooledInstance> {
  /** Makes and starts one that has no code yet. */
  readonly startInstance: () => Promise<I>;
  readonly load: (instance: I, code: CodeVersion) => Promise<void>;
  /** Instances with code, of all tenants and of one. */
  readonly instancesMax: number;
  readonly instancesPerTenantMax: number;
  /** Instances without code, started ahead. */
  readonly blanks: number;
  /** How long a call waits for an instance, and how many do, of all tenants and of one: each keeps a request waiting. */
  readonly waitMs: number;
  readonly waitingMax: number;
  readonly waitingPerTenantMax: number;
  /** How long one without a call is kept, and how many calls it serves. */
  readonly idleMs: number;
  readonly callsMax: number;
  readonly clock: Clock;
  /** An instance could not be started. */
  readonly onFault: (error: unknown) => void;
}

/**
 * How long the start of the next blank is put off when one was taken. Starting a process takes the processors for a while, and
 * the call that took the blank needs them now.
 */
const REFILL_MS = 100;

/** Figures for metrics. */
export interface PoolFigures {
  readonly instances: number;
  readonly busy: number;
  readonly blanks: number;
  readonly waiting: number;
  readonly coldStarts: number;
}

/** Every instance that may be had is in use, and stayed so. */
export class PoolFullError extends Error {}
/** An instance could not be started. */
export class StartError extends Error {}

interface Assigned<I> {
  readonly instance: I;
  readonly tenantId: string;
  readonly key: string;
  isBusy: boolean;
  calls: number;
  idleSinceMs: number;
}

/** A place to start an instance in, or an instance that has the code already. */
type Grant<I> = Assigned<I> | 'place';

/**
 * Which process runs which code. Of each version one instance stays warm; further calls at the same time get instances of their
 * own, which end with them. Tenants wait in turn.
 */
export class Pool<I extends PooledInstance> {
  readonly #options: PoolOptions<I>;
  readonly #waiting = new Waiting<Grant<I>>();
  readonly #turns = new Turns(Math.max(1, availableParallelism() - 1));
  readonly #assigned = new Set<Assigned<I>>();
  readonly #warm = new Map<string, Assigned<I>>();
  /** Places that were granted to calls whose instance is not there yet, by tenant. */
  readonly #starting = new Map<string, number>();
  #blanks: I[] = [];
  #blanksStarting = 0;
  #coldStarts = 0;
  #isClosed = false;
  readonly #sweep: NodeJS.Timeout;
  #refill: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions<I>) {
    this.#options = options;
    this.#sweep = setInterval(() => this.#endIdle(), options.idleMs / 10);
    this.#sweep.unref();
  }

  /** What is run is asked for once there is an instance for it. */
  async run(code: CodeVersion, prepare: () => Promise<PreparedRun>, bounds: RunBounds): Promise<Run> {
    const used = await this.#acquire(code);
    const prepared = await prepare().catch((error: unknown) => {
      this.#release(used, false);
      throw error;
    });
    const { tenantId } = code;
    const { enginePid } = used.instance;
    const stopWatching = watchRun(enginePid, () => this.#turns.join(tenantId, enginePid));
    const isCold = used.calls === 0;
    used.calls += 1;
    const outcome = await used.instance.run(prepared, bounds);
    const isDemoted = stopWatching();
    this.#turns.leave(tenantId, enginePid);
    this.#release(used, bounds.isOnce === true || isDemoted);
    return { outcome, isCold };
  }

  /** Starts as many instances ahead as are wanted. */
  fill(): void {
    while (!this.#isClosed && this.#blanks.length + this.#blanksStarting < this.#options.blanks) {
      this.#blanksStarting += 1;
      void this.#options
        .startInstance()
        .then((instance) => {
          if (this.#isClosed) return instance.kill();
          this.#blanks.push(instance);
          void instance.ended.then(() => {
            this.#blanks = this.#blanks.filter((blank) => blank !== instance);
          });
        }, this.#options.onFault)
        .finally(() => {
          this.#blanksStarting -= 1;
        });
    }
  }

  #fillSoon(): void {
    this.#refill ??= setTimeout(() => {
      this.#refill = undefined;
      this.fill();
    }, REFILL_MS).unref();
  }

  figures(): PoolFigures {
    let busy = 0;
    for (const { isBusy } of this.#assigned) if (isBusy) busy += 1;
    return {
      instances: this.#assigned.size,
      busy,
      blanks: this.#blanks.length,
      waiting: this.#waiting.size,
      coldStarts: this.#coldStarts,
    };
  }

  /** Ends every process, runs under way included. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweep);
    clearTimeout(this.#refill);
    for (const { reject } of this.#waiting.takeAll()) reject(new PoolFullError('the service is stopping'));
    const all = [...this.#blanks, ...[...this.#assigned].map(({ instance }) => instance)];
    for (const instance of all) instance.kill();
    await Promise.all(all.map(({ ended }) => ended));
  }

  async #acquire(code: CodeVersion): Promise<Assigned<I>> {
    if (this.#isClosed) throw new PoolFullError('the service is stopping');
    const key = keyOf(code);
    const warm = this.#warm.get(key);
    if (warm && !warm.isBusy && warm.instance.isUsable) {
      warm.isBusy = true;
      return warm;
    }
    const granted = this.#hasPlaceFor(code.tenantId)
      ? this.#takePlace(code.tenantId)
      : await this.#wait(code.tenantId, key);
    return granted === 'place' ? this.#assign(code, key) : granted;
  }

  #takePlace(tenantId: string): 'place' {
    this.#starting.set(tenantId, (this.#starting.get(tenantId) ?? 0) + 1);
    return 'place';
  }

  #givePlaceBack(tenantId: string): void {
    const left = (this.#starting.get(tenantId) ?? 1) - 1;
    if (left === 0) this.#starting.delete(tenantId);
    else this.#starting.set(tenantId, left);
  }

  #wait(tenantId: string, key: string): Promise<Grant<I>> {
    const { waitingMax, waitingPerTenantMax } = this.#options;
    if (this.#waiting.size >= waitingMax || this.#waiting.countOf(tenantId) >= waitingPerTenantMax) {
      return Promise.reject(new PoolFullError('too many calls wait'));
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.remove(waiter);
        reject(new PoolFullError('every instance is in use'));
      }, this.#options.waitMs);
      const waiter: Waiter<Grant<I>> = {
        tenantId,
        key,
        resolve(granted) {
          clearTimeout(timer);
          resolve(granted);
        },
        reject(error) {
          clearTimeout(timer);
          reject(error);
        },
      };
      this.#waiting.add(waiter);
    });
  }

  /** Makes room by ending one that waits for calls, of the tenant itself or of whoever has not used it for longest. */
  #hasPlaceFor(tenantId: string): boolean {
    const { instancesMax } = this.#options;
    const starting = [...this.#starting.values()].reduce((sum, count) => sum + count, 0);
    if (!this.#isBelowBound(tenantId)) return this.#endOldest(this.#assignedTo(tenantId));
    return this.#assigned.size + starting < instancesMax || this.#endOldest([...this.#assigned]);
  }

  #isBelowBound(tenantId: string): boolean {
    const held = this.#assignedTo(tenantId).length + (this.#starting.get(tenantId) ?? 0);
    return held < this.#options.instancesPerTenantMax;
  }

  #assignedTo(tenantId: string): Assigned<I>[] {
    return [...this.#assigned].filter((each) => each.tenantId === tenantId);
  }

  #endOldest(among: readonly Assigned<I>[]): boolean {
    const idle = among.filter(({ isBusy }) => !isBusy);
    const [first, ...others] = idle;
    if (!first) return false;
    const oldest = others.reduce((one, each) => (each.idleSinceMs < one.idleSinceMs ? each : one), first);
    // Whoever asks takes the place: nobody else may be given it.
    this.#remove(oldest);
    oldest.instance.kill();
    return true;
  }

  async #assign(code: CodeVersion, key: string): Promise<Assigned<I>> {
    this.#coldStarts += 1;
    try {
      const used = await this.#obtain(code.tenantId, key);
      await this.#load(used, code);
      return used;
    } catch (error) {
      this.#options.onFault(error);
      this.#serveWaiting();
      throw new StartError('no instance could be started', { cause: error });
    }
  }

  /** The place that was kept for it is given back when it counts itself, and not a moment earlier. */
  async #obtain(tenantId: string, key: string): Promise<Assigned<I>> {
    try {
      const instance = this.#takeBlank() ?? (await this.#options.startInstance());
      // Nobody would end one that comes up behind the end.
      if (this.#isClosed) instance.kill();
      return this.#take(instance, tenantId, key);
    } finally {
      this.#givePlaceBack(tenantId);
      this.#fillSoon();
    }
  }

  #take(instance: I, tenantId: string, key: string): Assigned<I> {
    const used: Assigned<I> = { instance, tenantId, key, isBusy: true, calls: 0, idleSinceMs: 0 };
    this.#assigned.add(used);
    void instance.ended.then(() => this.#gone(used));
    if (!this.#warm.has(key)) this.#warm.set(key, used);
    return used;
  }

  async #load(used: Assigned<I>, code: CodeVersion): Promise<void> {
    try {
      await this.#options.load(used.instance, code);
    } catch (error) {
      this.#drop(used);
      throw error;
    }
  }

  #takeBlank(): I | undefined {
    const instance = this.#blanks.pop();
    return instance && !instance.isUsable ? this.#takeBlank() : instance;
  }

  #release(used: Assigned<I>, isSpent: boolean): void {
    if (this.#isClosed) return;
    if (isSpent || !used.instance.isUsable || used.calls >= this.#options.callsMax) {
      this.#drop(used);
      return;
    }
    const waiter = this.#waiting.takeFor(used.tenantId, used.key, (tenantId) => this.#isBelowBound(tenantId));
    if (waiter) {
      waiter.resolve(used);
      return;
    }
    used.isBusy = false;
    used.idleSinceMs = this.#options.clock.monotonicMs();
    if (this.#warm.get(used.key) === used) this.#serveWaiting();
    else this.#drop(used);
  }

  /** Its place is free at once; the process is gone a moment later. */
  #drop(used: Assigned<I>): void {
    this.#remove(used);
    used.instance.kill();
    this.#serveWaiting();
  }

  #gone(used: Assigned<I>): void {
    this.#remove(used);
    this.#serveWaiting();
  }

  #remove(used: Assigned<I>): void {
    this.#assigned.delete(used);
    if (this.#warm.get(used.key) === used) this.#warm.delete(used.key);
  }

  #serveWaiting(): void {
    for (;;) {
      const waiter = this.#waiting.takeNext((tenantId) => this.#hasPlaceFor(tenantId));
      if (!waiter) return;
      waiter.resolve(this.#takePlace(waiter.tenantId));
    }
  }

  #endIdle(): void {
    const sinceMs = this.#options.clock.monotonicMs() - this.#options.idleMs;
    for (const each of this.#assigned) if (!each.isBusy && each.idleSinceMs < sinceMs) this.#drop(each);
  }
}

function keyOf({ tenantId, ownerId, version }: CodeVersion): string {
  return `${tenantId}/${ownerId}/${version}`;
}
