import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { EXIT, ExitError } from '../../kernel/exit.js';
import { refuseDistributedBackup } from '../distribution/examine.js';
import { isOutage, sqlStateOf, translateDriverFault } from '../faults.js';
import type { MigrateOptions } from '../migrate.js';
import { migrate } from '../migrate.js';
import { readMigrations } from '../migrations.js';
import { checkFolder, readTable } from './backup-folder.js';
import { countRows, findTableWithRows, listMigrations, listTables } from './catalogue.js';
import type { BackedUpTable, BackupManifest } from './manifest.js';
import { columnsOf, damaged, refuseForeignSchema, rowsIn } from './manifest.js';
import { asOwner, LOCAL_SETTINGS } from './owner-connection.js';
import type { CheckSeal } from './seal.js';
import type { Watch } from './watch.js';
import { createRowCounter } from './watch.js';

/** Looks at the whole folder, and at nothing else. Throws unless it can be restored by this release. */
export async function checkBackup(
  folder: string,
  checkSeal: CheckSeal,
  onProgress: (bytes: number, total: number) => void,
): Promise<BackupManifest> {
  const manifest = await checkFolder(folder, checkSeal, onProgress);
  refuseForeignSchema(manifest, await readMigrations());
  return manifest;
}

export interface RestoreOptions extends Watch {
  readonly migration: MigrateOptions;
  readonly folder: string;
  /** As `checkBackup` gave it. */
  readonly manifest: BackupManifest;
}

/** Fills a database that holds nothing, in one transaction. Gives the names of migrations newer than the backup. */
export async function restore(options: RestoreOptions): Promise<string[]> {
  const { migration, manifest } = options;
  await asOwner(migration.owner, (client) => refuseUsedDatabase(client, manifest));
  await migrate({ ...migration, upTo: manifest.migrations.length });
  await asOwner(migration.owner, (client) => loadAll(client, options));
  try {
    const applied = await migrate(migration);
    // Without statistics the first plans would be poor ones until the server looks by itself.
    await asOwner(migration.owner, (client) => client.query('ANALYZE'));
    return applied;
  } catch (error) {
    if (!(error instanceof ExitError && error.exitCode === EXIT.unavailable)) throw error;
    throw new ExitError(
      EXIT.unavailable,
      'Everything was restored, and then the connection to the database was lost. Do not restore again: run strongroom migrate.',
      error,
    );
  }
}

/** A first look that holds up nobody, in case the address is that of a database in use. */
async function refuseUsedDatabase(client: pg.Client, manifest: BackupManifest): Promise<void> {
  await refuseDistributedBackup(client);
  const applied = await listMigrations(client);
  if (applied.length === 0) return;
  await client.query('BEGIN READ ONLY');
  await client.query(LOCAL_SETTINGS);
  await refuseRows(client);
  await client.query('ROLLBACK');
  if (applied.length > manifest.migrations.length) throw otherSchema(applied.length, manifest);
}

async function loadAll(client: pg.Client, options: RestoreOptions): Promise<void> {
  const { manifest, folder } = options;
  await client.query('BEGIN');
  await client.query(LOCAL_SETTINGS);
  const tables = await listTables(client);
  const names = tables.map(({ name }) => `"${name}"`);
  await client.query(`LOCK TABLE schema_migrations, ${names.join(', ')} IN ACCESS EXCLUSIVE MODE`);
  const applied = await listMigrations(client);
  if (applied.length !== manifest.migrations.length) throw otherSchema(applied.length, manifest);
  refuseOtherTables(manifest, tables);
  // COPY refuses a table whose row-level security holds for the owner too. Nobody sees this state: it ends with the
  // transaction, and the lock is held.
  const forced = await listForcedTables(client);
  for (const name of forced) await client.query(`ALTER TABLE "${name}" NO FORCE ROW LEVEL SECURITY`);
  await refuseRows(client);
  for (const month of manifest.logMonths) {
    await client.query(`SELECT ensure_log_partitions(to_date($1, 'YYYY_MM')::timestamp AT TIME ZONE 'UTC', 0)`, [
      month,
    ]);
  }
  const tally = createRowCounter(options, rowsIn(manifest));
  for (const table of manifest.tables) await loadTable(client, folder, table, tally);
  for (const name of forced) await client.query(`ALTER TABLE "${name}" FORCE ROW LEVEL SECURITY`);
  await commit(client);
}

/**
 * If the connection breaks inside the COMMIT the outcome is unknown, and the message must not say that nothing was
 * kept.
 */
async function commit(client: pg.Client): Promise<void> {
  try {
    await client.query('COMMIT');
  } catch (error) {
    if (!isOutage(translateDriverFault(error))) throw error;
    throw new ExitError(
      EXIT.unavailable,
      'The connection to the database was lost at the very end: all of it was kept, or nothing. Run the command again; if it says that the database is not empty, all of it was kept.',
      error,
    );
  }
}

async function loadTable(
  client: pg.Client,
  folder: string,
  table: BackedUpTable,
  onRows: (rows: number) => void,
): Promise<void> {
  const sink = client.query(copyFrom(`COPY "${table.name}" (${columnsOf(table)}) FROM STDIN`));
  await readTable(folder, table, sink, onRows).catch((error: unknown) => {
    const state = sqlStateOf(error);
    // Data the server cannot read, and rows its constraints refuse: no fault of the server or of the way to it.
    throw state !== undefined && /^2[23]/.test(state) ? damaged(`${table.name} cannot be loaded (${state})`) : error;
  });
  const stored = await countRows(client, table.name);
  if (sink.rowCount !== table.rows || stored !== table.rows) {
    throw damaged(`${table.name} should have ${table.rows} rows and has ${stored}`);
  }
}

async function refuseRows(client: pg.Client): Promise<void> {
  const filled = await findTableWithRows(client, await listTables(client));
  if (filled === undefined) return;
  throw new ExitError(
    EXIT.configuration,
    `The database is not empty: ${filled} has rows. Restore into a new data folder or a new database. Nothing was changed.`,
  );
}

function refuseOtherTables(
  manifest: BackupManifest,
  tables: readonly { name: string; columns: readonly string[] }[],
): void {
  const shape = (list: typeof tables): string =>
    list
      .map(({ name, columns }) => `${name}(${[...columns].sort().join()})`)
      .sort()
      .join();
  if (shape(manifest.tables) !== shape(tables)) throw damaged('its tables are not those of its schema');
}

function otherSchema(version: number, manifest: BackupManifest): ExitError {
  return new ExitError(
    EXIT.configuration,
    `The database has schema ${version}, the backup ${manifest.migrations.length}. Restore into a database without a schema: it is migrated on the way. Nothing was changed.`,
  );
}

async function listForcedTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relforcerowsecurity ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}
