import { resolve } from 'node:path';
import { EXIT, ExitError } from '../../kernel/exit.js';
import { layOut } from './data-folder.js';
import type { ServerAddress } from './embedded-server.js';
import { errorCode } from './error-code.js';
import { readPostmasterFile } from './postmaster-file.js';
import { DATABASE, OWNER_ROLE } from './server-settings.js';
import { answersOn } from './socket-folder.js';

/** The server that another process runs in this folder, for a command beside it. Null: none takes connections. */
export async function findRunningServer(dataDir: string): Promise<ServerAddress | null> {
  const { cluster } = layOut(resolve(dataDir));
  const file = await readPostmasterFile(cluster).catch((error: unknown) => {
    throw new ExitError(
      EXIT.configuration,
      `The database in ${cluster} cannot be looked at by this user (${errorCode(error) ?? 'unknown fault'}). ` +
        'Run the command as the user who runs Strongroom.',
      error,
    );
  });
  // A crash leaves the file behind, so what it says counts only if somebody answers.
  if (file?.status !== 'ready' || !(await answersOn(file.socketDir, file.port))) return null;
  return { socketDir: file.socketDir, port: file.port, ownerRole: OWNER_ROLE, database: DATABASE, pid: file.pid };
}
