import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Clock } from '../kernel/clock.js';
import { AppError, storageUnavailable } from '../kernel/errors.js';
import type { ConnectionTarget, Dialect, TimeBounds } from './connection.js';
import { DriverFault, isConflict, isOutage, sqlStateOf } from './faults.js';
import { ConnectionPool } from './pool.js';
import type { ReplicaChange, ReplicaFault } from './replica-health.js';
import { createReplicaHealth } from './replica-health.js';
import type { ReplayPosition } from './replica-position.js';
import { checkReplay, FIND_PLACE, findPosition, ReplicaUnfit } from './replica-position.js';
import type { TenantTx } from './scope.js';

export interface ReplicaTarget {
  readonly target: ConnectionTarget;
  readonly onChange?: (change: ReplicaChange) => void;
}

export interface ReplicaFigures {
  readonly reads: number;
  readonly fallbacks: ReadonlyMap<string, number>;
  readonly isServing: boolean;
}

/** Runs `prepare` on a connection of the pool, then `work` in a tenant's read-only transaction on the same one. */
export type ReadOn = <T>(
  pool: ConnectionPool,
  tenantId: string,
  work: (tx: TenantTx) => Promise<T>,
  prepare?: (client: pg.ClientBase) => Promise<void>,
) => Promise<T>;

const CONNECTIONS_MAX = 8;
const ACQUIRE_MS = 1_000;
/** Rests between looks at how far it has replayed: together about the lag worth waiting for. */
const RESTS_MS = [1, 2, 5, 10, 20, 40, 60, 60];
/** A server that does not even say where it is in this time is not there. */
const SILENCE_MS = 1_000;

/** These end one read, which the primary then does; the next may well go through. */
const PASSING: readonly ReplicaFault[] = ['resting', 'conflict', 'cancelled', 'moved'];

export interface ReplicaReadsOptions {
  readonly replica: ReplicaTarget;
  readonly primary: ConnectionPool;
  readonly bounds: TimeBounds;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly readOn: ReadOn;
}

/** Reads that a replica answers where it has all that the caller may have written, and the primary where it has not. */
export class ReplicaReads {
  readonly #options: ReplicaReadsOptions;
  readonly #pool: ConnectionPool;
  readonly #health: ReturnType<typeof createReplicaHealth>;
  readonly #askPosition: () => Promise<ReplayPosition>;
  readonly #fallbacks = new Map<string, number>();
  #reads = 0;

  constructor(options: ReplicaReadsOptions) {
    const { replica, primary, bounds, dialect, clock } = options;
    this.#options = options;
    this.#pool = new ConnectionPool(replica.target, { ...bounds, acquireMs: ACQUIRE_MS }, CONNECTIONS_MAX);
    this.#askPosition = shareNext(() => onConnection(primary, (client) => findPosition(client, dialect)));
    this.#health = createReplicaHealth({
      clock,
      onChange: replica.onChange ?? (() => {}),
      probe: () => this.#probe(),
    });
  }

  /** Sees at least what was committed anywhere when it was called; reads from the primary where the replica does not. */
  async read<T>(tenantId: string, work: (tx: TenantTx) => Promise<T>): Promise<T> {
    const { primary, readOn } = this.#options;
    const position = await this.#positionWorthWaitingFor();
    if (position === undefined) return readOn(primary, tenantId, work);
    try {
      const result = await this.#readOnReplica(position, tenantId, work);
      this.#reads += 1;
      return result;
    } catch (error) {
      const fault = faultOf(error);
      if (fault === undefined) throw error;
      this.#passOver(fault);
      return readOn(primary, tenantId, work);
    }
  }

  figures(): ReplicaFigures {
    // A process without page requests would never check, and its metric would show a replica that does not serve.
    this.#health.look();
    return { reads: this.#reads, fallbacks: this.#fallbacks, isServing: this.#health.isServing() };
  }

  async close(): Promise<void> {
    await this.#health.close();
    // Do not wait for a replica that no longer answers.
    await Promise.race([this.#pool.end(), pause(SILENCE_MS, undefined, { ref: false })]);
  }

  async #probe(): Promise<ReplicaFault | undefined> {
    try {
      const position = await this.#askPosition();
      await onConnection(this.#pool, (client) => caughtUp(client, position, this.#options.dialect));
      return undefined;
    } catch (error) {
      return faultOf(error) ?? 'refused';
    }
  }

  async #positionWorthWaitingFor(): Promise<ReplayPosition | undefined> {
    if (!this.#health.isServing()) {
      this.#health.look();
      this.#passOver('resting');
      return undefined;
    }
    try {
      return await this.#askPosition();
    } catch (error) {
      // The primary is out of reach, so nobody can say what a caller must see.
      if (isOutage(error)) throw error;
      this.#passOver('refused');
      return undefined;
    }
  }

  async #readOnReplica<T>(position: ReplayPosition, tenantId: string, work: (tx: TenantTx) => Promise<T>): Promise<T> {
    let place: string | undefined;
    return this.#options.readOn(
      this.#pool,
      tenantId,
      async (tx) => {
        const [[found], result] = await Promise.all([tx.run(FIND_PLACE, []), work(tx)]);
        if (found?.place !== place) throw new ReplicaUnfit('moved');
        return result;
      },
      async (client) => {
        // Requests that waited for a connection while another one found the failure need not try again.
        if (!this.#health.isServing()) throw new ReplicaUnfit('resting');
        place = await caughtUp(client, position, this.#options.dialect);
      },
    );
  }

  #passOver(fault: ReplicaFault): void {
    this.#fallbacks.set(fault, (this.#fallbacks.get(fault) ?? 0) + 1);
    if (!PASSING.includes(fault)) this.#health.fail(fault);
  }
}

/** Waits a little for the replica to catch up, and says where it then is. */
async function caughtUp(client: pg.ClientBase, position: ReplayPosition, dialect: Dialect): Promise<string> {
  for (const restMs of [0, ...RESTS_MS]) {
    if (restMs > 0) await pause(restMs);
    const place = await answerOf(checkReplay(client, position, dialect));
    if (place !== undefined) return place;
  }
  throw new ReplicaUnfit('behind');
}

async function answerOf<T>(answer: Promise<T>): Promise<T> {
  const given = new AbortController();
  const silence = pause(SILENCE_MS, undefined, { signal: given.signal }).then(() => {
    throw new ReplicaUnfit('silent');
  });
  // Nobody waits for the second of the two.
  silence.catch(() => {});
  answer.catch(() => {});
  try {
    return await Promise.race([answer, silence]);
  } finally {
    given.abort();
  }
}

async function onConnection<T>(pool: ConnectionPool, act: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw storageUnavailable(new DriverFault(error));
  });
  try {
    const result = await act(client);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/**
 * One query at a time, shared by all callers that arrive before it is sent. Callers that arrive later wait for the
 * next: the answer may be older than their writes.
 */
function shareNext<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= underWay.then(() => {
      next = undefined;
      const answer = ask();
      underWay = answer.catch(() => {});
      return answer;
    });
    return next;
  };
}

/** What was wrong with the replica; undefined where the work itself threw. */
function faultOf(error: unknown): ReplicaFault | undefined {
  if (error instanceof ReplicaUnfit) return error.reason;
  if (isConflict(error)) return 'conflict';
  const state = sqlStateOf(error);
  if (state === '57014') return 'cancelled';
  if (isOutage(error)) return 'unreachable';
  const isOfDriver = error instanceof AppError && error.cause instanceof DriverFault;
  return state !== undefined || isOfDriver ? 'refused' : undefined;
}
