import { chown, lstat, mkdir, mkdtemp, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT, ExitError } from '../../kernel/exit.js';
import type { Account } from './account.js';
import type { DataFolder } from './data-folder.js';
import { ifPresent } from './error-code.js';
import { EMBEDDED_PORT } from './server-settings.js';

/** sun_path holds 108 bytes on Linux and 104 on macOS, and clients differ in what they add. */
const SOCKET_PATH_BYTES_MAX = 100;
const UNIQUE_NAME = 'strongroom-XXXXXX';

/** Folder above the sockets when the data folder's path is too long to hold them. */
export function temporaryParent(folder: DataFolder): string | undefined {
  if (fits(folder.run)) return undefined;
  const parent = [tmpdir(), '/tmp'].find((candidate) => fits(join(candidate, UNIQUE_NAME)));
  if (parent !== undefined) return parent;
  throw new ExitError(
    EXIT.configuration,
    `The path of the data folder ${folder.root} is too long for a unix socket, and so is that of the temporary ` +
      'folder. Set STRONGROOM_DATA_DIR to a folder with a shorter path.',
  );
}

/** Makes an empty private folder. Under a temporary folder its name cannot be guessed and is written down. */
export async function makeSocketFolder(folder: DataFolder, account: Account): Promise<string> {
  await removeSocketFolder(folder);
  const parent = temporaryParent(folder);
  const path = parent === undefined ? folder.run : await mkdtemp(join(parent, 'strongroom-'));
  if (parent === undefined) await mkdir(path, { mode: 0o700 });
  else await writeFile(folder.socketRecord, path, { mode: 0o600 });
  if (account.ids !== undefined) await chown(path, account.uid, account.gid);
  return path;
}

/** Called under the lock, when nothing in there is in use any more. */
export async function removeSocketFolder(folder: DataFolder): Promise<void> {
  await rm(folder.run, { recursive: true, force: true });
  const elsewhere = await ifPresent(readFile(folder.socketRecord, 'utf8'));
  if (elsewhere === undefined) return;
  await removeTemporary(elsewhere).catch(() => {
    // Whatever is there now is not what was made, so it is not ours to remove.
  });
  await rm(folder.socketRecord, { force: true });
}

/** Only what PostgreSQL makes, and never through a link: in a shared folder the name may have changed hands. */
async function removeTemporary(path: string): Promise<void> {
  const entry = await ifPresent(lstat(path));
  if (!entry?.isDirectory()) return;
  await rm(socketPath(path, EMBEDDED_PORT), { force: true });
  await rm(`${socketPath(path, EMBEDDED_PORT)}.lock`, { force: true });
  await rmdir(path);
}

/** Whether a server accepts connections there. */
export function answersOn(socketDir: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath(socketDir, port));
    const answer = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
  });
}

function socketPath(socketDir: string, port: number): string {
  return join(socketDir, `.s.PGSQL.${port}`);
}

function fits(socketDir: string): boolean {
  return Buffer.byteLength(socketPath(socketDir, EMBEDDED_PORT)) <= SOCKET_PATH_BYTES_MAX;
}
