import { FIRST_ID, newId } from '../../../kernel/ids.js';
import type { Database } from '../../../storage/database.js';
import type { QueueStep } from './claim-queries.js';
import { claimRequests } from './claim-queries.js';
import type { EndOfHold, HeldRequest, Hold } from './held-request.js';
import { holdRequest, LEASE_MS } from './held-request.js';
import type { QueueTime } from './queue-time.js';

export interface LaneOptions {
  readonly database: Database;
  readonly time: QueueTime;
  readonly step: QueueStep;
  /** How many at a time, of all tenants and of one. */
  readonly placesMax: number;
  readonly ofTenantMax: number;
  /** Whether this process can do any now. */
  readonly isOpen: () => boolean;
  /** Does what the step is about, and writes down what came of it. */
  readonly work: (held: HeldRequest) => Promise<void>;
  readonly onFault: (error: unknown) => void;
  /** There is a place again. */
  readonly onFree: () => void;
}

export const TENANTS_PER_LOOK = 100;

/** One kind of work on requests, as much of it at a time as there are places. Tenants are served in turn. */
export class Lane {
  readonly #options: LaneOptions;
  readonly #holds = new Map<string, Hold>();
  readonly #tasks = new Set<Promise<void>>();
  #claimed = 0;
  #closedBy: EndOfHold | undefined;
  /** The tenant that was served last. */
  #after = FIRST_ID;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  get step(): QueueStep {
    return this.#options.step;
  }

  get after(): string {
    return this.#after;
  }

  get held(): number {
    return this.#holds.size;
  }

  get claimed(): number {
    return this.#claimed;
  }

  isReady(): boolean {
    return this.#free() > 0 && this.#options.isOpen();
  }

  /** Takes what these tenants have due, as far as there are places. True where it is worth looking again at once. */
  async take(tenants: readonly string[]): Promise<boolean> {
    const room = new Map(tenants.map((tenantId) => [tenantId, this.#roomOf(tenantId)]));
    const counts = allot(room, this.#free());
    const hadBegun = this.#after !== FIRST_ID;
    this.#after = (tenants.length === TENANTS_PER_LOOK ? [...counts.keys()].at(-1) : undefined) ?? FIRST_ID;
    const taken = await Promise.all([...counts].map(([tenantId, count]) => this.#claim(tenantId, count)));
    return taken.some((count) => count > 0) || (hadBegun && this.#after === FIRST_ID);
  }

  end(requestId: string): void {
    this.#holds.get(requestId)?.end('lost');
  }

  async close(): Promise<void> {
    this.#closedBy = 'closing';
    for (const hold of this.#holds.values()) hold.end('closing');
    await Promise.all(this.#tasks);
  }

  #free(): number {
    return this.#options.placesMax - this.#holds.size;
  }

  #roomOf(tenantId: string): number {
    let held = 0;
    for (const { held: each } of this.#holds.values()) if (each.row.tenant_id === tenantId) held += 1;
    return this.#options.ofTenantMax - held;
  }

  async #claim(tenantId: string, limit: number): Promise<number> {
    const { database, time, step } = this.#options;
    const lease = newId();
    const nowMs = time.nowMs();
    const terms = { step, lease, nowMs, untilMs: nowMs + LEASE_MS, limit };
    const rows = await database.write(tenantId, (tx) => claimRequests(tx, terms));
    for (const row of rows) this.#start(holdRequest(database, time, row, lease));
    return rows.length;
  }

  #start(hold: Hold): void {
    const { work, onFault, onFree } = this.#options;
    const { id } = hold.held.row;
    this.#claimed += 1;
    this.#holds.set(id, hold);
    if (this.#closedBy) hold.end(this.#closedBy);
    const task = work(hold.held)
      .catch(onFault)
      .finally(() => {
        hold.release();
        this.#holds.delete(id);
        this.#tasks.delete(task);
        onFree();
      });
    this.#tasks.add(task);
  }
}

/** How many each tenant gets of the free places, one after another in turn, and no more than it has room for. */
export function allot(room: ReadonlyMap<string, number>, free: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  let left = free;
  for (let round = 1; left > 0; round += 1) {
    const wanting = [...room].filter(([, most]) => most >= round).slice(0, left);
    if (wanting.length === 0) break;
    for (const [tenantId] of wanting) counts.set(tenantId, round);
    left -= wanting.length;
  }
  return counts;
}
