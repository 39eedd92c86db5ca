import type { Sender } from './tally.js';
import { createTally } from './tally.js';

/** Streams that are under way. One that waits for its client is no work, so it has no place among the requests. */
export interface StreamSlots {
  /** Throws 503 when a client, a tenant or everybody together has too many. */
  take(sender: Sender): void;
  leave(sender: Sender): void;
  /**
   * Has a stream without a key counted for the tenant it turned out to be for. Throws 503 when that tenant, or its strangers, have too
   * many: one tenant's strangers must not lock out those of the others.
   */
  assign(sender: Sender, tenantId: string): void;
  readonly taken: () => number;
}

export interface StreamSlotsOptions {
  readonly max: number;
  /** Gives back the place the request has had so far. */
  readonly onTake: (sender: Sender) => void;
}

/** One address with many streams must not use up those of all others. */
const PER_CLIENT_MAX = 200;

export function createStreamSlots({ max, onTake }: StreamSlotsOptions): StreamSlots {
  const slots = createTally(max, PER_CLIENT_MAX);
  /** The tenants of those without a key that are under way; undefined while nobody knows. */
  const tenantOf = new Map<Sender, string | undefined>();
  return {
    taken: slots.total,
    take(sender) {
      slots.add(sender, 1);
      if (sender.principal === undefined) tenantOf.set(sender, undefined);
      onTake(sender);
    },
    leave(sender) {
      const tenantId = sender.principal ? undefined : tenantOf.get(sender);
      if (tenantId === undefined) slots.remove(sender, 1);
      else slots.removeFrom(tenantId, sender, 1);
      if (!sender.principal) tenantOf.delete(sender);
    },
    assign(sender, tenantId) {
      // Its client may have left before its tenant was known.
      if (!tenantOf.has(sender) || tenantOf.get(sender) !== undefined) return;
      slots.moveTo(tenantId, 1);
      tenantOf.set(sender, tenantId);
    },
  };
}
