import type { Bulk } from './bulk.js';

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

interface Waiting extends Asked {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Point reads that arrive together share a statement and a transaction. While every flight is out the next one gathers
 * by itself, so nobody waits for company.
 */
export function createSharedReads(
  run: RunShared,
  options: { readonly flightsMax: number; readonly rowsMax: number },
): SharedReads {
  const waiting = new Map<AnyBulk, Waiting[]>();
  let flights = 0;
  let isScheduled = false;

  async function fly(bulk: AnyBulk, asked: readonly Waiting[]): Promise<void> {
    flights += 1;
    try {
      const tenants = [...new Set(asked.map(({ tenantId }) => tenantId))];
      const answer = await run(
        tenants,
        bulk,
        asked.map(({ row }) => row),
      );
      for (const { resolve } of asked) resolve(answer);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    } finally {
      flights -= 1;
      pump();
    }
  }

  function pump(): void {
    isScheduled = false;
    for (const [bulk, queue] of waiting) {
      while (queue.length > 0 && flights < options.flightsMax) void fly(bulk, queue.splice(0, options.rowsMax));
      if (queue.length === 0) waiting.delete(bulk);
    }
  }

  return {
    find(tenantId, bulk, row) {
      return new Promise((resolve, reject) => {
        // Rows and answers of one statement meet only each other, so the types that went in come out.
        const key = bulk as unknown as AnyBulk;
        const asked: Waiting = { tenantId, row, resolve: resolve as (answer: unknown) => void, reject };
        const queue = waiting.get(key);
        if (queue) queue.push(asked);
        else waiting.set(key, [asked]);
        if (isScheduled || flights >= options.flightsMax) return;
        isScheduled = true;
        // After the requests of this turn of the event loop have been read: they then share a flight.
        setImmediate(pump);
      });
    },
  };
}
