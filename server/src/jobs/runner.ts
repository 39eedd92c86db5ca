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

/** What whoever leads a step is told. */
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
export interface Turn {
  readonly slot: number;
  readonly of: number;
}

export interface JobRunnerOptions {
  readonly database: Database;
  readonly jobs: readonly Job[];
  readonly onFault: (name: string, error: unknown) => void;
  readonly clock: Clock;
  readonly turn?: Turn | undefined;
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

/**
 * Runs every job in a loop of its own. The leader's lock lives in a transaction around each step, so it ends with the
 * process that held it, and works through a proxy that pools transactions.
 */
export function startJobs(options: JobRunnerOptions): JobRunner {
  const { turn = { slot: 1, of: 1 }, leadMaxMs = LEAD_MAX_MS } = options;
  let isClosed = false;
  const wakers = new Map<string, () => void>();
  /** Jobs that were woken while at work: their step may have looked too early. */
  const woken = new Set<string>();
  const totals = new Map(options.jobs.map(({ name }) => [name, 0]));
  const failures = new Map(options.jobs.map(({ name }) => [name, 0]));

  function rest(job: Job): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, restUntilTurn(job.restMs, options.clock.nowMs(), turn));
      timer.unref();
      wakers.set(job.name, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** A lead holds a connection while its step needs another: several at once could hold all there are. */
  let lastTurn: Promise<unknown> = Promise.resolve();
  function inTurn(act: () => Promise<number>): Promise<number> {
    const turn = lastTurn.then(act);
    lastTurn = turn.catch(() => {});
    return turn;
  }

  async function leadOneStep(job: Job): Promise<number> {
    return options.database.system(async (tx) => {
      const [row] = await tx.run(TRY_LEAD, [job.name, String(leadMaxMs)]);
      return row?.is_leader ? job.step({ databaseMs: row.database_ms }) : 0;
    });
  }

  async function loop(job: Job): Promise<void> {
    while (!isClosed) {
      let done = 0;
      woken.delete(job.name);
      try {
        done = await inTurn(async () => (isClosed ? 0 : leadOneStep(job)));
        totals.set(job.name, (totals.get(job.name) ?? 0) + done);
      } catch (error) {
        failures.set(job.name, (failures.get(job.name) ?? 0) + 1);
        options.onFault(job.name, error);
      }
      if (done === 0 && !isClosed && !woken.has(job.name)) await rest(job);
    }
  }

  const loops = options.jobs.map(loop);
  return {
    wake(name) {
      woken.add(name);
      wakers.get(name)?.();
    },
    async close() {
      isClosed = true;
      for (const wake of wakers.values()) wake();
      await Promise.all(loops);
    },
    done: (name) => totals.get(name) ?? 0,
    totals: () => ({ done: totals, failed: failures }),
  };
}

/**
 * Processes of one machine look by turns, in the order of their slots, by the clock they share: together as often as one
 * would alone. Whoever misses its turn is followed by the next.
 */
export function restUntilTurn(restMs: number, nowMs: number, { slot, of }: Turn): number {
  if (of === 1) return restMs;
  const roundMs = restMs * of;
  const untilTurnMs = roundMs - ((nowMs - restMs * slot) % roundMs);
  // Its turn is now, and it has just looked.
  return untilTurnMs < restMs / 2 ? untilTurnMs + roundMs : untilTurnMs;
}
