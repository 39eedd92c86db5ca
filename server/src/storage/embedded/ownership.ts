import { chmod, chown, lchown, lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT, ExitError } from '../../kernel/exit.js';
import type { Account } from './account.js';
import { ifPresent } from './error-code.js';

/**
 * Lets the server's account pass through a folder of root's without being able to list or change it: what root writes
 * there must not be replaceable by an unprivileged account.
 */
export async function letAccountThrough(folder: string, account: Account): Promise<void> {
  const { uid, gid, mode } = await stat(folder);
  const isOpen = uid === account.uid || (gid === account.gid && (mode & 0o010) !== 0) || (mode & 0o001) !== 0;
  if (isOpen || account.ids === undefined) return;
  await chown(folder, uid, account.gid);
  await chmod(folder, (mode & 0o700) | 0o010);
}

/** Only root may go on with what is another user's. */
export async function refuseAnothers(path: string): Promise<void> {
  const uid = process.getuid?.();
  const entry = await ifPresent(lstat(path));
  if (uid === 0 || entry === undefined || entry.uid === uid) return;
  throw new ExitError(
    EXIT.configuration,
    `${path} belongs to another user (uid ${entry.uid}). Run Strongroom as that user or as root, or set ` +
      'STRONGROOM_DATA_DIR to a folder of your own.',
  );
}

/** Gives a tree to the account: a cluster that was made in another way of running must open in this one too. */
export async function handOver(path: string, account: Account): Promise<void> {
  const entry = await ifPresent(lstat(path));
  if (entry !== undefined && entry.uid !== account.uid) await changeOwner(path, account);
}

/** The top goes last, so that an interrupted change is seen and done again. */
async function changeOwner(path: string, account: Account): Promise<void> {
  const entry = await lstat(path);
  if (entry.isDirectory()) {
    for (const name of await readdir(path)) await changeOwner(join(path, name), account);
  }
  await lchown(path, account.uid, account.gid);
}
