import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './embedded/error-code.js';

/**
 * Makes a folder with those it lies in. Node's own way never ends where a folder that is there takes none, as in /proc: the
 * system then says that the parent is missing, which it is not.
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
