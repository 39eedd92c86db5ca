import { storageUnavailable } from '../kernel/errors.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { ConnectionTarget } from './connection.js';
import { DEFAULT_TIME_BOUNDS, endpointsOf } from './connection.js';
import { DriverFault, translateDriverFault } from './faults.js';
import { connectToFitting } from './host-choice.js';

interface LoginFacts {
  readonly login: string;
  readonly powers: readonly string[];
  readonly ownsDatabase: boolean;
  readonly hasSchema: boolean;
}

/**
 * Looks into the catalogues alone, which every login may, and takes on no role: the owner is a member of none, and on an
 * empty server there are none. A superuser has every other power too, and one reason is enough.
 */
const FIND_LOGIN_FACTS = `
  SELECT r.rolname::text AS login,
    CASE WHEN r.rolsuper THEN ARRAY['it is a superuser'] ELSE array_remove(ARRAY[
      CASE WHEN r.rolbypassrls THEN 'it has BYPASSRLS' END,
      CASE WHEN EXISTS (SELECT FROM pg_roles w WHERE w.rolname IN ('strongroom_app', 'strongroom_system', 'strongroom_purge')
                        AND pg_has_role(r.oid, w.oid, 'USAGE')) THEN 'it inherits the working roles' END,
      CASE WHEN EXISTS (SELECT FROM pg_roles p WHERE (p.rolsuper OR p.rolbypassrls) AND p.oid <> r.oid
                        AND pg_has_role(r.oid, p.oid, 'MEMBER')) THEN 'it may become a role that can' END,
      CASE WHEN EXISTS (SELECT FROM pg_class c JOIN pg_class m ON m.relnamespace = c.relnamespace
                        WHERE m.relname = 'schema_migrations' AND m.relkind = 'r'
                        AND c.relkind IN ('r', 'p') AND c.relrowsecurity
                        AND pg_has_role(r.oid, c.relowner, 'MEMBER')) THEN 'it owns the tables' END
    ], NULL) END AS powers,
    EXISTS (SELECT FROM pg_database d WHERE d.datname = current_database()
            AND pg_has_role(r.oid, d.datdba, 'MEMBER')) AS "ownsDatabase",
    EXISTS (SELECT FROM pg_class WHERE relname = 'schema_migrations' AND relkind = 'r') AS "hasSchema"
  FROM pg_roles r WHERE r.rolname = session_user`;

const PLAIN = 'a plain login (CREATE ROLE strongroom LOGIN NOINHERIT)';

/**
 * Refuses a login that could look past row-level security, because the second wall would be a painted one, and a
 * database nobody has migrated. In this order: what is wrong with the login is wrong after a migration too.
 */
export async function refuseUnfitLogin(target: ConnectionTarget): Promise<void> {
  const { login, powers, ownsDatabase, hasSchema } = await examineLogin(target);
  if (powers.length > 0) {
    throw new ExitError(
      EXIT.configuration,
      `The database role ${login} could bypass row-level security: ${powers.join(', ')}. ` +
        `Make ${PLAIN}, put it into STRONGROOM_DATABASE_URL, put the owner ` +
        'into STRONGROOM_MIGRATION_DATABASE_URL, and run strongroom migrate.',
    );
  }
  if (hasSchema) return;
  throw new ExitError(
    EXIT.configuration,
    ownsDatabase
      ? `The database has no Strongroom schema yet, and the role ${login} owns this database, so it can make the schema ` +
          `but not serve. Put it into STRONGROOM_MIGRATION_DATABASE_URL, put ${PLAIN} into STRONGROOM_DATABASE_URL, ` +
          'and run strongroom migrate.'
      : "The database has no Strongroom schema yet. Set STRONGROOM_MIGRATION_DATABASE_URL to the owner's address and run strongroom migrate.",
  );
}

async function examineLogin(target: ConnectionTarget): Promise<LoginFacts> {
  const { client } = await connectToFitting(endpointsOf(target), DEFAULT_TIME_BOUNDS).catch((error: unknown) => {
    throw storageUnavailable(new DriverFault(error));
  });
  try {
    const { rows } = await client.query<LoginFacts>(FIND_LOGIN_FACTS);
    if (rows[0] === undefined) throw new Error('the server does not list the role of this session');
    return rows[0];
  } catch (error) {
    throw translateDriverFault(error);
  } finally {
    await client.end().catch(() => {});
  }
}
