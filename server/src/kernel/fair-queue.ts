/** An item that belongs to a tenant. */
export interface OfTenant {
  readonly tenantId: string;
}

export interface FairQueue<T extends OfTenant> {
  push(item: T): void;
  /** At most `max` items, taken from the tenants in turn; the items of one tenant in the order they came. */
  take(max: number): T[];
  /** At most `max` items of the tenant whose turn it is. */
  takeOfOne(max: number): T[];
  /** How many wait, and how many of them are this tenant's. */
  size(): number;
  sizeOf(tenantId: string): number;
}

/** A tenant with hundreds of items gets what the others leave; the others do not wait for all of them. */
export function createFairQueue<T extends OfTenant>(): FairQueue<T> {
  /** In the order in which the tenants are served next. */
  const byTenant = new Map<string, T[]>();
  let size = 0;

  function takeInTurn(max: number): T[] {
    const taken: T[] = [];
    // An entry that is set again moves to the end of the map, so this loop goes round until enough items are taken.
    for (const [tenantId, items] of byTenant) {
      if (taken.length === max) break;
      byTenant.delete(tenantId);
      const item = items.shift();
      if (item !== undefined) taken.push(item);
      if (items.length > 0) byTenant.set(tenantId, items);
    }
    return taken;
  }

  function takeAll(): T[] {
    const taken: T[] = [];
    for (const items of byTenant.values()) {
      for (const item of items) taken.push(item);
      // Clearing a map leaves its old table to the garbage collector, which would move what it holds into the old
      // generation.
      items.length = 0;
    }
    byTenant.clear();
    return taken;
  }

  return {
    push(item) {
      const items = byTenant.get(item.tenantId);
      if (items) items.push(item);
      else byTenant.set(item.tenantId, [item]);
      size += 1;
    },
    take(max) {
      const taken = size <= max ? takeAll() : takeInTurn(max);
      size -= taken.length;
      return taken;
    },
    takeOfOne(max) {
      for (const [tenantId, items] of byTenant) {
        byTenant.delete(tenantId);
        const taken = items.splice(0, max);
        if (items.length > 0) byTenant.set(tenantId, items);
        size -= taken.length;
        return taken;
      }
      return [];
    },
    size: () => size,
    sizeOf: (tenantId) => byTenant.get(tenantId)?.length ?? 0,
  };
}
