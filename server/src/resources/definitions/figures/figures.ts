import type { Clock } from '../../../kernel/clock.js';
import type { Database } from '../../../storage/database.js';
import { dayOf, figuresOf } from './figure-names.js';
import type { FigureQueries } from './queries.js';

/** A run as figures count it. */
export interface CountedRun {
  readonly tenantId: string;
  /** Of what was run. */
  readonly definitionId: string;
  readonly durationMs: number;
  readonly isCold: boolean;
  /** One of the classes that its kind has. */
  readonly failure: string | undefined;
}

/** The growth of the counters of one definition on a day. */
export interface DayGrowth {
  readonly tenantId: string;
  readonly definitionId: string;
  readonly day: number;
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * Counts runs and writes the counters behind them, about once a second. A process that is killed loses what it counted since.
 * A write whose outcome nobody knows is made again: those runs may then count twice.
 */
export interface RunFigures {
  readonly note: (run: CountedRun) => void;
  /** Writes what this process counted of one definition. */
  flush(tenantId: string, definitionId: string): Promise<void>;
  /** Writes what is left, where it can. */
  close(): Promise<void>;
}

export interface RunFiguresOptions {
  readonly clock: Clock;
  readonly write: (growth: DayGrowth) => Promise<void>;
  readonly onFault: (error: unknown) => void;
  readonly roundMs?: number;
  readonly retryMs?: number;
}

/** As many days of definitions as are remembered; further runs are not counted until there is room again. */
export const DAYS_PENDING_MAX = 10_000;
const ROUND_MS = 1_000;
const RETRY_MS = 10_000;
/** As many as one transaction of changes takes, so that they never fill the queue that requests wait in. */
const BATCH_MAX = 64;

export function createRunFigures(options: RunFiguresOptions): RunFigures {
  const { clock, onFault, roundMs = ROUND_MS, retryMs = RETRY_MS } = options;
  const pending = new PendingGrowth(options.write);
  let notBeforeMs = 0;
  let timer: NodeJS.Timeout | undefined;
  // One write after the other: what is asked for after a run has ended waits for the write that took its counts along.
  let writing: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  function beginRound(): void {
    if (timer !== undefined || isClosed) return;
    timer = setTimeout(() => {
      timer = undefined;
      if (pending.isEmpty()) return;
      if (clock.monotonicMs() >= notBeforeMs) writing = writing.then(writeAll);
      else beginRound();
    }, roundMs);
    timer.unref();
  }

  async function writeAll(): Promise<void> {
    try {
      await pending.write(() => true);
    } catch (error) {
      onFault(error);
      notBeforeMs = clock.monotonicMs() + retryMs;
      beginRound();
    }
  }

  return {
    note(run) {
      pending.add(run, dayOf(clock.nowMs()));
      beginRound();
    },
    async flush(tenantId, definitionId) {
      const written = writing.then(() =>
        pending.write((growth) => growth.tenantId === tenantId && growth.definitionId === definitionId),
      );
      writing = written.catch(() => {});
      await written;
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await writing;
      await writeAll();
    },
  };
}

interface Growing extends DayGrowth {
  readonly counts: Map<string, number>;
}

/** What is not written yet. */
class PendingGrowth {
  readonly #write: RunFiguresOptions['write'];
  readonly #days = new Map<string, Growing>();

  constructor(write: RunFiguresOptions['write']) {
    this.#write = write;
  }

  isEmpty(): boolean {
    return this.#days.size === 0;
  }

  add(run: CountedRun, day: number): void {
    const { tenantId, definitionId } = run;
    const growing = this.#dayOf({ tenantId, definitionId, day });
    if (!growing) return;
    for (const figure of figuresOf(run)) addTo(growing.counts, figure, 1);
  }

  /** Throws the first fault, after what could not be written was put back. */
  async write(isWanted: (growth: DayGrowth) => boolean): Promise<void> {
    const wanted = [...this.#days].filter(([, growth]) => isWanted(growth));
    for (const [key] of wanted) this.#days.delete(key);
    for (let at = 0; at < wanted.length; at += BATCH_MAX) {
      const batch = wanted.slice(at, at + BATCH_MAX).map(([, growth]) => growth);
      const outcomes = await Promise.allSettled(batch.map((growth) => this.#write(growth)));
      const failed = outcomes.flatMap((outcome, place) => (outcome.status === 'rejected' ? [place] : []));
      if (failed.length === 0) continue;
      for (const place of failed) this.#putBack(batch[place]);
      for (const [, growth] of wanted.slice(at + BATCH_MAX)) this.#putBack(growth);
      const [first] = outcomes.filter((outcome) => outcome.status === 'rejected');
      throw first?.reason;
    }
  }

  #putBack(growth: DayGrowth | undefined): void {
    const growing = growth && this.#dayOf(growth);
    if (!growing) return;
    for (const [figure, count] of growth.counts) addTo(growing.counts, figure, count);
  }

  #dayOf({ tenantId, definitionId, day }: Pick<DayGrowth, 'tenantId' | 'definitionId' | 'day'>): Growing | undefined {
    const key = `${tenantId} ${definitionId} ${day}`;
    const known = this.#days.get(key);
    if (known || this.#days.size >= DAYS_PENDING_MAX) return known;
    const made: Growing = { tenantId, definitionId, day, counts: new Map() };
    this.#days.set(key, made);
    return made;
  }
}

function addTo(counts: Map<string, number>, figure: string, count: number): void {
  counts.set(figure, (counts.get(figure) ?? 0) + count);
}

/** In the scope of its tenant; those that are asked for together share a statement and a transaction. */
export async function writeRunFigures(
  database: Pick<Database, 'write'>,
  { add }: Pick<FigureQueries, 'add'>,
  growth: DayGrowth,
): Promise<void> {
  const { tenantId, definitionId, day, counts } = growth;
  const rows = [...counts].map(([figure, count]) => ({ tenantId, definitionId, day, figure, count }));
  await database.write(tenantId, (tx) => add(tx, rows));
}
