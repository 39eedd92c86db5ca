import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import type { OfTenant } from '../kernel/fair-queue.js';

export interface TenantTurnsOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** How many places there are: in all, for one tenant, and for a tenant whose work was slow recently. */
  readonly placesMax: number;
  readonly placesOfTenantMax: number;
  readonly placesOfSlowMax: number;
  /**
   * From which duration work counts as slow (it keeps a core of the database busy), and how long a tenant then counts
   * as slow.
   */
  readonly slowMs: number;
  readonly slowForMs: number;
  /** How many of one tenant wait, and how long. */
  readonly waitingOfTenantMax: number;
  readonly waitMaxMs: number;
}

interface Waiter extends OfTenant {
  readonly grant: () => void;
}

/**
 * Places for what may take long: pages, searches, reports. One tenant holds a few of them at most, so that the others
 * find some free, and where all are taken tenants are served in turn. A tenant that searches without an index keeps a
 * core busy with each search, and gets fewer places. Short reads do not pass here.
 */
export class TenantTurns {
  readonly #options: TenantTurnsOptions;
  readonly #held = new Map<string, number>();
  /** In the order in which the tenants are served next. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  /** When a tenant no longer counts as slow, the earliest first. */
  readonly #slowUntilMs = new Map<string, number>();
  #places = 0;

  constructor(options: TenantTurnsOptions) {
    this.#options = options;
  }

  /** Runs the work when the tenant has a place for it; rejects with 503 what would have to wait for too long. */
  async run<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    // A new request goes behind the waiting ones of its tenant.
    if (this.#isFree(tenantId) && !this.#waiting.has(tenantId)) this.#take(tenantId);
    else await this.#wait(tenantId);
    const { clock } = this.#options;
    const startedMs = clock.monotonicMs();
    try {
      return await work();
    } finally {
      const nowMs = clock.monotonicMs();
      this.#remember(tenantId, nowMs - startedMs, nowMs);
      this.#leave(tenantId);
    }
  }

  #isFree(tenantId: string): boolean {
    return this.#places < this.#options.placesMax && (this.#held.get(tenantId) ?? 0) < this.#shareOf(tenantId);
  }

  #shareOf(tenantId: string): number {
    const isSlow = this.#slowUntilMs.size > 0 && this.#slowUntilMs.has(tenantId);
    return isSlow ? this.#options.placesOfSlowMax : this.#options.placesOfTenantMax;
  }

  #remember(tenantId: string, tookMs: number, nowMs: number): void {
    for (const [slow, untilMs] of this.#slowUntilMs) {
      if (untilMs > nowMs) break;
      this.#slowUntilMs.delete(slow);
    }
    if (tookMs < this.#options.slowMs) return;
    this.#slowUntilMs.delete(tenantId);
    this.#slowUntilMs.set(tenantId, nowMs + this.#options.slowForMs);
  }

  #take(tenantId: string): void {
    this.#places += 1;
    this.#held.set(tenantId, (this.#held.get(tenantId) ?? 0) + 1);
  }

  #leave(tenantId: string): void {
    this.#places -= 1;
    const left = (this.#held.get(tenantId) ?? 0) - 1;
    if (left > 0) this.#held.set(tenantId, left);
    else this.#held.delete(tenantId);
    if (this.#waiting.size > 0) this.#callNext();
  }

  #callNext(): void {
    for (const [tenantId, waiters] of this.#waiting) {
      if (this.#places === this.#options.placesMax) return;
      const [next] = waiters;
      if (next === undefined || !this.#isFree(tenantId)) continue;
      this.#forget(next);
      // Behind the other tenants, which have not been served since. An entry that is set again moves to the end of the
      // map.
      if (this.#waiting.delete(tenantId)) this.#waiting.set(tenantId, waiters);
      this.#take(tenantId);
      next.grant();
    }
  }

  #forget(waiter: Waiter): void {
    const waiters = this.#waiting.get(waiter.tenantId);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiting.delete(waiter.tenantId);
  }

  /** Settles when the place is taken. */
  #wait(tenantId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiters = this.#waiting.get(tenantId) ?? new Set();
      if (waiters.size >= this.#options.waitingOfTenantMax) {
        reject(overloaded());
        return;
      }
      const late = setTimeout(() => {
        this.#forget(waiter);
        reject(overloaded());
      }, this.#options.waitMaxMs);
      const waiter: Waiter = {
        tenantId,
        grant() {
          clearTimeout(late);
          resolve();
        },
      };
      this.#waiting.set(tenantId, waiters.add(waiter));
    });
  }
}

function overloaded(): AppError {
  const detail = 'Too many reads of this Tenant are under way. Nothing was done; try again shortly.';
  return new AppError('overloaded', detail, { headers: { 'Retry-After': '1' } });
}
