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

const FIND_LOGIN_POWERS = statement<{ login: string; powers: string[] }>(
  'find_login_powers',
  `SELECT session_user::text AS login, array_remove(ARRAY[
     CASE WHEN r.rolsuper THEN 'it is a superuser' END,
     CASE WHEN r.rolbypassrls THEN 'it has BYPASSRLS' END,
     CASE WHEN pg_has_role(session_user, 'strongroom_app', 'USAGE') OR pg_has_role(session_user, 'strongroom_system', 'USAGE')
            OR pg_has_role(session_user, 'strongroom_purge', 'USAGE') THEN 'it inherits the working roles' END,
     CASE WHEN EXISTS (SELECT FROM pg_roles p WHERE (p.rolsuper OR p.rolbypassrls) AND p.rolname <> session_user
                       AND pg_has_role(session_user, p.oid, 'MEMBER')) THEN 'it may become a role that can' END,
     CASE WHEN EXISTS (SELECT FROM pg_class c WHERE c.relname = 'tenants' AND c.relkind = 'r'
                       AND pg_has_role(session_user, c.relowner, 'MEMBER')) THEN 'it owns the tables' END
   ], NULL) AS powers
   FROM pg_roles r WHERE r.rolname = session_user`,
);

const PING = statement<{ one: number }>('ping', 'SELECT 1 AS one');

/** Refuses a login that could look past row-level security: the second wall would be a painted one. */
export async function refusePowerfulLogin(database: Database): Promise<void> {
  const [found] = await database.lookUp((tx) => tx.run(FIND_LOGIN_POWERS, []));
  if (!found || found.powers.length === 0) return;
  throw new ExitError(
    EXIT.configuration,
    `The database role ${found.login} could bypass row-level security: ${found.powers.join(', ')}. ` +
      'Make a plain login (CREATE ROLE strongroom LOGIN NOINHERIT), put it into STRONGROOM_DATABASE_URL, put the owner ' +
      'into STRONGROOM_MIGRATION_DATABASE_URL, and run strongroom migrate.',
  );
}

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
      "The database has no Strongroom schema, or this login may not see it. Set STRONGROOM_MIGRATION_DATABASE_URL to the owner's address and run strongroom migrate.",
      error,
    );
  }
}

export async function ping(database: Database): Promise<void> {
  await database.lookUp((tx) => tx.run(PING, []));
}
