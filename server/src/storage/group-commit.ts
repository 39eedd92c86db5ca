import type { Clock } from '../kernel/clock.js';
import { createDeferred } from '../kernel/deferred.js';
import { AppError, storageUnavailable } from '../kernel/errors.js';
import { createFairQueue } from '../kernel/fair-queue.js';
import { isConflict, isOutage } from './faults.js';
import type { TenantTx } from './scope.js';
import { Unwritten } from './unwritten.js';

/** A change: reads and writes through its handle alone, so that running it again after a rollback is harmless. */
export type Work<T> = (tx: TenantTx) => Promise<T>;

export interface Member {
  readonly tenantId: string;
  readonly work: Work<unknown>;
  /** Whether `work` asks for everything before it waits for anything, so that the COMMIT can go out behind it at once. */
  readonly isAtOnce: boolean;
}

/** Which member made a batch fail, and why. */
export class MemberFailure extends Error {
  override readonly name = 'MemberFailure';
  readonly index: number;

  constructor(index: number, reason: unknown) {
    super('a member of the batch failed', { cause: reason });
    this.index = index;
  }
}

/**
 * Runs all members in one transaction and commits; if it rejects before the commit, nothing happened. Throws a
 * MemberFailure when one member is to blame. `Unwritten` is a value like others: the transaction goes on.
 */
export type RunBatch = (members: readonly Member[], lane: number) => Promise<unknown[]>;

export interface GroupCommitOptions {
  readonly runBatch: RunBatch;
  readonly clock: Clock;
  readonly lanes: number;
  readonly batchMax: number;
  /** How many changes wait at most, in all and of one tenant. */
  readonly queueMax: number;
  readonly queueOfTenantMax: number;
  readonly waitMaxMs: number;
  /** A batch has changes of one tenant alone. */
  readonly isByTenant?: boolean;
}

interface Queued extends Member {
  readonly queuedAtMs: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

const CONFLICT_ATTEMPTS_MAX = 3;
const CULPRITS_MAX = 3;

/**
 * Changes that arrive together share one transaction and so one flush to disk. While all lanes are busy the next batch
 * gathers, so nothing ever waits for a batch to fill. A batch in which one member fails is rolled back and runs again
 * without it: one caller's failure never fails another's change.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #queue = createFairQueue<Queued>();
  readonly #idleLanes: number[];
  readonly #onDrained: (() => void)[] = [];
  #isPumpScheduled = false;
  #isClosed = false;
  #pending = 0;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#idleLanes = Array.from({ length: options.lanes }, (_, lane) => lane);
  }

  readonly submit = this.#submitter(false);
  /** For work that asks for everything before it waits for anything. */
  readonly submitAtOnce = this.#submitter(true);

  #submitter(isAtOnce: boolean): <T>(tenantId: string, work: Work<T>) => Promise<T> {
    return <T>(tenantId: string, work: Work<T>) => {
      if (this.#isClosed) return Promise.reject(storageUnavailable(new Error('the commit queue is closed')));
      const { queueMax, queueOfTenantMax, clock } = this.#options;
      if (this.#queue.size() >= queueMax || this.#queue.sizeOf(tenantId) >= queueOfTenantMax) {
        const detail = 'Too many changes are waiting to be committed. Nothing was done; try again shortly.';
        return Promise.reject(new AppError('overloaded', detail, { headers: { 'Retry-After': '1' } }));
      }
      const { promise, resolve, reject } = createDeferred<T>();
      this.#pending += 1;
      const queuedAtMs = clock.monotonicMs();
      // The value comes from this very work, so it has the type the caller asked for.
      this.#queue.push({ tenantId, work, isAtOnce, queuedAtMs, resolve: resolve as (value: unknown) => void, reject });
      if (!this.#isPumpScheduled && this.#idleLanes.length > 0) {
        this.#isPumpScheduled = true;
        // After the requests of this turn of the event loop have been read: they then share a batch.
        setImmediate(this.#pump);
      }
      return promise;
    };
  }

  /** Resolves when everything submitted so far has its answer; what comes later is refused. */
  drain(): Promise<void> {
    this.#isClosed = true;
    if (this.#pending === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onDrained.push(resolve);
    });
  }

  depth(): number {
    return this.#pending;
  }

  #settle(finish: () => void): void {
    finish();
    this.#pending -= 1;
    if (this.#pending === 0) for (const tell of this.#onDrained.splice(0)) tell();
  }

