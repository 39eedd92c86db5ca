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
export function createAskingCounter(options: AskingCounterOptions): RateCounter {
  const { clock } = options;
  const blocks = createBlocks();
  let waiting: Waiting[] = [];
  let fallback: RateCounter | undefined;
  let lateAnswers = 0;
  let silentUntilMs: number | undefined;

  function decideAlone(limitKey: string, rows: readonly LimitRow[]): Verdict | Promise<Verdict> {
    fallback ??= options.fallback();
    return fallback.check(limitKey, rows);
  }

  function verdictOf(
    answer: CountAnswer | undefined,
    limitKey: string,
    rows: readonly LimitRow[],
    askedMs: number,
  ): Verdict | Promise<Verdict> {
    if (answer === 0) return ALLOWED;
    const [limit = -1, retryAfterMs = 0] = answer ?? [];
    const row = rows[limit];
    if (row === undefined) return decideAlone(limitKey, rows);
    blocks.remember(limitKey, row, askedMs + retryAfterMs);
    return { isAllowed: false, row, retryAfterMs };
  }

  function askTogether(): void {
    const asked = waiting;
    waiting = [];
    // From before it is decided elsewhere: a block then never lasts longer here than there.
    const askedMs = clock.monotonicMs();
    options.ask(asked.map(({ limitKey, rows }) => askFor(limitKey, rows))).then(
      (answers) => {
        if (silentUntilMs !== undefined) options.onSilence(false);
        silentUntilMs = undefined;
        lateAnswers = 0;
        for (const [index, { limitKey, rows, resolve }] of asked.entries()) {
          resolve(verdictOf(answers[index], limitKey, rows, askedMs));
        }
      },
      () => {
        lateAnswers += 1;
        if (lateAnswers >= LATE_ANSWERS_MAX) {
          if (silentUntilMs === undefined) options.onSilence(true);
          silentUntilMs = clock.monotonicMs() + SILENCE_REST_MS;
        }
        for (const { limitKey, rows, resolve } of asked) resolve(decideAlone(limitKey, rows));
      },
    );
  }

  return {
    check(limitKey, rows) {
      const nowMs = clock.monotonicMs();
      const blocked = blocks.find(limitKey, rows, nowMs);
      if (blocked) return blocked;
      if (silentUntilMs !== undefined && nowMs < silentUntilMs) return decideAlone(limitKey, rows);
      return new Promise((resolve) => {
        if (waiting.length === 0) setImmediate(askTogether);
        waiting.push({ limitKey, rows, resolve });
      });
    },
  };
}

/**
 * Blocks that were heard of, so that a client who goes on asking costs no message. Only a block of the widest limit
 * may be answered from here: a request that another limit refuses still counts in the rest.
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
