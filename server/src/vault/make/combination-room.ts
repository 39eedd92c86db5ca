import type { Database } from '../../storage/database.js';
import type { Combination, CombinationCount } from './combination-queries.js';
import { countCombinations, findKnown, freeEmpty } from './combination-queries.js';

export interface CombinationBounds {
  readonly all: number;
  readonly byStrangers: number;
}

/** How much room a tenant has for combinations that are new. */
export interface CombinationRoom {
  /** The new ones among these, if there is no room for them. */
  overflowOf<T extends Combination>(
    tenantId: string,
    asked: readonly T[],
    isByStranger: boolean,
  ): Promise<readonly T[]>;
  /** Makes room by what is empty, and tells whether there was any. Looks only now and then. */
  isFreed(tenantId: string, nowMs: number): Promise<boolean>;
}

/** One that nobody asked for since, and that no token is in, may go. Far more than any process remembers it. */
const UNSEEN_SECONDS = 3_600;
/** How often room is looked for where there is none left: looking goes over all of a tenant's. */
const FREEING_MS = 60_000;
const TENANTS_MAX = 50_000;

export function createCombinationRoom(database: Database, bounds: CombinationBounds): CombinationRoom {
  const freedAtMs = new Map<string, number>();

  return {
    async overflowOf(tenantId, asked, isByStranger) {
      const groupIds = asked.map(({ groupId }) => groupId);
      const [there, count] = await database.readAtOnce(tenantId, (tx) =>
        Promise.all([findKnown(tx, groupIds), countCombinations(tx)]),
      );
      const fresh = asked.filter(({ groupId }) => !there.has(groupId));
      const added = new Set(fresh.map(({ groupId }) => groupId)).size;
      return added > roomIn(bounds, count, isByStranger) ? fresh : [];
    },
    async isFreed(tenantId, nowMs) {
      if ((freedAtMs.get(tenantId) ?? Number.NEGATIVE_INFINITY) > nowMs - FREEING_MS) return false;
      if (freedAtMs.size >= TENANTS_MAX) freedAtMs.clear();
      freedAtMs.set(tenantId, nowMs);
      return (await database.write(tenantId, (tx) => freeEmpty(tx, UNSEEN_SECONDS))) > 0;
    },
  };
}

function roomIn(bounds: CombinationBounds, count: CombinationCount, isByStranger: boolean): number {
  const room = bounds.all - count.all;
  return isByStranger ? Math.min(room, bounds.byStrangers - count.byStrangers) : room;
}
