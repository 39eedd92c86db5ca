import { CREDENTIAL_CACHE } from './access/cache.js';
import { DIRECTORY_TABLE } from './access/tables.js';
import { LOG_COUNT_TABLE, LOG_TABLE } from './audit/tables.js';
import type { AnyRoute } from './http/routes/any-route.js';
import { KEPT_ANSWER_TABLES } from './kept-answers/tables.js';
import { MAIL_TABLES } from './mail/tables.js';
import { PEOPLE_TABLES } from './people/tables.js';
import type { Slice } from './resources/slice.js';
import * as resources from './resources/slices.js';
import { ROTATION_TABLES } from './rotation/tables.js';
import type { CacheRecord } from './storage/memories.js';
import { KEY_TABLES } from './tables/of-keys.js';
import type { PeopleTable } from './tables/people-table.js';
import type { TableRecord } from './tables/table.js';
import { VAULT_TABLES } from './vault/index.js';

/** What it takes to build all of them. */
export type ResourceParts = PartsOf<(typeof resources)[keyof typeof resources]>;
type PartsOf<S> = (S extends Slice<infer Parts> ? (parts: Parts) => void : never) extends (parts: infer All) => void
  ? All
  : never;

/** Every resource of the tenant API, in the order of their names. */
export const SLICES: readonly Slice<ResourceParts>[] = Object.values(resources);

/**
 * Every table of tenant data but `tenants` itself. How far a rotation came is stored as the name of a table in this order, so
 * new ones come behind those that are there.
 */
export const TABLES: readonly TableRecord[] = [
  ...VAULT_TABLES,
  ...KEPT_ANSWER_TABLES,
  ...ROTATION_TABLES,
  ...SLICES.flatMap((slice) => slice.tables),
  ...KEY_TABLES,
  LOG_TABLE,
  LOG_COUNT_TABLE,
  DIRECTORY_TABLE,
];

/** Every table of people, and of mail to them, whose rows are sealed or carry a MAC. */
export const TABLES_OF_PEOPLE: readonly PeopleTable[] = [...PEOPLE_TABLES, ...MAIL_TABLES];

/** Everything of tenants that a process remembers. */
export const CACHES: readonly CacheRecord<never>[] = [
  CREDENTIAL_CACHE,
  ...SLICES.flatMap((slice) => slice.caches ?? []),
];

export function tenantApiRoutes(parts: ResourceParts): AnyRoute[] {
  return SLICES.flatMap((slice) => slice.routes(parts));
}
