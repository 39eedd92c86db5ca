import type { LogEvent } from '../audit/events.js';
import type { AnyRoute } from '../http/routes/any-route.js';
import type { JobRecord } from '../jobs/job-record.js';
import type { Database } from '../storage/database.js';
import type { CacheRecord } from '../storage/memories.js';
import type { TableRecord } from '../tables/table.js';

/** What background work of a slice gets. */
export interface JobParts {
  readonly database: Database;
  /** Every table of tenant data, of all rooms and slices. */
  readonly tables: readonly TableRecord[];
}

/**
 * A resource as one record, which its `index.ts` exports. The root, the purge, rotation, verification and the tests that look
 * at all resources go over these records, so that a new one is in all of them by being in the list in `resources.ts`. `Parts`
 * is what the slice needs to be built, in its own words; the root has to have all of it.
 */
export interface Slice<Parts> {
  /** The name of its folder. */
  readonly name: string;
  /** Of any kind; those in JSON each with the example of its input, where it has one. */
  readonly routes: (parts: Parts) => readonly AnyRoute[];
  /** Everything it can write into the log. */
  readonly events: readonly LogEvent[];
  /** The tables it owns. */
  readonly tables: readonly TableRecord[];
  readonly jobs?: (parts: JobParts) => readonly JobRecord[];
  /** What it remembers in the process, and which notice empties it. */
  readonly caches?: readonly CacheRecord<never>[];
}
