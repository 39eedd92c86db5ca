import type { Clock } from '../../kernel/clock.js';

/** Says whether there is room to keep an answer of so many bytes for a tenant, and takes it. */
export type KeepBudget = (tenantId: string, bytes: number) => boolean;

/** Answers up to here are always kept: they are smaller than what the request itself leaves in tokens and log. */
export const SMALL_BYTES_MAX = 16_384;
/** Of larger ones, for each tenant, so much at once and as much again every hour. */
export const LARGE_BYTES_MAX = 67_108_864;
const REFILL_MS = 3_600_000;
const TENANTS_MAX = 10_000;

interface Account {
  bytesLeft: number;
  atMs: number;
}

/**
 * Whoever holds a public key can ask for large answers as fast as the rate limits allow, and each would lie there for a
 * day. Counted in the process: what it must bound is a table, not a bill.
 */
export function createKeepBudget(clock: Clock): KeepBudget {
  const accounts = new Map<string, Account>();

  return (tenantId, bytes) => {
    if (bytes <= SMALL_BYTES_MAX) return true;
    const atMs = clock.monotonicMs();
    const known = accounts.get(tenantId);
    const refill = known === undefined ? LARGE_BYTES_MAX : ((atMs - known.atMs) / REFILL_MS) * LARGE_BYTES_MAX;
    const bytesLeft = Math.min(LARGE_BYTES_MAX, (known?.bytesLeft ?? 0) + refill);
    const isRoom = bytes <= bytesLeft;
    // Deleted first, so that the first of the map is the one unused for longest.
    accounts.delete(tenantId);
    accounts.set(tenantId, { bytesLeft: isRoom ? bytesLeft - bytes : bytesLeft, atMs });
    if (accounts.size > TENANTS_MAX) {
      const [oldest] = accounts.keys();
      if (oldest !== undefined) accounts.delete(oldest);
    }
    return isRoom;
  };
}
