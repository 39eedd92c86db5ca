import type pg from 'pg';
import { EXIT, ExitError } from '../kernel/exit.js';
import { connectAsOwner } from './connect-as-owner.js';
import type { ConnectionTarget } from './connection.js';
import { distributeNewTables } from './distribution/distribute.js';
import { findDistribution } from './distribution/examine.js';
import { isOutage, sqlStateOf, translateDriverFault } from './faults.js';
import type { Migration } from './migrations.js';
import { readMigrations } from './migrations.js';
import { withdrawPublicRights } from './owner-rights.js';
import { MIGRATION_BOUNDS, MIGRATION_LOCK_NAME, takeSchema } from './schema-lock.js';

export interface MigrateOptions {
  /** The owner of the schema. */
  readonly owner: ConnectionTarget;
  /** The login the service uses: it is given the four working roles and nothing else. */
  readonly login: string;
  /** On the embedded server the login is ours to make. */
  readonly createLogin: boolean;
  /** The last migration to apply; every one there is, unless told. For a restore, which needs the schema of its backup. */
  readonly upTo?: number;
  /** Refuse a database without a schema of ours, instead of making it. */
  readonly needsSchema?: boolean;
  /** Nobody asked for it: the service starts, or a command. */
  readonly isAtStart?: boolean;
}

const INSUFFICIENT_PRIVILEGE = '42501';
const SERVER_VERSION_MIN = 150_000;
/** How long a migration waits for a table: all other requests for that table wait behind it. */
const TABLE_WAIT_SECONDS = 5;
/** Lock timeout, and deadlock. */
const IN_THE_WAY = ['55P03', '40P01'];

