import { EXIT, ExitError } from '../kernel/exit.js';
import type { Secret } from '../kernel/secret.js';
import { parseAddress } from './address.js';
import type { ConnectionTarget, SocketTarget } from './connection.js';
import { refuseMissingCluster } from './embedded/data-folder.js';
import type { ServerAddress } from './embedded/embedded-server.js';
import { startEmbeddedServer } from './embedded/embedded-server.js';
import { findRunningServer } from './embedded/running-server.js';
import { superviseEmbeddedServer } from './embedded-supervisor.js';
import type { MigrateOptions } from './migrate.js';
import { announcePresence, untilAlone } from './shared-server.js';

export interface StorageOptions {
  readonly dataDir: string;
  readonly databaseUrl: Secret<string> | undefined;
  readonly migrationDatabaseUrl: Secret<string> | undefined;
  readonly postgresBinDir: string | undefined;
  readonly command: string;
  readonly log: (line: string) => void;
  /** The embedded server died and cannot be brought back. */
  readonly onLost: (reason: string) => void;
  /** Make a database where there is none, instead of refusing the folder. */
  readonly mayCreate?: boolean;
  /** Join the server that another process runs on the folder, instead of being refused. */
  readonly mayJoin?: boolean;
  /** A command that started the server is done, and keeps it for others who joined it. */
  readonly onWait?: (() => void) | undefined;
  /** The server that the process which started this one runs: use it, and leave its schema alone. */
  readonly beside?: SocketTarget | undefined;
  /** Connections the embedded server has to hold, if more than usual. */
  readonly connectionsMax?: number;
}

export interface Storage {
  readonly target: ConnectionTarget;
  /** The server belongs to another process, which has brought the schema up to its own release. */
  readonly isJoined: boolean;
  /** How to migrate; undefined where the owner is not known, and the schema must already fit. */
  readonly migration: MigrateOptions | undefined;
  close(): Promise<void>;
}

/** For one process, and commands beside it. */
const CONNECTIONS_LEAST = 50;
/** The login the service uses on the embedded server. */
const EMBEDDED_LOGIN = 'strongroom';

/** A PostgreSQL server by address if one is set, else the embedded one. From here on there is one code path. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  if (options.databaseUrl !== undefined) return byAddress(options.databaseUrl, options.migrationDatabaseUrl);
  if (options.beside !== undefined) {
    return { target: options.beside, isJoined: true, migration: undefined, close: async () => {} };
  }
  if (!options.mayCreate) await refuseMissingCluster(options.dataDir);
  const start = () =>
    startEmbeddedServer({
      dataDir: options.dataDir,
      ...(options.postgresBinDir !== undefined && { binDir: options.postgresBinDir }),
      command: options.command,
      log: options.log,
      settings: { max_connections: String(Math.max(CONNECTIONS_LEAST, options.connectionsMax ?? 0)) },
    });
  try {
    const supervised = await superviseEmbeddedServer({ start, log: options.log, onLost: options.onLost });
    const opened = embedded(supervised.address);
    return {
      ...opened,
      isJoined: false,
      async close() {
        // A service that is told to stop stops; a command has nothing to hurry for.
        if (options.mayJoin) await untilAlone(opened.migration.owner, options.onWait ?? (() => {}));
        await supervised.close();
      },
    };
  } catch (error) {
    const isInUse = error instanceof ExitError && error.exitCode === EXIT.dataFolderInUse;
    const running = isInUse && options.mayJoin ? await findRunningServer(options.dataDir) : null;
    const joined = running && embedded(running);
    const presence = joined && (await announcePresence(joined.migration.owner));
    if (!joined || !presence) throw error;
    return { ...joined, isJoined: true, close: presence.end };
  }
}

interface EmbeddedLogins extends Pick<Storage, 'target'> {
  readonly migration: MigrateOptions & { readonly owner: SocketTarget };
}

function embedded({ socketDir, port, database, ownerRole }: ServerAddress): EmbeddedLogins {
  const address = { socketDir, port, database };
  return {
    target: { ...address, user: EMBEDDED_LOGIN },
    migration: { owner: { ...address, user: ownerRole }, login: EMBEDDED_LOGIN, createLogin: true },
  };
}

function byAddress(url: Secret<string>, ownerUrl: Secret<string> | undefined): Storage {
  const login = parseAddress(url.reveal()).user;
  return {
    target: { url },
    isJoined: false,
    migration: ownerUrl === undefined ? undefined : { owner: { url: ownerUrl }, login, createLogin: false },
    close: async () => {},
  };
}
