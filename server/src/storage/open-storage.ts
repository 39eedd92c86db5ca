import { EXIT, ExitError } from '../kernel/exit.js';
import type { Secret } from '../kernel/secret.js';
import { parseAddress } from './address.js';
import type { ConnectionTarget } from './connection.js';
import type { ServerAddress } from './embedded/embedded-server.js';
import { startEmbeddedServer } from './embedded/embedded-server.js';
import { findRunningServer } from './embedded/running-server.js';
import { superviseEmbeddedServer } from './embedded-supervisor.js';
import type { MigrateOptions } from './migrate.js';

export interface StorageOptions {
  readonly dataDir: string;
  readonly databaseUrl: Secret<string> | undefined;
  readonly migrationDatabaseUrl: Secret<string> | undefined;
  readonly postgresBinDir: string | undefined;
  readonly command: string;
  readonly log: (line: string) => void;
  /** The embedded server died and cannot be brought back. */
  readonly onLost: (reason: string) => void;
  /** Join the server that another process runs on the folder, instead of being refused. */
  readonly mayJoin?: boolean;
}

export interface Storage {
  readonly target: ConnectionTarget;
  /** The server belongs to another process, which has brought the schema up to its own release. */
  readonly isJoined: boolean;
  /** How to migrate; undefined where the owner is not known, and the schema must already fit. */
  readonly migration: MigrateOptions | undefined;
  close(): Promise<void>;
}

/** The login the service uses on the embedded server. */
const EMBEDDED_LOGIN = 'strongroom';

/** A PostgreSQL server by address if one is set, else the embedded one. From here on there is one code path. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  if (options.databaseUrl !== undefined) return byAddress(options.databaseUrl, options.migrationDatabaseUrl);
  const start = () =>
    startEmbeddedServer({
      dataDir: options.dataDir,
      ...(options.postgresBinDir !== undefined && { binDir: options.postgresBinDir }),
      command: options.command,
      log: options.log,
    });
  try {
    const supervised = await superviseEmbeddedServer({ start, log: options.log, onLost: options.onLost });
    return { ...embedded(supervised.address), isJoined: false, close: supervised.close };
  } catch (error) {
    const isInUse = error instanceof ExitError && error.exitCode === EXIT.dataFolderInUse;
    const running = isInUse && options.mayJoin ? await findRunningServer(options.dataDir) : null;
    if (running === null) throw error;
    return { ...embedded(running), isJoined: true, close: async () => {} };
  }
}

function embedded({ socketDir, port, database, ownerRole }: ServerAddress): Pick<Storage, 'target' | 'migration'> {
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
