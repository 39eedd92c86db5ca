import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EXIT, ExitError } from '../kernel/exit.js';
import { generateRootKey, parseRootKey, type RootKey, RootKeyFormatError } from './root-key.js';

const FILE_BYTES_MAX = 4096;
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const ANY_ACCESS_OF_OTHERS = 0o077;
const TEMPORARY_NAME_BYTES = 8;

export interface RootKeyFile {
  readonly rootKey: RootKey;
  /** Someone else than the owner may read or replace the key. */
  readonly isOpenToOthers: boolean;
}

/** Gives undefined when there is no such file; every other fault is one the operator has to mend. */
export async function readRootKeyFile(path: string): Promise<RootKeyFile | undefined> {
  try {
    // Not blocking, because a pipe in the place of the file would hold up the start for ever.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return await readAndClose(handle);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (error instanceof RootKeyFormatError) {
      throw fault(`${path} is not a root key file: ${error.message} Restore it from its backup.`, error);
    }
    throw fault(`${path} cannot be read (${codeOf(error)}). Let the user that runs Strongroom read this file.`, error);
  }
}

/**
 * Makes a key file, or gives false when another process was quicker. The text is safe on disk before the name appears,
 * so a crash leaves a whole key or none; link, unlike rename, never replaces a key that is already there.
 */
export async function createRootKeyFile(path: string): Promise<boolean> {
  const temporary = `${path}.${randomBytes(TEMPORARY_NAME_BYTES).toString('hex')}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER });
    await writeDurably(temporary, `${generateRootKey().reveal()}\n`);
    await link(temporary, path);
    await syncFolder(dirname(path));
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw fault(`${path} cannot be made (${codeOf(error)}). Let the user that runs Strongroom write there.`, error);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function readAndClose(handle: FileHandle): Promise<RootKeyFile> {
  try {
    // Asked of the open file and not of the path, which could lead elsewhere a moment later.
    const stats = await handle.stat();
    if (!stats.isFile()) throw new RootKeyFormatError('It is a folder, a pipe or a device.');
    if (stats.size > FILE_BYTES_MAX) throw new RootKeyFormatError(`It has more than ${FILE_BYTES_MAX} bytes.`);
    const rootKey = parseRootKey(await handle.readFile('utf8'));
    return { rootKey, isOpenToOthers: (stats.mode & ANY_ACCESS_OF_OTHERS) !== 0 };
  } finally {
    await handle.close();
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', OWNER_ONLY_FILE);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The new name is an entry of the folder, and survives a power cut only when the folder is on disk too. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown fault';
}

function fault(message: string, cause: unknown): ExitError {
  return new ExitError(EXIT.configuration, message, cause);
}
