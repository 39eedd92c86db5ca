import type { LimitRow } from './catalogue.js';

export interface Refusal {
  readonly isAllowed: false;
  /** The limit whose block lasts longest; of equal ones the widest. */
  readonly row: LimitRow;
  /** What is left of that block, more than 0. */
  readonly retryAfterMs: number;
}

export type Verdict = { readonly isAllowed: true } | Refusal;

export const ALLOWED: Verdict = Object.freeze({ isAllowed: true });

/** Counts requests by client and limit. `rateCounterSuite` holds every implementation to what is written here. */
export interface RateCounter {
  /**
   * Counts one request of a client in each of the given limits, the widest of which comes first, and says whether it
   * may go on.
   *
   * It must never refuse a client that stayed within a limit in every span of its window, whatever else it forgets.
   * The request that goes over a limit must start a block of `blockMs`. A blocked request must neither prolong the
   * block nor count in that limit, and once the block is over the client must have its whole allowance.
   * A request the first limit refuses must not count in the others; one that another limit refuses must still count in
   * all the rest. Limits and clients must not influence each other.
   * Time must be monotonic. It must not reject: a counter that cannot reach its store must decide by itself.
   */
  check(limitKey: string, rows: readonly LimitRow[]): Verdict | Promise<Verdict>;
}
