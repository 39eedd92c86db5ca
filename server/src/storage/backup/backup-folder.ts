import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { chmod, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip, constants as zlib } from 'node:zlib';
import { validationFailed } from '../../kernel/errors.js';
import { EXIT, ExitError } from '../../kernel/exit.js';
import { makeFolders } from '../make-folders.js';
import type { BackedUpTable, BackupManifest } from './manifest.js';
import { damaged, fileNameOf, manifestText, parseManifest } from './manifest.js';
import type { CheckSeal } from './seal.js';

export const BACKUP_MANIFEST_NAME = 'manifest.json';
/** In the form of `sha256sum`, so that a backup can be checked without this program. */
export const SUMS_NAME = 'SHA256SUMS';
export const SEAL_NAME = 'manifest.seal';
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const MANIFEST_BYTES_MAX = 1_048_576;
const SEAL_BYTES_MAX = 1_024;
const LINE_FEED = 10;
/** Exists while a backup is being written: the process that made it owns the folder. */
const CLAIM_NAME = 'backup.unfinished';

/**
 * Makes the folder, or takes an empty one, for this backup alone: otherwise, of two at the same moment, one could
 * overwrite or remove the other's files while that one reports a complete backup. Whatever else is there is left alone
 * and refused.
 */
export async function openEmptyFolder(folder: string): Promise<void> {
  const inUse = validationFailed({ to: ['must be an empty folder, or a new one'] });
  const refusePlace = (error: unknown): never => {
    throw codeOf(error) === 'ENOSPC' ? error : impossiblePlace(folder, error);
  };
  try {
    await makeFolders(folder, OWNER_ONLY_FOLDER).catch(refusePlace);
    if ((await readdir(folder).catch(refusePlace)).length > 0) throw inUse;
    const claim = await open(join(folder, CLAIM_NAME), 'wx', OWNER_ONLY_FILE).catch((error: unknown) => {
      throw codeOf(error) === 'EEXIST' ? inUse : error;
    });
    await claim.close();
    // Another one may have begun and ended between the look and the claim.
    if ((await readdir(folder)).length > 1) {
      await releaseFolder(folder);
      throw inUse;
    }
    await chmod(folder, OWNER_ONLY_FOLDER);
  } catch (error) {
    throw fileFault(folder, error);
  }
}

export async function releaseFolder(folder: string): Promise<void> {
  await rm(join(folder, CLAIM_NAME), { force: true });
}

/** After a failure: nothing half-written stays to be mistaken for anything. */
export async function removeFiles(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) await rm(join(folder, name), { force: true });
}

/** Writes what the server sends of one table; a row is a line. */
export async function writeTable(
  folder: string,
  table: Pick<BackedUpTable, 'name' | 'columns'>,
  source: Readable,
  onRows: (rows: number) => void,
): Promise<BackedUpTable> {
  let rows = 0;
  const counted = seeing((chunk) => {
    const more = linesIn(chunk);
    rows += more;
    onRows(more);
  });
  // Ciphertext in hexadecimal is what there is most of: the fastest level already gets back its doubling.
  const zip = createGzip({ level: zlib.Z_BEST_SPEED });
  const { bytes, sha256 } = await writeFileWhole(join(folder, fileNameOf(table)), (sink) =>
    pipeline(source, counted, zip, sink),
  );
  return { name: table.name, columns: table.columns, rows, bytes, sha256 };
}

/** The manifest is the last file to get its name: without it the rest is no backup. */
export async function writeBackupManifest(
  folder: string,
  manifest: BackupManifest,
  seal: (text: string) => string,
): Promise<void> {
  const text = manifestText(manifest);
  const sums = [
    ...manifest.tables.map((table) => `${table.sha256}  ${fileNameOf(table)}\n`),
    `${createHash('sha256').update(text).digest('hex')}  ${BACKUP_MANIFEST_NAME}\n`,
  ].join('');
  await writeFileWhole(join(folder, SUMS_NAME), (sink) => sink([Buffer.from(sums)]));
  await writeFileWhole(join(folder, SEAL_NAME), (sink) => sink([Buffer.from(seal(text))]));
  await writeFileWhole(join(folder, BACKUP_MANIFEST_NAME), (sink) => sink([Buffer.from(text)]));
  await syncFolder(dirname(folder));
}

