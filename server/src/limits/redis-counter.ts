import type { Clock } from '../kernel/clock.js';
import { createBlockCache } from './block-cache.js';
import { LIMITS, type LimitRow } from './catalogue.js';
import type { ClientHash } from './client-hash.js';
import { ALLOWED, type RateCounter, type Verdict } from './rate-counter.js';
import type { RateStore } from './redis-store.js';
import { StoreBreaker } from './store-breaker.js';

export const BLOCKS_DEFAULT = 10_000;

export interface RedisCounterOptions {
  readonly clock: Clock;
  readonly hash: ClientHash;
  /** Decides while the store cannot, at the full limit. */
  readonly fallback: RateCounter;
  readonly openStore: (onLost: (error: unknown) => void) => Promise<RateStore>;
  readonly onChange: (isUp: boolean, error: unknown) => void;
  /** Blocks remembered for each limit. */
  readonly blocksMax?: number;
}

/** Not a possible address: counted to check whether the store accepts counts. */
const PROBE = 'probe';

/**
 * Counts in a store that every node shares, and in this process while the store is slow or gone. A client that had used
 * up part of its allowance there starts anew here: each node then lets the full limit pass, never more.
 */
export class RedisCounter implements RateCounter {
  readonly #options: RedisCounterOptions;
  readonly #blocks: ReturnType<typeof createBlockCache>;
  readonly #breaker: StoreBreaker<RateStore>;
  #fallbacks = 0;

  constructor(options: RedisCounterOptions) {
    const { clock, onChange, openStore } = options;
    this.#options = options;
    this.#blocks = createBlockCache(options.blocksMax ?? BLOCKS_DEFAULT);
    this.#breaker = new StoreBreaker({ clock, onChange, open: (onLost) => openProbed(openStore, onLost) });
  }

  check(limitKey: string, rows: readonly LimitRow[]): Verdict | Promise<Verdict> {
    const nowMs = this.#options.clock.monotonicMs();
    const lefts = rows.map((row) => this.#blocks.left(limitKey, row, nowMs));
    // What the first limit refuses counts nowhere, so there is nothing to ask. What a narrower one refuses still
    // counts in the rest.
    if ((lefts[0] ?? 0) > 0) return longestOf(rows, lefts);
    const store = this.#breaker.current();
    return store === undefined
      ? this.#decide(limitKey, rows, lefts, nowMs)
      : this.#ask(store, limitKey, rows, lefts, nowMs);
  }

  /** True while counts are shared. */
  isUp(): boolean {
    return this.#breaker.current() !== undefined;
  }

  /** Requests this node decided by itself. */
  fallbacks(): number {
    return this.#fallbacks;
  }

  close(): void {
    this.#breaker.close();
  }

  #decide(limitKey: string, rows: readonly LimitRow[], lefts: number[], sentAtMs: number): Verdict | Promise<Verdict> {
    const conclude = (verdict: Verdict): Verdict => {
      if (!verdict.isAllowed) {
        this.#blocks.add(limitKey, verdict.row, sentAtMs + verdict.retryAfterMs);
        lefts[rows.indexOf(verdict.row)] = verdict.retryAfterMs;
      }
      return longestOf(rows, lefts);
    };
    this.#fallbacks += 1;
    const asked = rows.filter((_, at) => lefts[at] === 0);
    const verdict = this.#options.fallback.check(limitKey, asked);
    return verdict instanceof Promise ? verdict.then(conclude) : conclude(verdict);
  }

  async #ask(
    store: RateStore,
    limitKey: string,
    rows: readonly LimitRow[],
    lefts: number[],
    sentAtMs: number,
  ): Promise<Verdict> {
    const asked = rows.filter((_, at) => lefts[at] === 0);
    let found: readonly number[];
    try {
      found = await store.count(this.#options.hash(limitKey), asked);
    } catch (error) {
      this.#breaker.trip(store, error);
      return this.#decide(limitKey, rows, lefts, sentAtMs);
    }
    asked.forEach((row, at) => {
      const left = found[at] ?? 0;
      if (left === 0) return;
      // Counted from when the call was sent, so that the block ends here no later than in the store.
      this.#blocks.add(limitKey, row, sentAtMs + left);
      lefts[rows.indexOf(row)] = left;
    });
    return longestOf(rows, lefts);
  }
}

/** A store that answers but is full or read-only is no store. This asks for what requests will ask. */
async function openProbed(
  openStore: RedisCounterOptions['openStore'],
  onLost: (error: unknown) => void,
): Promise<RateStore> {
  const store = await openStore(onLost);
  try {
    await store.count(PROBE, [LIMITS.global]);
    return store;
  } catch (error) {
    store.close();
    throw error;
  }
}

/** Of equal blocks the widest limit's. */
function longestOf(rows: readonly LimitRow[], lefts: readonly number[]): Verdict {
  let longest: LimitRow | undefined;
  let retryAfterMs = 0;
  rows.forEach((row, at) => {
    const left = lefts[at] ?? 0;
    if (left <= retryAfterMs) return;
    longest = row;
    retryAfterMs = left;
  });
  return longest === undefined ? ALLOWED : { isAllowed: false, row: longest, retryAfterMs };
}
