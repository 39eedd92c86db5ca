import { createDeferred } from '../kernel/deferred.js';
import type { FairQueue } from '../kernel/fair-queue.js';
import { createFairQueue } from '../kernel/fair-queue.js';
import type { Bulk } from './bulk.js';
import { mayBeOneCallers } from './faults.js';

export interface Asked {
  readonly tenantId: string;
  readonly row: unknown;
}

type AnyBulk = Bulk<unknown, unknown, unknown>;

/** Runs one statement for many callers, with their tenants in scope. */
export type RunShared = (tenants: readonly string[], bulk: AnyBulk, rows: readonly unknown[]) => Promise<unknown>;

export interface SharedReads {
  find<Row, Result, Answer>(tenantId: string, bulk: Bulk<Row, Result, Answer>, row: Row): Promise<Answer>;
}

export interface SharedReadsOptions {
  readonly roundTripsMax: number;
  readonly rowsMax: number;
  /** A statement is for one tenant alone. */
  readonly isByTenant?: boolean;
}

interface Waiting extends Asked {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Point reads that arrive together share a statement and a transaction. While all round trips are under way the next
 * one gathers, so nothing waits for a batch to fill; tenants take turns. If a statement fails because of one caller,
 * the callers run again separately: one caller's failure never fails another's read.
 */
export function createSharedReads(run: RunShared, options: SharedReadsOptions): SharedReads {
  const waiting = new Map<AnyBulk, FairQueue<Waiting>>();
  let roundTrips = 0;
  let isScheduled = false;

  async function send(bulk: AnyBulk, asked: readonly Waiting[]): Promise<void> {
    const tenants = [...new Set(asked.map(({ tenantId }) => tenantId))];
    try {
      const answer = await run(
        tenants,
        bulk,
        asked.map(({ row }) => row),
      );
      for (const { resolve } of asked) resolve(answer);
    } catch (error) {
      if (asked.length > 1 && mayBeOneCallers(error)) {
        for (const part of partsOf(asked, tenants)) await send(bulk, part);
      } else for (const { reject } of asked) reject(error);
    }
  }

  const onDone = (): void => {
    roundTrips -= 1;
    if (isScheduled || waiting.size === 0) return;
    // What waits leaves no sooner than what is asked for in this turn, so that both share a round trip.
    isScheduled = true;
    setImmediate(pump);
  };

  function pump(): void {
    isScheduled = false;
    for (const [bulk, queue] of waiting) {
      while (queue.size() > 0 && roundTrips < options.roundTripsMax) {
        roundTrips += 1;
        const asked = options.isByTenant ? queue.takeOfOne(options.rowsMax) : queue.take(options.rowsMax);
        void send(bulk, asked).finally(onDone);
      }
      if (queue.size() === 0) waiting.delete(bulk);
    }
  }

  return {
    find<Row, Result, Answer>(tenantId: string, bulk: Bulk<Row, Result, Answer>, row: Row): Promise<Answer> {
      const { promise, resolve, reject } = createDeferred<Answer>();
      // Rows and answers of one statement are never mixed with another's, so the types match.
      const key = bulk as unknown as AnyBulk;
      const asked: Waiting = { tenantId, row, resolve: resolve as (answer: unknown) => void, reject };
      const queue = waiting.get(key) ?? createFairQueue();
      queue.push(asked);
      waiting.set(key, queue);
      if (!isScheduled && roundTrips < options.roundTripsMax) {
        isScheduled = true;
        // After the requests of this turn of the event loop have been read: they then share a round trip.
        setImmediate(pump);
      }
      return promise;
    },
  };
}

/** By tenant, so that all but one of them are served at once; the asks of a single tenant one by one. */
function partsOf(asked: readonly Waiting[], tenants: readonly string[]): Waiting[][] {
  if (tenants.length === 1) return asked.map((each) => [each]);
  return tenants.map((tenantId) => asked.filter((each) => each.tenantId === tenantId));
}
