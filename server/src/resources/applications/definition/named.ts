import type { ApplicationType } from '../../../access/permissions.js';
import type { TenantTx } from '../../../storage/scope.js';
import type { ApplicationRow } from '../queries.js';
import { listApplicationsById } from '../queries.js';
import type { ChangesOptions } from './changes.js';
import { createChanges } from './changes.js';

/** What others show of an Application that they name. */
export interface NamedApplication {
  readonly id: string;
  readonly name: string;
  readonly type: ApplicationType;
}

export interface ApplicationNames {
  /** Those of these ids that there are now. */
  find(tx: TenantTx, ids: readonly string[], nowMs: number): Promise<ApplicationRow[]>;
  /** By their ids. Throws unless each is as the product wrote it. */
  verified(rows: readonly ApplicationRow[]): ReadonlyMap<string, NamedApplication>;
}

/** For slices whose entities name an Application. */
export function createApplicationNames(options: ChangesOptions): ApplicationNames {
  const changes = createChanges(options);
  return {
    find: async (tx, ids, nowMs) => (ids.length === 0 ? [] : listApplicationsById(tx, ids, nowMs)),
    verified: (rows) => new Map(rows.map((row) => [row.id, namedOf(changes.verify(row))])),
  };
}

function namedOf({ id, name, type }: ApplicationRow): NamedApplication {
  return { id, name, type: type as ApplicationType }; // The column takes no other value.
}