/** Brings the schema up to date and returns the names applied. Two processes at once take turns; a crash loses nothing. */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const migrations = await readMigrations();
  const client = await connectAsOwner(options.owner, MIGRATION_BOUNDS);
  try {
    await refuseOldServer(client);
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [MIGRATION_LOCK_NAME]);
    if (options.needsSchema) await refuseMissingSchema(client);
    await client.query(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
         version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL)`,
    );
    const applied = await client.query<{ version: number; checksum: string }>(
      'SELECT version, checksum FROM schema_migrations ORDER BY version',
    );
    const { upTo = migrations.length } = options;
    const pending = pendingMigrations(migrations, applied.rows).filter(({ version }) => version <= upTo);
    // What follows reaches every server of a cluster, and one that is down must not keep the service from starting.
    if (pending.length === 0 && options.isAtStart && (await findDistribution(client)).isDistributed) return [];
    if (pending.length > 0) await takeSchema(client);
    for (const migration of pending) await applyMigration(client, migration);
    if (pending.length > 0) await distributeNewTables(client);
    await withdrawPublicRights(client);
    await refuseMissingLogin(client, options);
    await admitLogin(client, options).catch((error: unknown) => {
      throw asAdmissionFault(error, options.login);
    });
    return pending.map(({ name }) => name);
  } catch (error) {
    throw isOutage(translateDriverFault(error)) && !(error instanceof ExitError)
      ? new ExitError(EXIT.unavailable, 'The connection to the database was lost. Run strongroom migrate again.', error)
      : error;
  } finally {
    await client.end().catch(() => {});
  }
}

/** What is left to apply. A database from a newer release, or an edited migration, is refused untouched. */
export function pendingMigrations(
  shipped: readonly Migration[],
  applied: readonly { readonly version: number; readonly checksum: string }[],
): Migration[] {
  for (const { version, checksum } of applied) {
    const migration = shipped[version - 1];
    if (!migration) {
      const known = shipped.length;
      throw new ExitError(
        EXIT.configuration,
        `The database has schema ${version}, this release knows ${known}. Start a release at least as new as the one that migrated it. Nothing was changed.`,
      );
    }
    if (migration.checksum !== checksum) {
      throw new ExitError(
        EXIT.configuration,
        `Migration ${version} (${migration.name}) differs from the one this database was made with. Restore the released file. Nothing was changed.`,
      );
    }
  }
  return shipped.slice(applied.length);
}

async function applyMigration(client: pg.Client, migration: Migration): Promise<void> {
  await client.query(`BEGIN; SET LOCAL lock_timeout = '${TABLE_WAIT_SECONDS}s'`);
  try {
    await client.query(migration.sql);
    await client.query(
      'INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, now())',
      [migration.version, migration.name, migration.checksum],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    // The next run finds out whether it was applied.
    if (isOutage(translateDriverFault(error))) throw error;
    if (IN_THE_WAY.includes(sqlStateOf(error) ?? '')) throw inTheWay(migration, error);
    const reason = error instanceof Error ? error.message : String(error);
    throw new ExitError(
      EXIT.configuration,
      `Migration ${migration.version} (${migration.name}) failed and was rolled back: ${reason}`,
      error,
    );
  }
}

function inTheWay({ version, name }: Migration, cause: unknown): ExitError {
  return new ExitError(
    EXIT.unavailable,
    `Migration ${version} (${name}) could not have a table in time that somebody holds, such as a long transaction or a dump. Nothing of it was kept. End that, then run strongroom migrate again.`,
    cause,
  );
}

async function refuseOldServer(client: pg.Client): Promise<void> {
  const shown = await client.query<{ server_version_num: string }>('SHOW server_version_num');
  const version = Number(shown.rows[0]?.server_version_num);
  if (version < SERVER_VERSION_MIN) {
    throw new ExitError(
      EXIT.configuration,
      'The database server is older than PostgreSQL 15. Upgrade it, then start again.',
    );
  }
}

async function refuseMissingSchema(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`SELECT 1 FROM pg_class WHERE relname = 'schema_migrations' AND relkind = 'r'`);
  if (rows.length > 0) return;
  throw new ExitError(
    EXIT.configuration,
    'The database has no Strongroom schema: it is empty, or not the one that is meant. For a new installation run ' +
      'strongroom migrate first. Nothing was changed.',
  );
}

/**
 * The login takes on the working roles one at a time and inherits none of them: a statement outside a scope then has no
 * rights at all, instead of the sum of all four.
 */
async function admitLogin(client: pg.Client, options: MigrateOptions): Promise<void> {
  await client.query(
    `SELECT set_config('strongroom.login', $1, false), set_config('strongroom.create_login', $2, false)`,
    [options.login, String(options.createLogin)],
  );
  await client.query(`
    DO $$
    DECLARE
      login text := current_setting('strongroom.login');
      working_role text;
    BEGIN
      IF current_setting('strongroom.create_login') = 'true'
         AND NOT EXISTS (SELECT FROM pg_roles WHERE rolname = login) THEN
        EXECUTE format('CREATE ROLE %I LOGIN NOINHERIT', login);
      END IF;
      GRANT SELECT ON schema_migrations TO strongroom_system;
      IF login = current_user THEN
        RETURN;
      END IF;
      FOREACH working_role IN ARRAY ARRAY['strongroom_app', 'strongroom_system', 'strongroom_purge', 'strongroom_people'] LOOP
        IF NOT pg_has_role(login, working_role, 'MEMBER') THEN
          IF current_setting('server_version_num')::int >= 160000 THEN
            EXECUTE format('GRANT %I TO %I WITH INHERIT FALSE, SET TRUE', working_role, login);
          ELSE
            EXECUTE format('ALTER ROLE %I NOINHERIT', login);
            EXECUTE format('GRANT %I TO %I', working_role, login);
          END IF;
        END IF;
      END LOOP;
    END
    $$`);
}

async function refuseMissingLogin(client: pg.Client, { login, createLogin }: MigrateOptions): Promise<void> {
  if (createLogin) return;
  const found = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [login]);
  if (found.rows.length > 0) return;
  throw new ExitError(
    EXIT.configuration,
    `The schema is up to date, but the login of STRONGROOM_DATABASE_URL does not exist. Make it (CREATE ROLE ${login} LOGIN NOINHERIT PASSWORD '...') and run strongroom migrate again.`,
  );
}

function asAdmissionFault(error: unknown, login: string): unknown {
  if (sqlStateOf(error) !== INSUFFICIENT_PRIVILEGE) return error;
  return new ExitError(
    EXIT.configuration,
    `The schema is up to date, but its owner may not admit the login ${login}. As a superuser run: GRANT strongroom_app, strongroom_system, strongroom_purge, strongroom_people TO ${login}.`,
    error,
  );
}
