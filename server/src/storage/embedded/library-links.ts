import { chmod, lstat, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { EXIT, ExitError } from '../../kernel/exit.js';
import type { DataFolder } from './data-folder.js';
import { errorCode, ifPresent } from './error-code.js';

interface Link {
  readonly path: string;
  readonly target: string;
}

/**
 * npm packages cannot hold symbolic links, and the install script that would make them may not have run. Makes those
 * that are missing. Where the package is not ours to write, they go into the data folder, and what is returned is the
 * search path that the loader needs for it: the links, and what the linked libraries themselves look for beside them.
 */
export async function linkLibraries(native: string, folder: DataFolder): Promise<string | undefined> {
  const missing = await findMissing(native);
  try {
    for (const { path, target } of missing) await link(relative(dirname(path), target), path);
    return undefined;
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error) ?? '')) throw error;
    // The loader of macOS drops its search path on the way through the system's shell.
    if (process.platform !== 'linux') throw notLinkable(native, error);
    await linkElsewhere(await readLinks(native), folder.libraries);
    return `${folder.libraries}:${join(native, 'lib')}`;
  }
}

async function linkElsewhere(links: readonly Link[], libraries: string): Promise<void> {
  // Made anew each time: the package may have moved since.
  await rm(libraries, { recursive: true, force: true });
  await mkdir(libraries);
  // Whatever the process's mask is: the server may run as another account.
  await chmod(libraries, 0o755);
  for (const { path, target } of links) await link(target, join(libraries, basename(path)));
}

/** Several processes may come here at once for the first time; the links they make are the same. */
async function link(target: string, path: string): Promise<void> {
  await symlink(target, path).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
}

async function findMissing(native: string): Promise<Link[]> {
  const missing: Link[] = [];
  for (const entry of await readLinks(native)) {
    if ((await ifPresent(lstat(entry.path))) === undefined) missing.push(entry);
  }
  return missing;
}

/** The list names both ends from the root of the package. */
async function readLinks(native: string): Promise<Link[]> {
  const list: unknown = JSON.parse((await ifPresent(readFile(join(native, 'pg-symlinks.json'), 'utf8'))) ?? '[]');
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: Partial<Record<string, unknown>>) => {
    const { source, target } = Object(entry);
    if (typeof source !== 'string' || typeof target !== 'string') return [];
    return [{ path: resolve(native, '..', target), target: resolve(native, '..', source) }];
  });
}

function notLinkable(native: string, cause: unknown): ExitError {
  return new ExitError(
    EXIT.configuration,
    `The embedded PostgreSQL server lacks links in ${native}, and this user may not write there. Once, as a user ` +
      'who may, run: npm rebuild --ignore-scripts=false',
    cause,
  );
}
