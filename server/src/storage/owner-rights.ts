import type pg from 'pg';
import { connectAsOwner } from './connect-as-owner.js';
import type { ConnectionTarget } from './connection.js';
import { DEFAULT_TIME_BOUNDS } from './connection.js';

/**
 * What everybody may do in a new database and nobody here needs: temporary objects, which are looked for before all
 * others where a function does not say otherwise, and, in a database that was upgraded from PostgreSQL 14, objects in
 * the schema of the tables. Taken away with every migration run and not by a migration: rights on a database belong to
 * no schema, so they are back in one that was restored from a dump or copied from a template. An owner of the tables
 * alone cannot take them away, and what is left then is named by `examineOwner`. Nothing is done where they are gone:
 * Citus tells every server of it, and one that is down would keep everybody from starting.
 */
const WITHDRAW_PUBLIC_RIGHTS = `
  DO $$
  BEGIN
    IF pg_catalog.has_database_privilege('public', pg_catalog.current_database(), 'TEMPORARY') THEN
      EXECUTE pg_catalog.format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', pg_catalog.current_database());
    END IF;
  EXCEPTION WHEN insufficient_privilege THEN
    NULL;
  END
  $$;
  DO $$
  BEGIN
    IF pg_catalog.has_schema_privilege('public', 'public', 'CREATE') THEN
      REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    END IF;
  EXCEPTION WHEN insufficient_privilege THEN
    NULL;
  END
  $$`;

export async function withdrawPublicRights(owner: pg.Client): Promise<void> {
  await owner.query(WITHDRAW_PUBLIC_RIGHTS);
}

interface OwnerFacts {
  readonly owner: string;
  readonly database: string;
  readonly isSuperuser: boolean;
  readonly makesRoles: boolean;
  readonly isTemporaryOpen: boolean;
  readonly isSchemaOpen: boolean;
}

const FIND_OWNER_FACTS = `
  SELECT quote_ident(r.rolname) AS owner, quote_ident(current_database()) AS database, r.rolsuper AS "isSuperuser",
    r.rolcreaterole AS "makesRoles", has_database_privilege('public', current_database(), 'TEMPORARY') AS "isTemporaryOpen",
    has_schema_privilege('public', 'public', 'CREATE') AS "isSchemaOpen"
  FROM pg_roles r WHERE r.rolname = current_user`;

/**
 * Rights that the owner no longer needs after migrating, each with the statement that removes it, for a superuser to
 * run.
 */
export async function examineOwner(target: ConnectionTarget): Promise<string[]> {
  const client = await connectAsOwner(target, DEFAULT_TIME_BOUNDS);
  try {
    const { rows } = await client.query<OwnerFacts>(FIND_OWNER_FACTS);
    return rows.flatMap(adviceOn);
  } finally {
    await client.end().catch(() => {});
  }
}

function adviceOn({ owner, database, ...facts }: OwnerFacts): string[] {
  const advice: string[] = [];
  if (facts.isSuperuser) {
    advice.push(
      `The owner of the schema, ${owner}, is a superuser: whoever has its password has the whole server. Give the ` +
        'database and its tables to a role of their own; docs/operations.md says how.',
    );
  } else if (facts.makesRoles) {
    advice.push(
      `The owner of the schema, ${owner}, may make roles, and needs that no more. As a superuser run: ` +
        `ALTER ROLE ${owner} NOCREATEROLE.`,
    );
  }
  if (facts.isTemporaryOpen) {
    advice.push(
      `Every login may make temporary objects. As a superuser run: REVOKE TEMPORARY ON DATABASE ${database} FROM PUBLIC.`,
    );
  }
  if (facts.isSchemaOpen) {
    advice.push(
      'Every login may make objects beside the tables. As a superuser run: REVOKE CREATE ON SCHEMA public FROM PUBLIC.',
    );
  }
  return advice;
}
