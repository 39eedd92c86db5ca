import type { Database } from '../../../storage/database.js';
import type { Memory } from '../../../storage/memory.js';
import { bytesOfTexts } from '../../definitions/remembered.js';
import { findReactor } from '../queries.js';
import type { ReactorDefinition } from './content.js';
import type { ReactorStore } from './store.js';
import { noSuchReactor } from './store.js';

/** A Reactor as a call finds it. */
export interface CurrentReactor {
  readonly tenantId: string;
  readonly version: number;
  readonly definition: Pick<ReactorDefinition, 'code' | 'configuration' | 'applicationId'>;
}

export interface CurrentReactorOptions {
  readonly database: Database;
  readonly reactorMemory: Pick<Memory<CurrentReactor>, 'find' | 'forgetTenant'>;
}

/** A Reactor as it is now. From memory it takes no statement. 404 where there is none. */
export async function currentReactor(
  { database, reactorMemory }: CurrentReactorOptions,
  store: ReactorStore,
  tenantId: string,
  id: string,
): Promise<CurrentReactor> {
  const found = await reactorMemory.find(`${tenantId} ${id}`, async () => {
    const row = await database.read(tenantId, (tx) => findReactor(tx, id));
    if (!row) return undefined;
    const { content } = store.open(await store.keysFor(tenantId, [row]), row);
    const { code, configuration, applicationId } = content;
    return { tenantId, version: row.version, definition: { code, configuration, applicationId } };
  });
  if (!found) throw noSuchReactor();
  return found;
}

export function bytesOfReactor({ definition: { code, configuration } }: CurrentReactor): number {
  return bytesOfTexts([code], configuration);
}
