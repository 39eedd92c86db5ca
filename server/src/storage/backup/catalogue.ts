import type pg from 'pg';
import { EXIT, ExitError } from '../../kernel/exit.js';
import type { BackupManifest } from './manifest.js';

export interface StoredTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** What the server believes, from the last time it looked. */
  readonly rowsExpected: number;
}

/** What the migrations themselves keep; a restore makes it by migrating. */
const NOT_COPIED = 'schema_migrations';

const LIST_TABLES = `
  SELECT c.relname::text AS name,
         (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
          WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
         CASE c.relkind WHEN 'r' THEN greatest(c.reltuples, 0)::float8
           ELSE (SELECT coalesce(sum(greatest(p.reltuples, 0)), 0)::float8 FROM pg_partition_tree(c.oid) t
                 JOIN pg_class p ON p.oid = t.relid WHERE t.isleaf) END AS rows_expected
  FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> $1
  ORDER BY c.relname`;

const LIST_REFERENCES = `
  SELECT c.relname::text AS name, r.relname::text AS target
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
  WHERE k.contype = 'f' AND c.relnamespace = 'public'::regnamespace AND k.conrelid <> k.confrelid`;

/** Every table of the schema, in an order in which no row comes before the one it refers to. */
export async function listTables(client: pg.ClientBase): Promise<StoredTable[]> {
  const found = await client.query<{ name: string; columns: string[]; rows_expected: number }>(LIST_TABLES, [
    NOT_COPIED,
  ]);
  const references = await client.query<{ name: string; target: string }>(LIST_REFERENCES);
  const left = new Map(
    found.rows.map(({ name, columns, rows_expected }) => [name, { name, columns, rowsExpected: rows_expected }]),
  );
  const ordered: StoredTable[] = [];
  while (left.size > 0) {
    const free = [...left.values()].filter(
      ({ name }) => !references.rows.some((reference) => reference.name === name && left.has(reference.target)),
    );
    if (free.length === 0) throw new Error('assertion failed: tables refer to each other in a circle');
    for (const table of free) left.delete(table.name);
    ordered.push(...free);
  }
  return ordered;
}

const LIST_MIGRATIONS = 'SELECT version, name, checksum FROM schema_migrations ORDER BY version LIMIT 10000';

/** None for a database that has no schema of ours. */
export async function listMigrations(client: pg.ClientBase): Promise<BackupManifest['migrations']> {
  const found = await client.query<{ is_there: boolean }>(
    `SELECT to_regclass('public.${NOT_COPIED}') IS NOT NULL AS is_there`,
  );
  if (!found.rows[0]?.is_there) return [];
  return (await client.query<BackupManifest['migrations'][number]>(LIST_MIGRATIONS)).rows;
}

const LIST_LOG_MONTHS = `
  SELECT substr(c.relname, 6) AS month FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = to_regclass('public.logs') AND c.relname ~ '^logs_[0-9]{4}_[0-9]{2}$' ORDER BY 1`;

export async function listLogMonths(client: pg.ClientBase): Promise<string[]> {
  return (await client.query<{ month: string }>(LIST_LOG_MONTHS)).rows.map(({ month }) => month);
}

export async function findRootKeyId(client: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ root_key_id: string }>('SELECT root_key_id FROM root_key_check');
  return rows[0]?.root_key_id;
}

/**
 * Whether `keys rotate-root` is at work, told by the lock it holds (rotation/queries.ts). Keys are then wrapped by the old
 * root key or by the new one, and nothing in a row says by which.
 */
const FIND_ROOT_ROTATION = `
  SELECT EXISTS (SELECT FROM pg_locks, (SELECT hashtext('strongroom.rotate-root')::bigint AS key) AS wanted
    WHERE locktype = 'advisory' AND granted AND objsubid = 1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND classid = ((key >> 32) & 4294967295)::oid AND objid = (key & 4294967295)::oid) AS is_at_work`;

export async function isRootKeyChanging(client: pg.ClientBase): Promise<boolean> {
  return (await client.query<{ is_at_work: boolean }>(FIND_ROOT_ROTATION)).rows[0]?.is_at_work === true;
}

/**
 * Row-level security does not say that it hides something. A table is copied only where it is switched off for this
 * login, or where the policy made for backups shows it everything and no other policy takes something away again.
 */
const LIST_HIDDEN_TABLES = `
  SELECT c.relname::text AS name FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND row_security_active(c.oid)
    AND (NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'backup' AND p.polpermissive
                     AND p.polcmd IN ('r', '*') AND current_user::regrole = ANY (p.polroles))
         OR EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND NOT p.polpermissive))
  ORDER BY c.relname`;

export async function refuseHiddenRows(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(LIST_HIDDEN_TABLES);
  if (rows.length === 0) return;
  throw new ExitError(
    EXIT.configuration,
    `Row-level security would hide rows of ${rows.map(({ name }) => name).join(', ')} from this login. ` +
      'Back up as the role that ran strongroom migrate, after migrating to this release; before that, as a superuser.',
  );
}

export async function findTableWithRows(
  client: pg.ClientBase,
  tables: readonly { readonly name: string }[],
): Promise<string | undefined> {
  for (const { name } of tables) {
    const { rows } = await client.query<{ has_rows: boolean }>(`SELECT EXISTS (SELECT FROM "${name}") AS has_rows`);
    if (rows[0]?.has_rows) return name;
  }
  return undefined;
}

export async function countRows(client: pg.ClientBase, name: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`SELECT count(*) AS count FROM "${name}"`);
  return Number(rows[0]?.count);
}
