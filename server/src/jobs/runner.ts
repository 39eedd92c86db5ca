import type { Clock } from '../kernel/clock.js';
import type { Database } from '../storage/database.js';
import { statement } from '../storage/statement.js';

export interface Job {
  readonly name: string;
  /** How long to rest when a step found nothing to do. */
  readonly restMs: number;
  /** Does a bounded piece of work and returns how much it did. Must be safe to stop after and to repeat. */
  readonly step: (lead: Lead) => Promise<number>;
}

/** What a step gets from the runner. */
export interface Lead {
  /** The time as the database has it. */
  readonly databaseMs: number;
}

export interface JobRunner {
  /** Looks for work now instead of at the end of the rest. */
  wake(name: string): void;
  /** Waits for the steps under way. */
  close(): Promise<void>;
  readonly done: (name: string) => number;
  /** Of every job, how much it did and how often a step failed, since this process started. */
  readonly totals: () => { readonly done: ReadonlyMap<string, number>; readonly failed: ReadonlyMap<string, number> };
}

/** Which of several equal processes this is, from 1, and how many there are. */
export interface JobSlot {
  readonly slot: number;
  readonly of: number;
}

export interface JobRunnerOptions {
  readonly database: Database;
  readonly jobs: readonly Job[];
  readonly onFault: (name: string, error: unknown) => void;
  readonly clock: Clock;
  readonly turn?: JobSlot | undefined;
  /** After this a lead ends although its step has not. */
  readonly leadMaxMs?: number;
}

const TRY_LEAD = statement<{ is_leader: boolean; database_ms: number }>(
  'try_lead',
  // The transaction that holds the lock is idle while the step runs in others.
  `SELECT pg_try_advisory_xact_lock(hashtext('strongroom.job.' || $1)) AS is_leader,
          set_config('idle_in_transaction_session_timeout', $2, true) AS idle,
          (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS database_ms`,
);

/**
 * Far longer than any step takes. A machine that is cut off or frozen would otherwise keep the lead until the server gives
 * its connection up, which by default is hours.
 */
const LEAD_MAX_MS = 600_000;
const ALONE: JobSlot = { slot: 1, of: 1 };

/**
 * Runs every job in a loop of its own. The leader's lock lives in a transaction around each step, so it ends with the
 * process that held it, and works through a proxy that pools transactions.
 */
export function startJobs(options: JobRunnerOptions): JobRunner {
  const inTurn = createKeyedLock();
  const loops = new Map(options.jobs.map((job) => [job.name, new JobLoop(job, options, inTurn)]));
  const running = [...loops.values()].map((loop) => loop.run());
  const figures = (of: (loop: JobLoop) => number) => new Map([...loops].map(([name, loop]) => [name, of(loop)]));
  return {
    wake: (name) => loops.get(name)?.wake(),
    async close() {
      for (const loop of loops.values()) loop.close();
      await Promise.all(running);
    },
    done: (name) => loops.get(name)?.done ?? 0,
    totals: () => ({ done: figures(({ done }) => done), failed: figures(({ failed }) => failed) }),
  };
}

class JobLoop {
  /** How much it did and how often a step failed. */
  done = 0;
  failed = 0;
  readonly #job: Job;
  readonly #options: JobRunnerOptions;
  readonly #inTurn: KeyedLock;
  #isClosed = false;
  /** Woken while at work: the step may have looked too early. */
  #isWoken = false;
  #endRest = (): void => {};

  constructor(job: Job, options: JobRunnerOptions, inTurn: KeyedLock) {
    this.#job = job;
    this.#options = options;
    this.#inTurn = inTurn;
  }

  async run(): Promise<void> {
    while (!this.#isClosed) {
      let done = 0;
      this.#isWoken = false;
      try {
        done = await this.#inTurn(async () => (this.#isClosed ? 0 : this.#leadOneStep()));
        this.done += done;
      } catch (error) {
        this.failed += 1;
        this.#options.onFault(this.#job.name, error);
      }
      if (done === 0 && !this.#isClosed && !this.#isWoken) await this.#rest();
    }
  }

  wake(): void {
    this.#isWoken = true;
    this.#endRest();
  }

  close(): void {
    this.#isClosed = true;
    this.#endRest();
  }

  async #leadOneStep(): Promise<number> {
    const { database, leadMaxMs = LEAD_MAX_MS } = this.#options;
    return database.system(async (tx) => {
      const [row] = await tx.run(TRY_LEAD, [this.#job.name, String(leadMaxMs)]);
      return row?.is_leader ? this.#job.step({ databaseMs: row.database_ms }) : 0;
    });
  }

  #rest(): Promise<void> {
    const { clock, turn = ALONE } = this.#options;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, restUntilTurn(this.#job.restMs, clock.nowMs(), turn));
      timer.unref();
      this.#endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

type KeyedLock = (act: () => Promise<number>) => Promise<number>;

/** A leader holds a connection while its step needs another: several leaders at once could hold all connections. */
function createKeyedLock(): KeyedLock {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const turn = last.then(act);
    last = turn.catch(() => {});
    return turn;
  };
}

/**
 * Processes of one machine take turns in looking, by the clock they share: together they look as often as one process
 * would. If one misses its turn, the next one looks.
 */
export function restUntilTurn(restMs: number, nowMs: number, { slot, of }: JobSlot): number {
  if (of === 1) return restMs;
  const roundMs = restMs * of;
  const untilTurnMs = roundMs - ((nowMs - restMs * slot) % roundMs);
  // Its turn is now, and it has just looked.
  return untilTurnMs < restMs / 2 ? untilTurnMs + roundMs : untilTurnMs;
}
