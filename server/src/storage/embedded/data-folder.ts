import { access, constants, mkdir, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { EXIT, ExitError } from '../../kernel/exit.js';
import { makeFolders } from '../make-folders.js';
import { errorCode } from './error-code.js';

/** Where everything lies inside the data folder. All paths are absolute and free of symbolic links. */
export interface DataFolder {
  readonly root: string;
  readonly cluster: string;
  readonly run: string;
  readonly libraries: string;
  readonly lockFile: string;
  /** Names the socket folder when that one had to be made elsewhere. */
  readonly socketRecord: string;
}

export function layOut(root: string): DataFolder {
  return {
    root,
    cluster: join(root, 'postgres'),
    run: join(root, 'run'),
    libraries: join(root, 'lib'),
    lockFile: join(root, 'lock.json'),
    socketRecord: join(root, 'socket-folder'),
  };
}

/** Makes the folder private if it is new. Parents get the usual mode: another account may have to pass through them. */
export async function openDataFolder(dataDir: string): Promise<DataFolder> {
  const path = resolve(dataDir);
  try {
    await makeFolders(dirname(path));
    await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    // With the slash a plain file of that name fails too.
    await access(`${path}/`, constants.R_OK | constants.W_OK | constants.X_OK);
    return layOut(await realpath(path));
  } catch (error) {
    throw new ExitError(
      EXIT.configuration,
      `The data folder ${path} cannot be used by this user (${errorCode(error) ?? 'unknown fault'}). ` +
        'Set STRONGROOM_DATA_DIR to a folder that this user may write, or run Strongroom as the user who owns it.',
      error,
    );
  }
}

/** Whether there is a database in the folder; the folder itself need not exist. */
export async function holdsCluster(dataDir: string): Promise<boolean> {
  const { cluster } = layOut(resolve(dataDir));
  return access(join(cluster, 'PG_VERSION')).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ENOENT',
  );
}

/** For commands that need existing data: a mistyped folder must not become an empty database. */
export async function refuseMissingCluster(dataDir: string): Promise<void> {
  if (await holdsCluster(dataDir)) return;
  throw new ExitError(
    EXIT.configuration,
    `There is no database in ${resolve(dataDir)}. Set STRONGROOM_DATA_DIR to the data folder of your installation; ` +
      'for a new one run strongroom serve or strongroom migrate there first. Nothing was made.',
  );
}
