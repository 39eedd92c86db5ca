import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { ConnectionTarget } from '../storage/connection.js';
import type { TestDatabase } from './test-database.js';

export interface EmptyDatabase {
  readonly owner: pg.Client;
  readonly ownerTarget: ConnectionTarget;
  /** Free to be made: roles belong to the whole server, so each database here has a login of its own. */
  readonly login: string;
  readonly target: ConnectionTarget;
  drop(): Promise<void>;
}

/** A database without a schema, beside one that has it: the working roles of the server exist then. */
export async function createEmptyDatabase(beside: TestDatabase): Promise<EmptyDatabase> {
  const unique = randomBytes(6).toString('hex');
  const [database, login] = [`empty_${unique}`, `login_${unique}`];
  await beside.owner.query(`CREATE DATABASE ${database}`);
  const ownerTarget = { ...beside.ownerTarget, database };
  const owner = await connectAs(ownerTarget);
  return {
    owner,
    ownerTarget,
    login,
    target: { ...ownerTarget, user: login },
    async drop() {
      await owner.end();
      await beside.owner.query(`DROP DATABASE ${database} WITH (FORCE)`);
      await beside.owner.query(`DROP ROLE IF EXISTS ${login}`);
    },
  };
}

export async function connectAs(target: ConnectionTarget): Promise<pg.Client> {
  if (!('socketDir' in target)) throw new Error('tests reach their server through its socket');
  const { socketDir, port, user, database } = target;
  const client = new pg.Client({ host: socketDir, port, user, database });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Everything a migration can make, as text, for telling two schemas apart. */
export async function describeSchema(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(`
    WITH ours AS (SELECT oid, relname, relkind, relacl, relrowsecurity, relforcerowsecurity FROM pg_class
                  WHERE relnamespace = 'public'::regnamespace)
    SELECT concat_ws(' ', relkind, relname, relacl::text, relrowsecurity, relforcerowsecurity) AS line FROM ours
    UNION ALL
    SELECT concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attnotnull)
    FROM ours JOIN pg_attribute a ON a.attrelid = ours.oid WHERE attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT concat_ws(' ', relname, conname, pg_get_constraintdef(c.oid))
    FROM ours JOIN pg_constraint c ON c.conrelid = ours.oid
    UNION ALL
    SELECT pg_get_indexdef(oid) FROM ours WHERE relkind IN ('i', 'I')
    UNION ALL
    SELECT concat_ws(' ', tablename, policyname, roles::text, cmd, qual, with_check) FROM pg_policies
    UNION ALL
    SELECT concat_ws(' ', pg_get_functiondef(oid), proacl::text) FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace
    ORDER BY line`);
  return rows.map(({ line }) => line);
}
