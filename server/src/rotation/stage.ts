import type { TenantKeys } from '../crypto/tenant-keys.js';
import type { TenantTx } from '../storage/scope.js';

/** What a bounded step through a table found. */
export interface Step {
  /** Where to go on; undefined at the end. */
  readonly next: string | undefined;
  readonly seen: number;
  /** Ids of rows that do not open. */
  readonly faults?: readonly string[];
}

export interface ResealStep extends Step {
  readonly resealed: number;
}

/** A table of tenant data that holds sealed records, walked through in the order of its key. */
export interface Stage {
  readonly name: string;
  /** Seals anew what is not sealed under the current key, among the next `limit` rows after `place`. Starts at ''. */
  readonly reseal: (tx: TenantTx, keys: TenantKeys, place: string, limit: number) => Promise<ResealStep>;
  /** Opens the next `limit` rows after `place`. */
  readonly verify?: (tx: TenantTx, keys: TenantKeys, place: string, limit: number) => Promise<Step>;
  /** About how many rows there are, for the progress alone. */
  readonly count?: (tx: TenantTx) => Promise<number>;
}
