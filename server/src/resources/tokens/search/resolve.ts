import type { Permission } from '../../../access/permissions.js';
import type { Principal } from '../../../access/principal.js';
import type { TenantTx } from '../../../storage/scope.js';
import type { Filters, Vocabulary } from './build.js';
import { asksForGroups, conditionOfFilters, conditionOfQuery } from './build.js';
import type { Condition } from './condition.js';
import { ALL, both } from './condition.js';
import type { Group } from './directory-queries.js';
import { readDirectory } from './directory-queries.js';
import type { Query } from './parse.js';
import { seesAll, visibleTo } from './visibility.js';

/** Who looks for what. */
export interface Ask extends Omit<Vocabulary, 'directory'> {
  readonly principal: Principal;
  /** What a token must be granted for to be found. */
  readonly permission: Extract<Permission, 'token:read' | 'token:search'>;
  readonly query?: Query;
  readonly filters?: Filters;
}

export interface Resolved {
  readonly condition: Condition;
  /** Undefined if it did not have to be read. */
  readonly directory: readonly Group[] | undefined;
}

/** The condition a token must meet to be found. Reads the directory of groups, unless nothing depends on it. */
export async function resolveAsk(tx: TenantTx, ask: Ask): Promise<Resolved> {
  const { principal, permission, query, filters } = ask;
  const isDirectoryNeeded =
    !seesAll(principal, permission) ||
    (query !== undefined && asksForGroups(query)) ||
    filters?.types !== undefined ||
    filters?.containers !== undefined;
  const directory = isDirectoryNeeded ? await readDirectory(tx) : undefined;
  const words: Vocabulary = { ...ask, directory: directory ?? [] };
  const condition = both([
    query === undefined ? ALL : conditionOfQuery(query, words),
    filters === undefined ? ALL : conditionOfFilters(filters, words),
    visibleTo(principal, permission, directory ?? []),
  ]);
  return { condition, directory };
}
