import { Secret } from '../kernel/secret.js';
import type { SettingKind, Settings } from '../kernel/setting.js';
import { integerBetween, oneOf, PATH } from '../kernel/setting.js';
import { parseAddress } from './address.js';
import { readTls } from './tls.js';

/** Secret, because it usually holds a password. */
const POSTGRES_URL: SettingKind<Secret<string>> = {
  values: '`postgres://` address',
  parse(text) {
    readTls(parseAddress(text).tls);
    return new Secret(text);
  },
};

export const STORAGE_SETTINGS = {
  dataDir: {
    name: 'STRONGROOM_DATA_DIR',
    kind: PATH,
    default: './.strongroom',
    about: 'Folder of the embedded database and of the local root key',
  },
  databaseUrl: {
    name: 'STRONGROOM_DATABASE_URL',
    kind: POSTGRES_URL,
    default: undefined,
    about: 'PostgreSQL server (15 or newer) to use instead of the embedded one, as the login of the service',
    isSecret: true,
  },
  migrationDatabaseUrl: {
    name: 'STRONGROOM_MIGRATION_DATABASE_URL',
    kind: POSTGRES_URL,
    default: undefined,
    about: 'The same server as the owner of the schema: migrations then run at start',
    isSecret: true,
  },
  databaseListenUrl: {
    name: 'STRONGROOM_DATABASE_LISTEN_URL',
    kind: POSTGRES_URL,
    default: undefined,
    about: 'The same server without PgBouncer in between, for the listener connection; not needed without a pooler',
    isSecret: true,
  },
  databaseReplicaUrl: {
    name: 'STRONGROOM_DATABASE_REPLICA_URL',
    kind: POSTGRES_URL,
    default: undefined,
    about: 'A read replica of the server, for pages of `/logs` and for exports',
    isSecret: true,
  },
  databaseTls: {
    name: 'STRONGROOM_DATABASE_TLS',
    kind: oneOf(['required', 'optional']),
    default: 'required',
    about: '`optional` lets production use a database on another machine without TLS, or without proof of its identity',
  },
  databasePreparedStatements: {
    name: 'STRONGROOM_DATABASE_PREPARED_STATEMENTS',
    kind: oneOf(['on', 'off']),
    default: 'on',
    about: '`off` behind PgBouncer before 1.21: statements then have no names',
  },
  databaseReadConnectionsMax: {
    name: 'STRONGROOM_DATABASE_READ_CONNECTIONS_MAX',
    kind: integerBetween(2, 500),
    default: '8',
    about: 'Connections of one process for reads and background work',
  },
  databaseWriteConnectionsMax: {
    name: 'STRONGROOM_DATABASE_WRITE_CONNECTIONS_MAX',
    kind: integerBetween(1, 32),
    default: '2',
    about: 'Connections of one process for changes; each commits a batch at a time',
  },
  postgresBinDir: {
    name: 'STRONGROOM_POSTGRES_BIN_DIR',
    kind: PATH,
    default: undefined,
    about: 'Folder with `initdb` and `postgres` to use for the embedded server instead of the bundled ones',
  },
} satisfies Settings;
