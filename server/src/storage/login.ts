import { storageUnavailable } from '../kernel/errors.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { ConnectionTarget } from './connection.js';
import { DEFAULT_TIME_BOUNDS, endpointsOf } from './connection.js';
import { isWhollyDistributed } from './distribution/examine.js';
import { DriverFault, translateDriverFault } from './faults.js';
import { connectToFitting } from './host-choice.js';

interface LoginFacts {
  readonly login: string;
  readonly powers: readonly string[];
  readonly ownsDatabase: boolean;
  readonly hasSchema: boolean;
  readonly isDistributed: boolean;
}

/**
 * Looks into the catalogues alone, which every login may, and takes on no role: the owner is a member of none, and on an
 * empty server there are none. A superuser has every other power too, and one reason is enough.
 */
const FIND_LOGIN_FACTS = `
  WITH login AS (SELECT oid, rolname, rolsuper, rolbypassrls, rolcreaterole, rolreplication FROM pg_roles WHERE rolname = session_user),
  schema_of AS (SELECT relnamespace AS oid FROM pg_class WHERE relname = 'schema_migrations' AND relkind = 'r'),
  may_become AS (SELECT p.rolname, p.rolsuper, p.rolbypassrls FROM pg_roles p, login r
                 WHERE p.oid <> r.oid AND pg_has_role(r.oid, p.oid, 'MEMBER'))
  SELECT r.rolname::text AS login,
    CASE WHEN r.rolsuper THEN ARRAY['it is a superuser'] ELSE array_remove(ARRAY[
      CASE WHEN r.rolbypassrls THEN 'it has BYPASSRLS' END,
      CASE WHEN r.rolcreaterole AND EXISTS (SELECT FROM schema_of) THEN 'it has CREATEROLE' END,
      CASE WHEN r.rolreplication THEN 'it has REPLICATION' END,
      CASE WHEN EXISTS (SELECT FROM pg_roles w WHERE w.rolname IN ('strongroom_app', 'strongroom_system', 'strongroom_purge', 'strongroom_people')
                        AND pg_has_role(r.oid, w.oid, 'USAGE')) THEN 'it inherits the working roles' END,
      CASE WHEN EXISTS (SELECT FROM pg_auth_members m WHERE m.member = r.oid AND m.admin_option)
        THEN 'it may hand roles on' END,
      CASE WHEN EXISTS (SELECT FROM may_become WHERE rolsuper OR rolbypassrls) THEN 'it may become a role that can' END,
      (SELECT 'it is a member of ' || string_agg(rolname, ' and ' ORDER BY rolname) FROM may_become
       WHERE rolname = ANY ($1)),
      CASE WHEN EXISTS (SELECT FROM schema_of) AND has_database_privilege(r.oid, current_database(), 'CREATE')
        THEN 'it may create schemas' END,
      CASE WHEN EXISTS (SELECT FROM schema_of s WHERE has_schema_privilege(r.oid, s.oid, 'CREATE'))
        THEN 'it may create objects beside the tables' END,
      CASE WHEN EXISTS (SELECT FROM schema_of s JOIN pg_proc p ON p.pronamespace = s.oid
                        WHERE pg_has_role(r.oid, p.proowner, 'MEMBER')) THEN 'it owns the functions' END,
      CASE WHEN EXISTS (SELECT FROM schema_of s JOIN pg_class c ON c.relnamespace = s.oid
                        WHERE c.relkind IN ('r', 'p') AND c.relrowsecurity
                        AND pg_has_role(r.oid, c.relowner, 'MEMBER')) THEN 'it owns the tables' END
    ], NULL) END AS powers,
    EXISTS (SELECT FROM pg_database d WHERE d.datname = current_database()
            AND pg_has_role(r.oid, d.datdba, 'MEMBER')) AS "ownsDatabase",
    EXISTS (SELECT FROM schema_of) AS "hasSchema"
  FROM login r`;

/** Roles every server has whose members read or write past the rights on tables, on the host too. */
const SERVER_ROLES = [
  'pg_create_subscription',
  'pg_execute_server_program',
  'pg_maintain',
  'pg_read_all_data',
  'pg_read_server_files',
  'pg_write_all_data',
  'pg_write_server_files',
];

/** What has to be known to talk to a database that is fit. */
export interface FitDatabase {
  /** Citus has spread its tables over servers. */
  readonly isDistributed: boolean;
}

const PLAIN = 'a plain login (CREATE ROLE strongroom LOGIN NOINHERIT)';

/**
 * Refuses a login that could look past row-level security, or become one that can, because the second wall would not
 * exist, and a database that was not migrated. In this order: a wrong login is still wrong after a migration. A
 * database that is half distributed is refused before all else.
 */
export async function refuseUnfitLogin(target: ConnectionTarget): Promise<FitDatabase> {
  const { login, powers, ownsDatabase, hasSchema, isDistributed } = await examineLogin(target);
  if (powers.length > 0) {
    throw new ExitError(
      EXIT.configuration,
      `The database role ${login} could bypass row-level security: ${powers.join(', ')}. ` +
        `Make ${PLAIN}, put it into STRONGROOM_DATABASE_URL, put the owner ` +
        'into STRONGROOM_MIGRATION_DATABASE_URL, and run strongroom migrate.',
    );
  }
  if (hasSchema) return { isDistributed };
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
    const isDistributed = await isWhollyDistributed(client);
    const { rows } = await client.query<Omit<LoginFacts, 'isDistributed'>>(FIND_LOGIN_FACTS, [SERVER_ROLES]);
    if (rows[0] === undefined) throw new Error('the server does not list the role of this session');
    return { ...rows[0], isDistributed };
  } catch (error) {
    throw error instanceof ExitError ? error : translateDriverFault(error);
  } finally {
    await client.end().catch(() => {});
  }
}
