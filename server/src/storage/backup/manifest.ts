import { EXIT, ExitError } from '../../kernel/exit.js';
import type { Migration } from '../migrations.js';

export const FORMAT = 'strongroom-backup';
export const FORMAT_VERSION = 1;

export interface BackedUpTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** What belongs to a backup, in the order in which it can be loaded. It is written last: a folder that has one is whole. */
export interface BackupManifest {
  readonly productVersion: string;
  readonly createdAt: string;
  /** Of the key without which nothing in here opens; undefined for a database that was never started on. */
  readonly rootKeyId: string | undefined;
  /** It was taken while `keys rotate-root` was at work: another root key is needed besides. */
  readonly isRootKeyChanging: boolean;
  readonly migrations: readonly Pick<Migration, 'version' | 'name' | 'checksum'>[];
  /** Months of the log that have a table, such as `2030_01`. */
  readonly logMonths: readonly string[];
  readonly tables: readonly BackedUpTable[];
}

/** Names go into statements and into paths, so nothing but these is one. */
const NAME = /^[a-z_][a-z0-9_]{0,62}$/;
/** There is no year 0, and a month of it could not be made. */
const MONTH = /^(?!0000)\d{4}_(0[1-9]|1[0-2])$/;
const SHA256 = /^[0-9a-f]{64}$/;

export function fileNameOf({ name }: Pick<BackedUpTable, 'name'>): string {
  return `${name}.copy.gz`;
}

/** As a statement names them. */
export function columnsOf({ columns }: Pick<BackedUpTable, 'columns'>): string {
  return columns.map((name) => `"${name}"`).join(', ');
}

export function rowsIn({ tables }: Pick<BackupManifest, 'tables'>): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

export function manifestText(manifest: BackupManifest): string {
  const { productVersion, createdAt, rootKeyId, isRootKeyChanging, migrations, logMonths, tables } = manifest;
  const body = {
    format: FORMAT,
    version: FORMAT_VERSION,
    product_version: productVersion,
    created_at: createdAt,
    root_key_id: rootKeyId ?? null,
    root_key_is_changing: isRootKeyChanging,
    migrations: migrations.map(({ version, name, checksum }) => ({ version, name, checksum })),
    log_months: logMonths,
    tables: tables.map((table) => ({ ...table, file: fileNameOf(table) })),
  };
  return `${JSON.stringify(body, undefined, 2)}\n`;
}

/** Reads it as if a stranger had written it. */
export function parseManifest(text: string): BackupManifest {
  const body = objectOf(parseJson(text));
  if (body.format !== FORMAT) throw damaged();
  if (body.version !== FORMAT_VERSION) {
    throw new ExitError(
      EXIT.configuration,
      `The backup has format ${Number(body.version)}, this release reads ${FORMAT_VERSION}. Restore with the release that wrote it, or a newer one. Nothing was changed.`,
    );
  }
  const rootKeyId = body.root_key_id === null ? undefined : textOf(body.root_key_id, /^rk-[0-9a-f]{12}$/);
  return {
    productVersion: textOf(body.product_version, /^[\w.+-]{1,50}$/),
    createdAt: textOf(body.created_at, /^[\dTZ:.+-]{10,40}$/),
    rootKeyId,
    isRootKeyChanging: body.root_key_is_changing === true,
    migrations: filledListOf(body.migrations).map(readMigration),
    logMonths: listOf(body.log_months).map((month) => textOf(month, MONTH)),
    tables: listOf(body.tables).map(readTable),
  };
}

/** A backup of a newer release, or of one whose migrations were edited, cannot be made to fit. */
export function refuseForeignSchema({ migrations }: BackupManifest, shipped: readonly Migration[]): void {
  for (const { version, checksum } of migrations) {
    const known = shipped[version - 1];
    if (known === undefined) {
      throw new ExitError(
        EXIT.configuration,
        `The backup has schema ${migrations.length}, this release knows ${shipped.length}. Restore with a release at least as new as the one that wrote it. Nothing was changed.`,
      );
    }
    if (known.checksum !== checksum) {
      throw new ExitError(
        EXIT.configuration,
        `Migration ${version} (${known.name}) differs from the one the backup was made with. Restore with the released files. Nothing was changed.`,
      );
    }
  }
}

export function damaged(what = 'its manifest is not as a backup writes it'): ExitError {
  return new ExitError(EXIT.failure, `The backup is damaged or incomplete: ${what}. Nothing was changed.`);
}

function readMigration(value: unknown, index: number): BackupManifest['migrations'][number] {
  const { version, name, checksum } = objectOf(value);
  if (version !== index + 1) throw damaged();
  return { version, name: textOf(name, NAME), checksum: textOf(checksum, SHA256) };
}

function readTable(value: unknown): BackedUpTable {
  const { name, columns, rows, bytes, sha256, file } = objectOf(value);
  const table = {
    name: textOf(name, NAME),
    columns: filledListOf(columns).map((column) => textOf(column, NAME)),
    rows: countOf(rows),
    bytes: countOf(bytes),
    sha256: textOf(sha256, SHA256),
  };
  if (file !== fileNameOf(table)) throw damaged();
  return table;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged();
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw damaged();
  return value as Record<string, unknown>; // Not null and an object: each member is checked where it is used.
}

function listOf(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw damaged();
  return value;
}

function filledListOf(value: unknown): unknown[] {
  const list = listOf(value);
  if (list.length === 0) throw damaged();
  return list;
}

function textOf(value: unknown, pattern: RegExp): string {
  if (typeof value !== 'string' || !pattern.test(value)) throw damaged();
  return value;
}

function countOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw damaged();
  return value;
}
