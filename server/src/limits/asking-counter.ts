import type { Clock } from '../kernel/clock.js';
import type { LimitRow } from './catalogue.js';
import type { CountAnswer, CountAsk } from './counting-desk.js';
import { askFor } from './counting-desk.js';
import type { RateCounter, Verdict } from './rate-counter.js';
import { ALLOWED } from './rate-counter.js';

/** Has a batch counted elsewhere. Must settle soon, and rejects when nobody answers. */
export type AskToCount = (asks: readonly CountAsk[]) => Promise<readonly CountAnswer[]>;

export interface AskingCounterOptions {
  readonly clock: Clock;
  readonly ask: AskToCount;
  /** Decides alone while nobody answers, at the full limit. Made when it is first needed. */
  readonly fallback: () => RateCounter;
  /** Told when answers stop coming, and when they come again. */
  readonly onSilence: (isSilent: boolean) => void;
}

/** One answer may be late on a busy machine; after as many in a row, nobody is there. */
const LATE_ANSWERS_MAX = 2;
/** Requests are not held up to ask again before this has passed. */
const SILENCE_REST_MS = 1_000;
const BLOCKS_MAX = 10_000;

interface Waiting {
  readonly limitKey: string;
  readonly rows: readonly LimitRow[];
  readonly resolve: (verdict: Verdict | Promise<Verdict>) => void;
}

/**
 * Counts where another process holds the counter. All requests of one turn of the event loop are asked about together:
 * a message each would cost more than what it asks for.
 */
export class AskingCounter implements RateCounter {
  readonly #options: AskingCounterOptions;
  readonly #blocks = createBlocks();
  #waiting: Waiting[] = [];
  #fallback: RateCounter | undefined;
  #lateAnswers = 0;
  #silentUntilMs: number | undefined;

  constructor(options: AskingCounterOptions) {
    this.#options = options;
  }

  check(limitKey: string, rows: readonly LimitRow[]): Verdict | Promise<Verdict> {
    const nowMs = this.#options.clock.monotonicMs();
    const blocked = this.#blocks.find(limitKey, rows, nowMs);
    if (blocked) return blocked;
    if (this.#silentUntilMs !== undefined && nowMs < this.#silentUntilMs) return this.#decideAlone(limitKey, rows);
    return new Promise((resolve) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#askTogether());
      this.#waiting.push({ limitKey, rows, resolve });
    });
  }

  #askTogether(): void {
    const asked = this.#waiting;
    this.#waiting = [];
    // The time before the keeper decides, so that a block never lasts longer here than there.
    const askedMs = this.#options.clock.monotonicMs();
    this.#options.ask(asked.map(({ limitKey, rows }) => askFor(limitKey, rows))).then(
      (answers) => this.#answered(asked, answers, askedMs),
      () => this.#unanswered(asked),
    );
  }

  #answered(asked: readonly Waiting[], answers: readonly CountAnswer[], askedMs: number): void {
    if (this.#silentUntilMs !== undefined) this.#options.onSilence(false);
    this.#silentUntilMs = undefined;
    this.#lateAnswers = 0;
    for (const [index, { limitKey, rows, resolve }] of asked.entries()) {
      resolve(this.#verdictOf(answers[index], limitKey, rows, askedMs));
    }
  }

  #unanswered(asked: readonly Waiting[]): void {
    this.#lateAnswers += 1;
    if (this.#lateAnswers >= LATE_ANSWERS_MAX) {
      if (this.#silentUntilMs === undefined) this.#options.onSilence(true);
      this.#silentUntilMs = this.#options.clock.monotonicMs() + SILENCE_REST_MS;
    }
    for (const { limitKey, rows, resolve } of asked) resolve(this.#decideAlone(limitKey, rows));
  }

  #decideAlone(limitKey: string, rows: readonly LimitRow[]): Verdict | Promise<Verdict> {
    this.#fallback ??= this.#options.fallback();
    return this.#fallback.check(limitKey, rows);
  }

  #verdictOf(
    answer: CountAnswer | undefined,
    limitKey: string,
    rows: readonly LimitRow[],
    askedMs: number,
  ): Verdict | Promise<Verdict> {
    if (answer === 0) return ALLOWED;
    const [limit = -1, retryAfterMs = 0] = answer ?? [];
    const row = rows[limit];
    if (row === undefined) return this.#decideAlone(limitKey, rows);
    this.#blocks.remember(limitKey, row, askedMs + retryAfterMs);
    return { isAllowed: false, row, retryAfterMs };
  }
}

/**
 * Known blocks, so that a client that keeps asking costs no message. Only a block of the widest limit may be answered
 * from here: a request that another limit refuses still counts in the rest.
 */
function createBlocks() {
  const untilMs = new Map<string, number>();
  const nameOf = (limitKey: string, row: LimitRow): string => `${row.ordinal} ${limitKey}`;

  function left(limitKey: string, row: LimitRow, nowMs: number): number {
    const name = nameOf(limitKey, row);
    const rest = (untilMs.get(name) ?? nowMs) - nowMs;
    if (rest <= 0) untilMs.delete(name);
    return rest;
  }

  return {
    remember(limitKey: string, row: LimitRow, endsMs: number): void {
      const name = nameOf(limitKey, row);
      untilMs.delete(name);
      untilMs.set(name, endsMs);
      const [oldest] = untilMs.keys();
      if (untilMs.size > BLOCKS_MAX && oldest !== undefined) untilMs.delete(oldest);
    },
    find(limitKey: string, rows: readonly LimitRow[], nowMs: number): Verdict | undefined {
      const [first, ...others] = rows;
      if (untilMs.size === 0 || first === undefined) return undefined;
      let row = first;
      let retryAfterMs = left(limitKey, first, nowMs);
      if (retryAfterMs <= 0) return undefined;
      for (const other of others) {
        const rest = left(limitKey, other, nowMs);
        if (rest > retryAfterMs) [row, retryAfterMs] = [other, rest];
      }
      return { isAllowed: false, row, retryAfterMs };
    },
  };
}
