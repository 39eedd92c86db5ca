import type { KeyObject } from 'node:crypto';
import { IntegrityError } from '../crypto/integrity-error.js';
import type { TenantKeys } from '../crypto/tenant-keys.js';
import type { TenantTx } from '../storage/scope.js';

/** What a bounded step through a table found. */
export interface WalkStep {
  /** Where to go on; undefined at the end. */
  readonly next: string | undefined;
  readonly seen: number;
  /** Ids of rows that do not open, or whose MAC is wrong. */
  readonly faults?: readonly string[];
}

export interface ResealStep extends WalkStep {
  readonly resealed: number;
}

/** Rows that hold records sealed under a tenant's encryption key, walked through in the order of their key. */
export interface SealedRows {
  /**
   * Reseals the rows that are not sealed under the current key, among the next `limit` rows after `position`. Starts at
   * ''.
   */
  readonly reseal: (tx: TenantTx, keys: TenantKeys, position: string, limit: number) => Promise<ResealStep>;
  /** Opens the next `limit` rows after `position`. */
  readonly verify: (tx: TenantTx, keys: TenantKeys, position: string, limit: number) => Promise<WalkStep>;
  /** About how many rows there are, for the progress alone. */
  readonly count?: (tx: TenantTx) => Promise<number>;
}

/** Rows that grant rights, each with a keyed hash over what it grants. */
export interface MacRows {
  /** Looks at the next `limit` rows after `position`. */
  readonly verify: (tx: TenantTx, rowMacKey: KeyObject, position: string, limit: number) => Promise<WalkStep>;
}

/** The step for one page of rows; `faults` are the ids of those that are not sound. */
export function stepOf<Row>(
  page: readonly Row[],
  limit: number,
  placeOf: (row: Row) => string,
  faults: readonly string[],
): WalkStep {
  const last = page.at(-1);
  return {
    next: last === undefined || page.length < limit ? undefined : placeOf(last),
    seen: page.length,
    faults,
  };
}

/** Does the work for each row. A row that does not open does not stop the others. */
export function attemptEach<Row, T>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  work: (row: Row) => T,
): { readonly done: T[]; readonly faults: string[] } {
  const done: T[] = [];
  const faults: string[] = [];
  for (const row of rows) {
    try {
      done.push(work(row));
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error;
      faults.push(nameOf(row));
    }
  }
  return { done, faults };
}
