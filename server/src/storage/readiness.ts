import { AppError } from '../kernel/errors.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { Database } from './database.js';
import { pendingMigrations } from './migrate.js';
import { readMigrations } from './migrations.js';
import { statement } from './statement.js';

const FIND_APPLIED_MIGRATIONS = statement<{ version: number; checksum: string }>(
  'find_applied_migrations',
  'SELECT version, checksum FROM schema_migrations ORDER BY version LIMIT 10000',
);

const PING = statement<{ one: number }>('ping', 'SELECT 1 AS one');

/** Refuses a schema older than this release: without the owner's address the service cannot migrate it. */
export async function refuseOldSchema(database: Database): Promise<void> {
  const pending = pendingMigrations(await readMigrations(), await appliedMigrations(database));
  if (pending.length === 0) return;
  throw new ExitError(
    EXIT.configuration,
    `The database schema is ${pending.length} migration(s) behind this release. Set STRONGROOM_MIGRATION_DATABASE_URL to the owner's address and run strongroom migrate.`,
  );
}

async function appliedMigrations(database: Database): Promise<{ version: number; checksum: string }[]> {
  try {
    return await database.lookUp((tx) => tx.run(FIND_APPLIED_MIGRATIONS, []));
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new ExitError(
      EXIT.configuration,
      'The login in STRONGROOM_DATABASE_URL has not been admitted to the Strongroom schema: it may not take on the working ' +
        "roles. Leave it there, set STRONGROOM_MIGRATION_DATABASE_URL to the owner's address and run strongroom migrate.",
      error,
    );
  }
}

export async function ping(database: Database): Promise<void> {
  await database.lookUp((tx) => tx.run(PING, []));
}
