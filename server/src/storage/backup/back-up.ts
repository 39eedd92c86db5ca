import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { EXIT, ExitError } from '../../kernel/exit.js';
import type { ConnectionTarget } from '../connection.js';
import { refuseDistributedBackup } from '../distribution/examine.js';
import { pendingMigrations } from '../migrate.js';
import { readMigrations } from '../migrations.js';
import { holdSchema } from '../schema-lock.js';
import { openEmptyFolder, releaseFolder, removeFiles, writeBackupManifest, writeTable } from './backup-folder.js';
import type { StoredTable } from './catalogue.js';
import {
  findRootKeyId,
  isRootKeyChanging,
  listLogMonths,
  listMigrations,
  listTables,
  refuseHiddenRows,
} from './catalogue.js';
import type { BackedUpTable, BackupManifest } from './manifest.js';
import { columnsOf } from './manifest.js';
import { asOwner, LOCAL_SETTINGS } from './owner-connection.js';
import { COUNT_SETTINGS, countEveryRow, refuseFewerRows } from './row-count.js';
import type { SealManifest } from './seal.js';
import type { Watch } from './watch.js';
import { createRowCounter } from './watch.js';

export interface BackUpOptions extends Watch {
  readonly owner: ConnectionTarget;
  readonly folder: string;
  readonly productVersion: string;
  readonly nowMs: number;
  readonly sealManifest: SealManifest;
}

/** Writes every table as it is at one moment, while others go on writing. Gives what is in the folder then. */
export async function backUp(options: BackUpOptions): Promise<BackupManifest> {
  const { folder } = options;
  await openEmptyFolder(folder);
  try {
    const { manifest, seal } = await asOwner(options.owner, (client) => copyAll(client, options));
    await writeBackupManifest(folder, manifest, seal);
    await releaseFolder(folder);
    return manifest;
  } catch (error) {
    await removeFiles(folder);
    throw error;
  }
}

interface Copied {
  readonly manifest: BackupManifest;
  readonly seal: (text: string) => string;
}

async function copyAll(client: pg.Client, options: BackUpOptions): Promise<Copied> {
  await refuseDistributedBackup(client);
  await holdSchema(client);
  // Before and after the snapshot: one that is at work at that moment cannot have begun and ended in between.
  const wasChanging = await isRootKeyChanging(client);
  const known = await listTables(client);
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await client.query(LOCAL_SETTINGS);
  // Before the snapshot, which the first query takes: what is dropped or changed in its shape is so before or after.
  if (known.length > 0) {
    await client.query(`LOCK TABLE ${known.map(({ name }) => `"${name}"`).join(', ')} IN ACCESS SHARE MODE`);
  }
  const migrations = await listMigrations(client);
  if (migrations.length === 0) {
    throw new ExitError(EXIT.configuration, 'The database has no Strongroom schema: there is nothing to back up.');
  }
  pendingMigrations(await readMigrations(), migrations);
  const tables = await listTables(client);
  if (tables.map(({ name }) => name).join() !== known.map(({ name }) => name).join()) {
    throw new ExitError(EXIT.unavailable, 'The schema was being changed just now. Run the command again.');
  }
  await refuseHiddenRows(client);
  const isChanging = (await isRootKeyChanging(client)) || wasChanging;
  const [rootKeyId, logMonths] = [await findRootKeyId(client), await listLogMonths(client)];
  const seal = options.sealManifest(rootKeyId);
  const rowsExpected = tables.reduce((sum, table) => sum + table.rowsExpected, 0);
  const records: BackedUpTable[] = [];
  const tally = createRowCounter(options, rowsExpected);
  await client.query(COUNT_SETTINGS);
  for (const table of tables) records.push(await copyTable(client, options.folder, table, tally));
  await client.query('COMMIT');
  const { productVersion, nowMs } = options;
  const createdAt = new Date(nowMs).toISOString();
  return {
    seal,
    manifest: {
      productVersion,
      createdAt,
      rootKeyId,
      isRootKeyChanging: isChanging,
      migrations,
      logMonths,
      tables: records,
    },
  };
}

async function copyTable(
  client: pg.Client,
  folder: string,
  table: StoredTable,
  onRows: (rows: number) => void,
): Promise<BackedUpTable> {
  const counted = await countEveryRow(client, table.name);
  // As a query, because a table in parts and one behind row-level security cannot be copied by its name.
  const copied = client.query(copyTo(`COPY (SELECT ${columnsOf(table)} FROM "${table.name}") TO STDOUT`));
  // Until it is read, a broken connection would be an unhandled error that ends the process.
  copied.on('error', () => {});
  const record = await writeTable(folder, table, copied, onRows);
  // The server tells its own count behind the last row; the next answer comes after that.
  await client.query('SELECT 1');
  if (copied.rowCount !== record.rows) {
    throw new Error(`assertion failed: ${copied.rowCount} rows of ${table.name} were sent and ${record.rows} written`);
  }
  refuseFewerRows(table.name, record.rows, counted);
  return record;
}
