import type { Clock } from '../kernel/clock.js';
import { createBlockCache } from './block-cache.js';
import { LIMITS, type LimitRow } from './catalogue.js';
import type { ClientHash } from './client-hash.js';
import { ALLOWED, type RateCounter, type Verdict } from './rate-counter.js';
import type { RateStore } from './redis-store.js';
import { createStoreBreaker } from './store-breaker.js';

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

export interface RedisCounter extends RateCounter {
  /** True while counts are shared. */
  readonly isUp: () => boolean;
  /** Requests this node decided by itself. */
  readonly fallbacks: () => number;
  close(): void;
}

/** A client no address can be: what is counted to see whether the store takes counts. */
const PROBE = 'probe';

/**
 * Counts in a store that every node shares, and in this process while the store is slow or gone. A client that had used
 * up part of its allowance there starts anew here: each node then lets the full limit pass, never more.
 */
export function createRedisCounter(options: RedisCounterOptions): RedisCounter {
  const { clock, hash, fallback } = options;
  const blocks = createBlockCache(options.blocksMax ?? BLOCKS_DEFAULT);
  let fallbacks = 0;

  const breaker = createStoreBreaker<RateStore>({
    clock,
    onChange: options.onChange,
    async open(onLost) {
      const store = await options.openStore(onLost);
      try {
        // A store that answers but is full or read-only is no store. This asks for what requests will ask.
        await store.count(PROBE, [LIMITS.global]);
        return store;
      } catch (error) {
        store.close();
        throw error;
      }
    },
  });

  function decide(
    limitKey: string,
    rows: readonly LimitRow[],
    lefts: number[],
    sentAtMs: number,
  ): Verdict | Promise<Verdict> {
    const conclude = (verdict: Verdict): Verdict => {
      if (!verdict.isAllowed) {
        blocks.add(limitKey, verdict.row, sentAtMs + verdict.retryAfterMs);
        lefts[rows.indexOf(verdict.row)] = verdict.retryAfterMs;
      }
      return longestOf(rows, lefts);
    };
    fallbacks += 1;
    const asked = rows.filter((_, at) => lefts[at] === 0);
    const verdict = fallback.check(limitKey, asked);
    return verdict instanceof Promise ? verdict.then(conclude) : conclude(verdict);
  }

  async function ask(
    store: RateStore,
    limitKey: string,
    rows: readonly LimitRow[],
    lefts: number[],
    sentAtMs: number,
  ): Promise<Verdict> {
    const asked = rows.filter((_, at) => lefts[at] === 0);
    let found: readonly number[];
    try {
      found = await store.count(hash(limitKey), asked);
    } catch (error) {
      breaker.trip(store, error);
      return decide(limitKey, rows, lefts, sentAtMs);
    }
    asked.forEach((row, at) => {
      const left = found[at] ?? 0;
      if (left === 0) return;
      // From when it was sent: no later than the store's own end, so nobody waits for the way back.
      blocks.add(limitKey, row, sentAtMs + left);
      lefts[rows.indexOf(row)] = left;
    });
    return longestOf(rows, lefts);
  }

  return {
    check(limitKey, rows) {
      const nowMs = clock.monotonicMs();
      const lefts = rows.map((row) => blocks.left(limitKey, row, nowMs));
      // What the first limit refuses counts nowhere, so there is nothing to ask. What a narrower one refuses still
      // counts in the rest.
      if ((lefts[0] ?? 0) > 0) return longestOf(rows, lefts);
      const store = breaker.current();
      return store === undefined ? decide(limitKey, rows, lefts, nowMs) : ask(store, limitKey, rows, lefts, nowMs);
    },
    isUp: () => breaker.current() !== undefined,
    fallbacks: () => fallbacks,
    close: breaker.close,
  };
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
