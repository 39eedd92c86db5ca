import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EXIT, ExitError } from '../kernel/exit.js';
import { makeFolders } from '../storage/make-folders.js';
import { generateRootKey, RootKeyFormatError } from './root-key.js';
import { formatRootKeyRing, parseRootKeyRing, type RootKeyRing } from './root-key-ring.js';

const FILE_BYTES_MAX = 4096;
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const ANY_ACCESS_OF_OTHERS = 0o077;
const TEMPORARY_NAME_BYTES = 8;
const TEMPORARY_END = /^\.[0-9a-f]{16}\.tmp$/;

export interface RootKeyFile {
  readonly ring: RootKeyRing;
  /** Someone else than the owner may read or replace the key. */
  readonly isOpenToOthers: boolean;
}

/** Gives undefined when there is no such file; every other fault is one the operator has to correct. */
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
  const temporary = temporaryName(path);
  try {
    await makeFolders(dirname(path), OWNER_ONLY_FOLDER);
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

/**
 * Puts other keys into a key file that is there. Rename swaps the whole file at once, so a reader, and a crash, see
 * either the old ring or the new one. A symbolic link stays: the file it points to is replaced.
 */
export async function replaceRootKeyFile(path: string, ring: RootKeyRing): Promise<void> {
  let temporary: string | undefined;
  try {
    const target = await realpath(path);
    const { uid, gid } = await stat(target);
    await removeLeftOvers(target);
    temporary = temporaryName(target);
    await writeDurably(temporary, formatRootKeyRing(ring).reveal(), { uid, gid });
    await rename(temporary, target);
    await syncFolder(dirname(target));
  } catch (error) {
    throw fault(
      `${path} cannot be replaced (${codeOf(error)}). Let the user that runs this command write in its folder, or put ` +
        'the keys there yourself: one a line, the new one first. Then run the command again.',
      error,
    );
  } finally {
    if (temporary !== undefined) await rm(temporary, { force: true });
  }
}

/** What a killed process left under its temporary name holds keys, and nobody would look for it there. */
async function removeLeftOvers(path: string): Promise<void> {
  const [folder, name] = [dirname(path), basename(path)];
  const isLeftOver = (entry: string) => entry.startsWith(`${name}.`) && TEMPORARY_END.test(entry.slice(name.length));
  const leftOvers = (await readdir(folder)).filter(isLeftOver);
  await Promise.all(leftOvers.map((entry) => rm(join(folder, entry), { force: true })));
}

function temporaryName(path: string): string {
  return `${path}.${randomBytes(TEMPORARY_NAME_BYTES).toString('hex')}.tmp`;
}

async function readAndClose(handle: FileHandle): Promise<RootKeyFile> {
  try {
    // Asked of the open file and not of the path, which could lead elsewhere a moment later.
    const stats = await handle.stat();
    if (!stats.isFile()) throw new RootKeyFormatError('It is a folder, a pipe or a device.');
    if (stats.size > FILE_BYTES_MAX) throw new RootKeyFormatError(`It has more than ${FILE_BYTES_MAX} bytes.`);
    const ring = parseRootKeyRing(await handle.readFile('utf8'));
    return { ring, isOpenToOthers: (stats.mode & ANY_ACCESS_OF_OTHERS) !== 0 };
  } finally {
    await handle.close();
  }
}

async function writeDurably(path: string, text: string, owner?: { uid: number; gid: number }): Promise<void> {
  const handle = await open(path, 'wx', OWNER_ONLY_FILE);
  try {
    // Root may rotate for a service that runs as somebody else, who has to be able to read the file afterwards.
    if (owner !== undefined && owner.uid !== process.geteuid?.()) await handle.chown(owner.uid, owner.gid);
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