  #answer(member: Queued, value: unknown): void {
    this.#settle(() => {
      if (value instanceof Unwritten) member.reject(value.refusal);
      else member.resolve(value);
    });
  }

  /** No attempt, first or repeated, begins later than this, so that every caller gets an answer in time. */
  #isLate(member: Queued): boolean {
    return member.queuedAtMs < this.#options.clock.monotonicMs() - this.#options.waitMaxMs;
  }

  #refuseLate(member: Queued): void {
    this.#settle(() => member.reject(storageUnavailable(new Error('waited too long for a commit lane'))));
  }

  /** Gives what it failed with, if it did. */
  async #runAlone(member: Queued, lane: number): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      if (this.#isLate(member)) return this.#refuseLate(member);
      try {
        const [value] = await this.#options.runBatch([member], lane);
        this.#answer(member, value);
        return undefined;
      } catch (failure) {
        const error = reasonOf(failure);
        if (isConflict(error) && attempt < CONFLICT_ATTEMPTS_MAX) continue;
        this.#settle(() => member.reject(error));
        return error;
      }
    }
  }

  /** Returns the failure of the store, if that was the reason. */
  async #runTogether(members: readonly Queued[], lane: number, culprits = 0): Promise<unknown> {
    let values: unknown[];
    try {
      values = await this.#options.runBatch(members, lane);
    } catch (failure) {
      const error = reasonOf(failure);
      if (!isOutage(error)) return this.#runApart(members, lane, failure, culprits);
      for (const member of members) this.#settle(() => member.reject(error));
      return error;
    }
    members.forEach((member, index) => {
      this.#answer(member, values[index]);
    });
    return undefined;
  }

  /**
   * The batch runs again without the member that failed, which then runs alone. If the member is unknown, the changes
   * of each tenant run again separately; if many fail, all run alone.
   */
  async #runApart(members: readonly Queued[], lane: number, failure: unknown, culprits: number): Promise<unknown> {
    const culprit = failure instanceof MemberFailure ? members[failure.index] : undefined;
    if (culprit === undefined || culprits === CULPRITS_MAX) {
      const parts = culprit === undefined ? partsOf(members) : members.map((member) => [member]);
      let down: unknown;
      for (const part of parts) {
        // The store went down meanwhile: if all ran one after another, the last would get its answer after minutes.
        if (down !== undefined) for (const member of part) this.#settle(() => member.reject(storageUnavailable(down)));
        else {
          const error = await this.#runPart(part, lane);
          if (isOutage(error)) down = error;
        }
      }
      return down;
    }
    const others = members.filter((member) => member !== culprit);
    const error = others.length > 0 ? await this.#runTogether(others, lane, culprits + 1) : undefined;
    return (await this.#runAlone(culprit, lane)) ?? error;
  }

  #runPart(part: readonly Queued[], lane: number): Promise<unknown> {
    const [first] = part;
    return first !== undefined && part.length === 1
      ? this.#runAlone(first, lane)
      : this.#runTogether(part, lane, CULPRITS_MAX);
  }

  /** Tenants in turn: a tenant with hundreds waiting gets what the others leave. */
  #takeBatch(): Queued[] {
    const batch: Queued[] = [];
    const { batchMax, isByTenant } = this.#options;
    while (batch.length < batchMax && this.#queue.size() > 0) {
      if (isByTenant && batch.length > 0) break;
      const free = batchMax - batch.length;
      for (const member of isByTenant ? this.#queue.takeOfOne(free) : this.#queue.take(free)) {
        if (this.#isLate(member)) this.#refuseLate(member);
        else batch.push(member);
      }
    }
    // One order for all writers, so that two batches with the same tenants wait for each other instead of deadlocking.
    return batch.sort((a, b) => (a.tenantId < b.tenantId ? -1 : a.tenantId > b.tenantId ? 1 : 0));
  }

  readonly #pump = (): void => {
    this.#isPumpScheduled = false;
    while (this.#queue.size() > 0) {
      const lane = this.#idleLanes.pop();
      if (lane === undefined) return;
      const batch = this.#takeBatch();
      const [first] = batch;
      if (first === undefined) {
        this.#idleLanes.push(lane);
        return;
      }
      const running = batch.length > 1 ? this.#runTogether(batch, lane) : this.#runAlone(first, lane);
      void running.finally(() => {
        this.#idleLanes.push(lane);
        if (this.#isPumpScheduled || this.#queue.size() === 0) return;
        // What waits leaves no sooner than what is asked for in this turn, so that both share a batch.
        this.#isPumpScheduled = true;
        setImmediate(this.#pump);
      });
    }
  };
}

/** By tenant, or the members of a single one each by itself. */
function partsOf(members: readonly Queued[]): readonly (readonly Queued[])[] {
  const parts = new Map<string, Queued[]>();
  for (const member of members) {
    const part = parts.get(member.tenantId);
    if (part) part.push(member);
    else parts.set(member.tenantId, [member]);
  }
  return parts.size === 1 ? members.map((member) => [member]) : [...parts.values()];
}

/** What a failure of a member is about; any other is about itself. */
export function reasonOf(failure: unknown): unknown {
  return failure instanceof MemberFailure ? failure.cause : failure;
}
