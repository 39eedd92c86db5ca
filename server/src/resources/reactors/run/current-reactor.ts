import type { Database } from '../../../storage/database.js';
import type { OpenedReactor } from '../definition/content.js';
import type { ReactorStore } from '../definition/store.js';
import { noSuchReactor } from '../definition/store.js';
import { findReactor } from '../queries.js';

/** A Reactor as it is now, with what it says. */
export async function currentReactor(
  database: Database,
  store: ReactorStore,
  tenantId: string,
  id: string,
): Promise<OpenedReactor> {
  const row = await database.read(tenantId, (tx) => findReactor(tx, id));
  if (!row) throw noSuchReactor();
  return store.open(await store.keysFor(tenantId, [row]), row);
}