/** Reads and proves everything before anybody acts on it. */
export async function checkFolder(
  folder: string,
  checkSeal: CheckSeal,
  onBytes: (done: number, total: number) => void,
): Promise<BackupManifest> {
  const manifest = await readManifest(folder, checkSeal);
  const total = manifest.tables.reduce((sum, { bytes }) => sum + bytes, 0);
  const expected = [BACKUP_MANIFEST_NAME, SUMS_NAME, ...manifest.tables.map(fileNameOf)];
  const present = new Set(await readdir(folder));
  const missing = expected.filter((name) => !present.has(name));
  if (missing.length > 0) throw damaged(`${missing.join(', ')} is missing`);
  let done = 0;
  for (const table of manifest.tables) {
    const path = join(folder, fileNameOf(table));
    // The size first: a file that was cut off is told at once.
    const found = await stat(path).catch((error: unknown) => {
      throw fileFault(path, error);
    });
    if (!found.isFile()) throw damaged(`${fileNameOf(table)} is no file`);
    if (found.size !== table.bytes) throw damaged(`${fileNameOf(table)} has another size`);
    const hash = createHash('sha256');
    try {
      for await (const chunk of createReadStream(path)) {
        hash.update(chunk);
        done += chunk.length;
        onBytes(done, total);
      }
    } catch (error) {
      throw fileFault(path, error);
    }
    if (hash.digest('hex') !== table.sha256) throw damaged(`${fileNameOf(table)} was altered`);
  }
  return manifest;
}

/** Sends the rows of a table to `sink`, and proves once more that they are the ones that were checked. */
export async function readTable(
  folder: string,
  table: BackedUpTable,
  sink: NodeJS.WritableStream,
  onRows: (rows: number) => void,
): Promise<void> {
  const hash = createHash('sha256');
  const hashed = seeing((chunk) => void hash.update(chunk));
  const counted = seeing((chunk) => onRows(linesIn(chunk)));
  const path = join(folder, fileNameOf(table));
  try {
    await pipeline(createReadStream(path), hashed, createGunzip(), counted, sink);
  } catch (error) {
    if (String(codeOf(error)).startsWith('Z_')) throw damaged(`${fileNameOf(table)} cannot be unpacked`);
    throw fileFault(path, error);
  }
  if (hash.digest('hex') !== table.sha256) throw damaged(`${fileNameOf(table)} was altered while it was read`);
}

/**
 * Nothing in it is trusted before its seal was checked: an attacker who can write here could also have written the
 * checksums.
 */
async function readManifest(folder: string, checkSeal: CheckSeal): Promise<BackupManifest> {
  try {
    const path = join(folder, BACKUP_MANIFEST_NAME);
    if ((await stat(path)).size > MANIFEST_BYTES_MAX) throw damaged();
    const text = await readFile(path, 'utf8');
    const sums = await readFile(join(folder, SUMS_NAME), 'utf8');
    const sum = createHash('sha256').update(text).digest('hex');
    if (!sums.split('\n').includes(`${sum}  ${BACKUP_MANIFEST_NAME}`))
      throw damaged(`${BACKUP_MANIFEST_NAME} was altered`);
    checkSeal(text, await readSeal(folder));
    return parseManifest(text);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw damaged(`${BACKUP_MANIFEST_NAME} or ${SUMS_NAME} is missing from ${folder}`);
    throw fileFault(folder, error);
  }
}

async function readSeal(folder: string): Promise<string | undefined> {
  const path = join(folder, SEAL_NAME);
  try {
    if ((await stat(path)).size > SEAL_BYTES_MAX) throw damaged(`${SEAL_NAME} is too large`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

type Sink = (chunks: AsyncIterable<Buffer> | Iterable<Buffer>) => Promise<void>;

/** Under another name until it is whole and on disk. */
async function writeFileWhole(
  path: string,
  fill: (sink: Sink) => Promise<void>,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  const unfinished = `${path}.unfinished`;
  let bytes = 0;
  try {
    const handle = await open(unfinished, 'wx', OWNER_ONLY_FILE);
    try {
      await fill(async (chunks) => {
        for await (const chunk of chunks) {
          hash.update(chunk);
          bytes += chunk.length;
          await handle.appendFile(chunk);
        }
      });
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, path);
    await syncFolder(dirname(path));
  } catch (error) {
    throw fileFault(path, error);
  }
  return { bytes, sha256: hash.digest('hex') };
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A step of a pipeline that looks at what passes and hands it on. */
function seeing(look: (chunk: Buffer) => void) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      look(chunk);
      yield chunk;
    }
  };
}

function linesIn(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) lines += 1;
  return lines;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function impossiblePlace(folder: string, cause: unknown): Error {
  return validationFailed({
    to: [
      `${folder} cannot be made or used as a folder (${String(codeOf(cause))}); choose one that this user may write`,
    ],
  });
}

/** A fault of the file system as a sentence; everything else as it is. */
function fileFault(path: string, error: unknown): unknown {
  // A broken connection fails in a system call too; the caller reports it.
  if (!(error instanceof Error) || !('syscall' in error) || /^E(CONN|PIPE|TIMEDOUT)/.test(String(codeOf(error)))) {
    return error;
  }
  const next = codeOf(error) === 'ENOSPC' ? 'Make room' : 'Check the path and who may use it';
  return new ExitError(
    EXIT.failure,
    `${basename(path)} cannot be used (${String(codeOf(error))}). ${next}, then try again.`,
    error,
  );
}
