import type { CoreOptions } from '../core.js';
import { storageOptions } from '../core.js';
import { systemClock } from '../kernel/clock.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { MigrateOptions } from '../storage/migrate.js';
import { openStorage } from '../storage/open-storage.js';
import { sayWaiting } from './with-core.js';

/** Opens the database as the owner of its schema for one act, and closes it again. */
export async function withOwner<T>(
  options: Pick<CoreOptions, 'config' | 'command' | 'mayCreate' | 'mayJoin'>,
  act: (migration: MigrateOptions) => Promise<T>,
): Promise<T> {
  const { command } = options;
  const quiet = { log: () => {}, onLost: () => {}, onWait: sayWaiting };
  const storage = await openStorage(
    storageOptions({ ...options, clock: systemClock, command: `strongroom ${command}`, ...quiet }),
  );
  try {
    if (storage.migration === undefined) {
      throw new ExitError(
        EXIT.configuration,
        `strongroom ${command} works as the owner of the schema. Set STRONGROOM_MIGRATION_DATABASE_URL to the owner's address.`,
      );
    }
    return await act(storage.migration);
  } finally {
    await storage.close();
  }
}
