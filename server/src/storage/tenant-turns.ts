import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import type { OfTenant } from '../kernel/fair-queue.js';

export interface TenantTurnsOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** How many hold a place at once, in all and of one tenant, and of one whose work took long of late. */
  readonly placesMax: number;
  readonly placesOfTenantMax: number;
  readonly placesOfSlowMax: number;
  /** Work that takes so long keeps a processor of the database busy; and for how long that is remembered of a tenant. */
  readonly slowMs: number;
  readonly slowForMs: number;
  /** How many of one tenant wait, and how long. */
  readonly waitingOfTenantMax: number;
  readonly waitMaxMs: number;
}

export interface TenantTurns {
  /** Runs the work when the tenant has a place for it; rejects with 503 what would have to wait for too long. */
  run<T>(tenantId: string, work: () => Promise<T>): Promise<T>;
}

interface Waiter extends OfTenant {
  readonly enter: () => void;
}

/**
 * Places for what may take long: pages, searches, reports. One tenant holds a few of them at most, so that the others find
 * some free, and where all are taken tenants are served in turn. Places are not all there is to share: whoever searches without
 * an index keeps a processor busy with each, and gets fewer. What is over in no time does not pass here.
 */
export function createTenantTurns(options: TenantTurnsOptions): TenantTurns {
  const { clock, placesMax, waitingOfTenantMax, waitMaxMs } = options;
  const held = new Map<string, number>();
  /** In the order in which the tenants are served next. */
  const waiting = new Map<string, Set<Waiter>>();
  /** When it is forgotten that a tenant was slow, the first to be forgotten first. */
  const slowUntilMs = new Map<string, number>();
  let places = 0;

  const shareOf = (tenantId: string) =>
    slowUntilMs.size > 0 && slowUntilMs.has(tenantId) ? options.placesOfSlowMax : options.placesOfTenantMax;
  const isFree = (tenantId: string) => places < placesMax && (held.get(tenantId) ?? 0) < shareOf(tenantId);

  function remember(tenantId: string, tookMs: number, nowMs: number): void {
    for (const [slow, untilMs] of slowUntilMs) {
      if (untilMs > nowMs) break;
      slowUntilMs.delete(slow);
    }
    if (tookMs < options.slowMs) return;
    slowUntilMs.delete(tenantId);
    slowUntilMs.set(tenantId, nowMs + options.slowForMs);
  }

  function take(tenantId: string): void {
    places += 1;
    held.set(tenantId, (held.get(tenantId) ?? 0) + 1);
  }

  function leave(tenantId: string): void {
    places -= 1;
    const left = (held.get(tenantId) ?? 0) - 1;
    if (left > 0) held.set(tenantId, left);
    else held.delete(tenantId);
    if (waiting.size > 0) callNext();
  }

  function callNext(): void {
    for (const [tenantId, waiters] of waiting) {
      if (places === placesMax) return;
      const [next] = waiters;
      if (next === undefined || !isFree(tenantId)) continue;
      forget(next);
      // Behind the others, who have not been served since. What is set again comes up again here.
      if (waiting.delete(tenantId)) waiting.set(tenantId, waiters);
      take(tenantId);
      next.enter();
    }
  }

  function forget(waiter: Waiter): void {
    const waiters = waiting.get(waiter.tenantId);
    waiters?.delete(waiter);
    if (waiters?.size === 0) waiting.delete(waiter.tenantId);
  }

  /** Settles when the place is taken. */
  function wait(tenantId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiters = waiting.get(tenantId) ?? new Set();
      if (waiters.size >= waitingOfTenantMax) {
        reject(overloaded());
        return;
      }
      const late = setTimeout(() => {
        forget(waiter);
        reject(overloaded());
      }, waitMaxMs);
      const waiter: Waiter = {
        tenantId,
        enter() {
          clearTimeout(late);
          resolve();
        },
      };
      waiting.set(tenantId, waiters.add(waiter));
    });
  }

  return {
    async run(tenantId, work) {
      // Whoever comes now goes behind those of its tenant that wait already.
      if (isFree(tenantId) && !waiting.has(tenantId)) take(tenantId);
      else await wait(tenantId);
      const startedMs = clock.monotonicMs();
      try {
        return await work();
      } finally {
        const nowMs = clock.monotonicMs();
        remember(tenantId, nowMs - startedMs, nowMs);
        leave(tenantId);
      }
    },
  };
}

function overloaded(): AppError {
  const detail = 'Too many reads of this Tenant are under way. Nothing was done; try again shortly.';
  return new AppError('overloaded', detail, { headers: { 'Retry-After': '1' } });
}
