import { AppError } from '../../kernel/errors.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import { Unwritten } from '../../storage/unwritten.js';
import { addTries, findTries, reportTries } from './tries-queries.js';

const DAY_MS = 86_400_000;

/** An Application that has searched for as many values as it may on one day. */
export interface SearchBoundStory {
  readonly tenantId: string;
  readonly applicationId: string;
}

export interface SearchTriesOptions {
  readonly database: Database;
  /** Values that one Application may search for in a day; 0 for any number. */
  readonly searchTriesPerDay: number;
  /** Called once for each Application and day. */
  readonly onSearchBound: (story: SearchBoundStory) => void;
}

/** Values of `data` and `fingerprint` terms in one search, and whose they are. */
export interface Tries {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly count: number;
  readonly atMs: number;
}

/**
 * Bounds how many values an Application tries on tokens that are not shown to it in the clear. Each such search answers
 * whether a token has the value, so without a bound a masked number could be found by trying all that are possible.
 */
export interface SearchTries {
  /** Throws 429 `search_bound` where the count is above what is left of the day. To be called before the search. */
  refuse(tries: Tries): Promise<void>;
  /** Counts in the transaction of the log entry. Throws 429 where others used what was left since `refuse`. */
  add(tx: TenantTx, tries: Tries): Promise<void>;
}

export function createSearchTries({ database, searchTriesPerDay, onSearchBound }: SearchTriesOptions): SearchTries {
  async function report({ tenantId, applicationId, atMs }: Tries): Promise<void> {
    const isFirst = await database.write(tenantId, (tx) => reportTries(tx, applicationId, dayOf(atMs)));
    if (isFirst) onSearchBound({ tenantId, applicationId });
  }

  return {
    async refuse(tries) {
      if (searchTriesPerDay === 0) return;
      const { tenantId, applicationId, count, atMs } = tries;
      const known = await database.read(tenantId, (tx) => findTries(tx, applicationId, dayOf(atMs)));
      if ((known?.tried ?? 0) + count <= searchTriesPerDay) return;
      if (!known?.is_reported) await report(tries);
      throw searchBound(searchTriesPerDay, atMs);
    },
    async add(tx, { applicationId, count, atMs }) {
      if (searchTriesPerDay === 0) return;
      const isAdded = await addTries(tx, { applicationId, day: dayOf(atMs), count, most: searchTriesPerDay });
      if (!isAdded) throw new Unwritten(searchBound(searchTriesPerDay, atMs));
    },
  };
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

function searchBound(searchTriesPerDay: number, atMs: number): AppError {
  const seconds = Math.ceil((DAY_MS - (atMs % DAY_MS)) / 1_000);
  const detail = `The Application has searched for ${searchTriesPerDay} values today that it is not shown in the clear. Wait until midnight UTC, or give it a rule that reveals.`;
  return new AppError('search_bound', detail, { headers: { 'Retry-After': String(seconds) } });
}
