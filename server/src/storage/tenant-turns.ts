import { AppError } from '../kernel/errors.js';
import type { OfTenant } from './fair-queue.js';

export interface TenantTurnsOptions {
  /** How many hold a place at once, in all and of one tenant. */
  readonly placesMax: number;
  readonly placesOfTenantMax: number;
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
 * some free, and where all are taken tenants are served in turn. What is over in no time does not pass here.
 */
export function createTenantTurns(options: TenantTurnsOptions): TenantTurns {
  const { placesMax, placesOfTenantMax, waitingOfTenantMax, waitMaxMs } = options;
  const held = new Map<string, number>();
  /** In the order in which the tenants are served next. */
  const waiting = new Map<string, Set<Waiter>>();
  let places = 0;

  const isFree = (tenantId: string) => places < placesMax && (held.get(tenantId) ?? 0) < placesOfTenantMax;

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
      try {
        return await work();
      } finally {
        leave(tenantId);
      }
    },
  };
}

function overloaded(): AppError {
  const detail = 'Too many lists and searches of this Tenant are under way. Nothing was done; try again shortly.';
  return new AppError('overloaded', detail, { headers: { 'Retry-After': '1' } });
}
