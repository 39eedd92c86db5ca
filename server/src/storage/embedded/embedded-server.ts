import { findBinaries } from './binaries.js';
import { chooseAccount } from './choose-account.js';
import { prepareCluster } from './cluster.js';
import { type DataFolder, openDataFolder } from './data-folder.js';
import { refuseHolderElsewhere, stopLeftOver } from './left-over.js';
import { acquireLock, type Lock } from './lock.js';
import { refuseAnothers } from './ownership.js';
import { postmasterFilePath } from './postmaster-file.js';
import { launchServer, type ServerProcess } from './server-process.js';
import { DATABASE, EMBEDDED_PORT, OWNER_ROLE, serverSettings } from './server-settings.js';
import { makeSocketFolder, removeSocketFolder, temporaryParent } from './socket-folder.js';

export interface EmbeddedServerOptions {
  /** Made private if it does not exist. */
  readonly dataDir: string;
  /** Folder with `initdb` and `postgres`; the npm package's when left out. */
  readonly binDir?: string;
  /** Named to a second process that is refused, such as `strongroom serve`. */
  readonly command: string;
  /** Gets the server's own log lines, which never hold what a client sent. */
  readonly log: (line: string) => void;
  /** More settings of the server, over the launcher's own. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Where a client reaches the server. */
export interface ServerAddress {
  readonly socketDir: string;
  readonly port: number;
  readonly ownerRole: typeof OWNER_ROLE;
  readonly database: typeof DATABASE;
  readonly pid: number;
}

export interface EmbeddedServer extends ServerAddress {
  /** The listener is told once if the server ends without being stopped, and at once if it already has. */
  readonly onExit: (listener: (reason: string) => void) => void;
  /** Clean and bounded; frees the folder. May be called again. */
  stop(): Promise<void>;
}

/** Starts the server in the data folder, which it makes at the first time. Fails with an ExitError. */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const folder = await openDataFolder(options.dataDir);
  const lock = await acquireLock(folder);
  try {
    return await startLocked(options, folder, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function startLocked(options: EmbeddedServerOptions, folder: DataFolder, lock: Lock): Promise<EmbeddedServer> {
  await refuseAnothers(folder.cluster);
  await refuseHolderElsewhere(folder);
  await lock.announce(options.command);
  const binaries = await findBinaries(folder, options.binDir);
  const account = await chooseAccount(folder, binaries, [temporaryParent(folder) ?? '/']);
  await stopLeftOver(folder);
  await prepareCluster(folder, binaries, account);
  const socketDir = await makeSocketFolder(folder, account);
  const program = {
    path: binaries.postgres,
    args: ['-D', folder.cluster, ...serverSettings(socketDir, options.settings)],
    libraries: binaries.libraries,
    pidFile: postmasterFilePath(folder.cluster),
  };
  const server = await launchServer(account, program, folder.cluster, options.log);
  const free = async () => {
    await removeSocketFolder(folder);
    await lock.release();
  };
  return handleOf(
    server,
    { socketDir, port: EMBEDDED_PORT, ownerRole: OWNER_ROLE, database: DATABASE, pid: server.pid },
    free,
  );
}

function handleOf(server: ServerProcess, address: ServerAddress, free: () => Promise<void>): EmbeddedServer {
  let stopping: Promise<void> | undefined;
  return {
    ...address,
    onExit: (listener) => {
      void server.ended.then((reason) => {
        if (stopping === undefined) listener(reason);
      });
    },
    stop: () => {
      stopping ??= server.stop().then(free);
      return stopping;
    },
  };
}
