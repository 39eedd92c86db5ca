import { ensureLogPartitionsToStart } from './audit/partitions.js';
import type { Config } from './config.js';
import type { KeyStore, UnboundRootKeySource } from './crypto/key-store.js';
import { openKeyStore } from './crypto/key-store.js';
import type { Clock } from './kernel/clock.js';
import { AppError } from './kernel/errors.js';
import { EXIT, ExitError } from './kernel/exit.js';
import { randomNumberBelow } from './kernel/ids.js';
import type { ConnectionTarget, SocketTarget } from './storage/connection.js';
import type { Database, DatabaseOptions } from './storage/database.js';
import { createDatabase } from './storage/database.js';
import { isNameLost, NAME_LOST_ADVICE } from './storage/faults.js';
import { refuseUnfitLogin } from './storage/login.js';
import { migrate } from './storage/migrate.js';
import type { StorageOptions } from './storage/open-storage.js';
import { openStorage } from './storage/open-storage.js';
import { refuseOldSchema } from './storage/readiness.js';
import type { ReplicaTarget } from './storage/replica.js';

/** What the server and the operator's commands both stand on: a migrated database and its opened keys. */
export interface Core {
  readonly database: Database;
  readonly target: ConnectionTarget;
  readonly keyStore: KeyStore;
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

export interface CoreOptions {
  readonly config: Config;
  readonly clock: Clock;
  /** Named to whoever finds the data folder in use. */
  readonly command: string;
  readonly log: (line: string) => void;
  readonly onLost: (reason: string) => void;
  /** Make database and schema where there are none. Left out by whoever works on what is there. */
  readonly mayCreate?: boolean;
  /** Operator commands work beside a running server. */
  readonly mayJoin?: boolean;
  /** The command is done, and keeps the server it started for others who joined it. */
  readonly onWait?: () => void;
  /** The read replica serves from now on, or is left alone. */
  readonly onReplica?: ReplicaTarget['onChange'];
  /** The embedded server of the process that started this one. */
  readonly beside?: SocketTarget | undefined;
}

/** The process that keeps the others, operator commands beside them, and those PostgreSQL keeps for its owner. */
const CONNECTIONS_OF_COMMANDS = 39;

export async function openCore(options: CoreOptions): Promise<Core> {
  const { config, clock } = options;
  const storage = await openStorage(storageOptions(options));
  let database: Database | undefined;
  try {
    if (storage.migration && !storage.isJoined) {
      await migrate({ ...storage.migration, needsSchema: options.mayCreate !== true, isAtStart: true });
    }
    const { isDistributed } = await refuseUnfitLogin(storage.target);
    database = createDatabase({
      target: storage.target,
      clock,
      ...databaseOptions(config),
      isDistributed,
      replica: replicaOf(options, isDistributed),
    });
    await refuseOldSchema(database);
    const { keyStore, warnings } = await openKeyStore(database, rootKeySource(config));
    await ensureLogPartitionsToStart(database, clock.nowMs());
    const opened = database;
    return {
      database,
      target: storage.target,
      keyStore,
      warnings,
      async close() {
        await opened.close();
        await storage.close();
      },
    };
  } catch (error) {
    await database?.close();
    await storage.close();
    throw asExit(error);
  }
}

const LANE_BASES = 1_024;

/** What the settings say about connections. The lanes begin anywhere, so that processes count in different slots. */
export function databaseOptions(
  config: Config,
): Required<Pick<DatabaseOptions, 'connections' | 'isPrepared' | 'laneBase'>> {
  return {
    connections: { readMax: config.databaseReadConnectionsMax, writeMax: config.databaseWriteConnectionsMax },
    isPrepared: config.databasePreparedStatements === 'on',
    laneBase: randomNumberBelow(LANE_BASES),
  };
}

function replicaOf({ config, onReplica }: CoreOptions, isDistributed: boolean): ReplicaTarget | undefined {
  const url = config.databaseReplicaUrl;
  if (url && isDistributed) {
    throw new ExitError(
      EXIT.configuration,
      'STRONGROOM_DATABASE_REPLICA_URL names a replica, and the tables of this database are spread over servers, of which a ' +
        'replica of one says nothing. Remove the setting.',
    );
  }
  // Any host of it will do: none of them takes changes.
  return url && { target: { url, sessionAttrs: 'any' }, ...(onReplica && { onChange: onReplica }) };
}

/** Where notices of changes are heard: past a proxy that would keep them, if there is one. */
export function listenTarget(config: Config, target: ConnectionTarget): ConnectionTarget {
  return config.databaseListenUrl === undefined ? target : { url: config.databaseListenUrl };
}

export function rootKeySource(config: Config): UnboundRootKeySource {
  return {
    value: config.rootKey,
    file: config.rootKeyFile,
    dataDir: config.dataDir,
    isProduction: config.env === 'production',
  };
}

export function storageOptions(options: CoreOptions): StorageOptions {
  const { config, command, log, onLost, mayCreate = false, mayJoin = false, onWait, beside } = options;
  return {
    dataDir: config.dataDir,
    databaseUrl: config.databaseUrl,
    migrationDatabaseUrl: config.migrationDatabaseUrl,
    postgresBinDir: config.postgresBinDir,
    command,
    log,
    onLost,
    mayCreate,
    mayJoin,
    onWait,
    beside,
    connectionsMax: config.workers * connectionsOfOne(config) + CONNECTIONS_OF_COMMANDS,
  };
}

/** Reads, changes, and the one that listens. */
function connectionsOfOne(config: Config): number {
  return config.databaseReadConnectionsMax + config.databaseWriteConnectionsMax + 1;
}

export function asExit(error: unknown): unknown {
  if (isNameLost(error)) {
    return new ExitError(EXIT.configuration, NAME_LOST_ADVICE, error);
  }
  if (!(error instanceof AppError) || error.code !== 'storage_unavailable') return error;
  return new ExitError(
    EXIT.unavailable,
    'The database does not answer, refuses the login, or takes no changes. Check that it runs and that address, login, password and certificates are right.',
    error,
  );
}
