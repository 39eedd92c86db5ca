import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './embedded/error-code.js';

/**
 * Makes a folder with those it lies in. Node's recursive `mkdir` never ends inside a folder that takes no folders, such
 * as /proc: the system reports a missing parent although it exists.
 */
export async function makeFolders(path: string, mode?: number): Promise<void> {
  if (await isMade(path, mode)) return;
  await makeFolders(dirname(path), mode);
  if (!(await isMade(path, mode))) {
    throw Object.assign(new Error(`${path} takes no folder`), { code: 'ENOENT', syscall: 'mkdir' });
  }
}

/** False where the parent is missing. */
async function isMade(path: string, mode: number | undefined): Promise<boolean> {
  try {
    await mkdir(path, { ...(mode !== undefined && { mode }) });
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST' || code === 'EISDIR') return true;
    if (code === 'ENOENT' && dirname(path) !== path) return false;
    throw error;
  }
}
