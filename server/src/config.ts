import { applicationTypeOfKey, isWellFormedApiKey } from './access/api-key.js';
import { waysInTheClear } from './in-the-clear.js';
import { EXIT, ExitError } from './kernel/exit.js';
import { listenHost } from './kernel/listen-host.js';
import { Secret } from './kernel/secret.js';
import { parseTrustedProxies } from './limits/client-address.js';
import { parseAddress } from './storage/address.js';
import { readTls } from './storage/tls.js';

const PREFIX_PATTERN = /^[A-Za-z][A-Za-z0-9]{0,19}$/;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

interface Setting<T> {
  readonly name: string;
  /** As the operator would write it; undefined where there is none. */
  readonly fallback: string | undefined;
  readonly about: string;
  readonly isSecret?: true;
  /** Throws a sentence that says what a good value looks like, never the value. */
  readonly parse: (text: string) => T;
}

function setting<T>(row: Setting<T>): Setting<T> {
  return row;
}

/** Every setting there is: name, default, meaning. The reference page is checked against this table. */
export const SETTINGS = {
  env: setting({
    name: 'STRONGROOM_ENV',
    fallback: 'development',
    about: '`production` turns unsafe settings into errors at start',
    parse: oneOf(['development', 'production']),
  }),
  host: setting({
    name: 'STRONGROOM_HOST',
    fallback: '127.0.0.1',
    about: 'Address the API listens on; `0.0.0.0` for every interface, `::1` or `[::1]` for loopback by IPv6',
    parse: listenHost,
  }),
  port: setting({
    name: 'STRONGROOM_PORT',
    fallback: '8080',
    about: 'Port of the API; 0 picks a free one',
    parse: port,
  }),
  tlsInFront: setting({
    name: 'STRONGROOM_TLS_IN_FRONT',
    fallback: undefined,
    about: '`yes`: a proxy that ends TLS is in front; `no`: plain HTTP is meant. Production beyond loopback needs one',
    parse: oneOf(['yes', 'no']),
  }),
  dataDir: setting({
    name: 'STRONGROOM_DATA_DIR',
    fallback: './.strongroom',
    about: 'Folder of the embedded database and of the local root key',
    parse: (text) => text,
  }),
  databaseUrl: setting({
    name: 'STRONGROOM_DATABASE_URL',
    fallback: undefined,
    about: 'PostgreSQL server (15 or newer) to use instead of the embedded one, as the login of the service',
    isSecret: true,
    parse: postgresUrl,
  }),
  migrationDatabaseUrl: setting({
    name: 'STRONGROOM_MIGRATION_DATABASE_URL',
    fallback: undefined,
    about: 'The same server as the owner of the schema: migrations then run at start',
    isSecret: true,
    parse: postgresUrl,
  }),
  databaseListenUrl: setting({
    name: 'STRONGROOM_DATABASE_LISTEN_URL',
    fallback: undefined,
    about: 'The same server past PgBouncer, for the one connection that listens; not needed without a pooler',
    isSecret: true,
    parse: postgresUrl,
  }),
  databaseReplicaUrl: setting({
    name: 'STRONGROOM_DATABASE_REPLICA_URL',
    fallback: undefined,
    about: 'A read replica of the server, for pages of `/logs` and for exports',
    isSecret: true,
    parse: postgresUrl,
  }),
  databaseTls: setting({
    name: 'STRONGROOM_DATABASE_TLS',
    fallback: 'required',
    about: '`optional` lets production reach a database on another machine without TLS, or without proof of who it is',
    parse: oneOf(['required', 'optional']),
  }),
  databasePreparedStatements: setting({
    name: 'STRONGROOM_DATABASE_PREPARED_STATEMENTS',
    fallback: 'on',
    about: '`off` behind PgBouncer before 1.21: statements then have no names',
    parse: oneOf(['on', 'off']),
  }),
  databaseReadConnectionsMax: setting({
    name: 'STRONGROOM_DATABASE_READ_CONNECTIONS_MAX',
    fallback: '8',
    about: 'Connections of one process for reads and upkeep',
    parse: integerBetween(2, 500),
  }),
  databaseWriteConnectionsMax: setting({
    name: 'STRONGROOM_DATABASE_WRITE_CONNECTIONS_MAX',
    fallback: '2',
    about: 'Connections of one process for changes; each commits a batch at a time',
    parse: integerBetween(1, 32),
  }),
  postgresBinDir: setting({
    name: 'STRONGROOM_POSTGRES_BIN_DIR',
    fallback: undefined,
    about: 'Folder with `initdb` and `postgres` to use for the embedded server instead of the bundled ones',
    parse: (text) => text,
  }),
  rootKey: setting({
    name: 'STRONGROOM_ROOT_KEY',
    fallback: undefined,
    about: 'The root key itself, as `strongroom root-key generate` prints it; while rotating new and old, with a comma',
    isSecret: true,
    parse: (text) => new Secret(text),
  }),
  rootKeyFile: setting({
    name: 'STRONGROOM_ROOT_KEY_FILE',
    fallback: undefined,
    about:
      'File that holds the root key, while rotating new and old, a line each; readable by the service alone (mode 0600)',
    parse: (text) => text,
  }),
  headerPrefixes: setting({
    name: 'STRONGROOM_HEADER_PREFIXES',
    fallback: 'SVC',
    about: 'Accepted prefixes of our header names, for example `SVC,BT`; `SVC` always works',
    parse: headerPrefixes,
  }),
  trustedProxies: setting({
    name: 'STRONGROOM_TRUSTED_PROXIES',
    fallback: '',
    about: 'Addresses and networks whose `X-Forwarded-For` is believed, for example `10.0.0.0/8,loopback`',
    parse: (text) => parseTrustedProxies(listOf(text)),
  }),
  rateLimits: setting({
    name: 'STRONGROOM_RATE_LIMITS',
    fallback: 'on',
    about: '`off` only to measure: it lifts every rate limit',
    parse: oneOf(['on', 'off']),
  }),
  redisUrl: setting({
    name: 'STRONGROOM_REDIS_URL',
    fallback: undefined,
    about: 'Redis server that shares the rate counters of several nodes; without it each node counts for itself',
    isSecret: true,
    parse: redisUrl,
  }),
  redisTls: setting({
    name: 'STRONGROOM_REDIS_TLS',
    fallback: 'required',
    about: '`optional` lets production reach a Redis on another machine without TLS',
    parse: oneOf(['required', 'optional']),
  }),
  audit: setting({
    name: 'STRONGROOM_AUDIT',
    fallback: 'standard',
    about: '`full` also logs reads of management entities and denied requests',
    parse: oneOf(['standard', 'full']),
  }),
  logRetentionMonths: setting({
    name: 'STRONGROOM_LOG_RETENTION_MONTHS',
    fallback: undefined,
    about: 'Whole months the audit log is kept before the one now; older ones are dropped. Without it, for ever',
    parse: integerBetween(1, 1_200),
  }),
  includedMonthlyActiveTokens: setting({
    name: 'STRONGROOM_INCLUDED_MONTHLY_ACTIVE_TOKENS',
    fallback: '1000',
    about: 'Monthly active tokens the plan of a tenant includes, shown in its usage report',
    parse: integerBetween(0, Number.MAX_SAFE_INTEGER),
  }),
  sessionGrants: setting({
    name: 'STRONGROOM_SESSION_GRANTS',
    fallback: 'held',
    about: '`any` lets a session do more than the Application that authorized it; `held` does not',
    parse: oneOf(['held', 'any']),
  }),
  fingerprints: setting({
    name: 'STRONGROOM_FINGERPRINTS',
    fallback: 'revealed',
    about:
      '`masked` shows fingerprints, and finds by them, also where data is masked: whoever can create tokens then finds out masked numbers by comparing; `revealed` only where it is in the clear',
    parse: oneOf(['revealed', 'masked']),
  }),
  searchData: setting({
    name: 'STRONGROOM_SEARCH_DATA',
    fallback: 'masked',
    about:
      '`revealed` lets `data:` in a search find only tokens the caller sees in the clear; `masked` also those it sees masked',
    parse: oneOf(['masked', 'revealed']),
  }),
  tokensPerRequestMax: setting({
    name: 'STRONGROOM_TOKENS_PER_REQUEST_MAX',
    fallback: '100',
    about: 'Tokens one tokenize or detokenize request may be about',
    parse: integerBetween(1, 10_000),
  }),
  bootstrapApiKey: setting({
    name: 'STRONGROOM_BOOTSTRAP_API_KEY',
    fallback: undefined,
    about: 'Key of the first management Application, for scripts; made by `strongroom key generate`',
    isSecret: true,
    parse: bootstrapApiKey,
  }),
  metricsHost: setting({
    name: 'STRONGROOM_METRICS_HOST',
    fallback: '127.0.0.1',
    about: 'Address the metrics listener binds',
    parse: listenHost,
  }),
  metricsPort: setting({
    name: 'STRONGROOM_METRICS_PORT',
    fallback: undefined,
    about: 'Port of the Prometheus metrics; no listener without it',
    parse: port,
  }),
  metricsTls: setting({
    name: 'STRONGROOM_METRICS_TLS',
    fallback: 'required',
    about: '`optional` lets production show metrics beyond loopback, in plain HTTP',
    parse: oneOf(['required', 'optional']),
  }),
  workers: setting({
    name: 'STRONGROOM_WORKERS',
    fallback: '1',
    about: 'API processes on the one port; about one for each core',
    parse: integerBetween(1, 64),
  }),
  requestsInFlightMax: setting({
    name: 'STRONGROOM_REQUESTS_IN_FLIGHT_MAX',
    fallback: '256',
    about: 'Requests one process works on at once; past it the answer is 503 `overloaded`',
    parse: integerBetween(1, 100_000),
  }),
  logLevel: setting({
    name: 'STRONGROOM_LOG_LEVEL',
    fallback: 'info',
    about: `Least severe line that is written: ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}`,
    parse: oneOf(LOG_LEVELS),
  }),
};

type ValueOf<S> = S extends Setting<infer T> ? T : never;
type Optional =
  | 'tlsInFront'
  | 'databaseUrl'
  | 'migrationDatabaseUrl'
  | 'databaseListenUrl'
  | 'databaseReplicaUrl'
  | 'redisUrl'
  | 'logRetentionMonths'
  | 'postgresBinDir'
  | 'rootKey'
  | 'rootKeyFile'
  | 'bootstrapApiKey'
  | 'metricsPort';

export type Config = Readonly<
  { [K in Exclude<keyof typeof SETTINGS, Optional>]: ValueOf<(typeof SETTINGS)[K]> } & {
    [K in Optional]: ValueOf<(typeof SETTINGS)[K]> | undefined;
  }
>;

/** Reads every setting once, or reports every fault at once. Nothing else in the product reads the environment. */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, row] of Object.entries(SETTINGS)) {
    const text = env[row.name] || row.fallback;
    if (text === undefined) continue;
    try {
      values[key] = row.parse(text);
    } catch (error) {
      faults.push(`${row.name} ${error instanceof Error ? error.message : 'is not valid.'}`);
    }
  }
  const config = Object.freeze(values) as Config; // Every key of the table was parsed or is a fault below.
  faults.push(...contradictions(config));
  if (faults.length > 0)
    throw new ExitError(EXIT.configuration, `The settings are not usable:\n  ${faults.join('\n  ')}`);
  return config;
}

/** Names that look like ours but are none: most often a typo. */
export function unknownSettings(env: Readonly<Record<string, string | undefined>> = process.env): string[] {
  const known = new Set(Object.values(SETTINGS).map(({ name }) => name));
  return Object.keys(env).filter((name) => name.startsWith('STRONGROOM_') && !known.has(name));
}

function contradictions(config: Config): string[] {
  const faults: string[] = [];
  if (config.rootKey && config.rootKeyFile) {
    faults.push('STRONGROOM_ROOT_KEY and STRONGROOM_ROOT_KEY_FILE are both set. Keep one.');
  }
  if (config.migrationDatabaseUrl && !config.databaseUrl) {
    faults.push('STRONGROOM_MIGRATION_DATABASE_URL needs STRONGROOM_DATABASE_URL beside it.');
  }
  for (const key of ['databaseListenUrl', 'databaseReplicaUrl'] as const) {
    if (config[key] && !config.databaseUrl)
      faults.push(`${SETTINGS[key].name} needs STRONGROOM_DATABASE_URL beside it.`);
  }
  if (config.env === 'production' && config.rateLimits === 'off') {
    faults.push('STRONGROOM_RATE_LIMITS=off is for measuring. Set it to on in production.');
  }
  if (config.env === 'production') faults.push(...waysInTheClear({ ...config, databases: databasesOf(config) }));
  return faults;
}

function databasesOf(config: Config): Readonly<Record<string, Secret<string> | undefined>> {
  const keys = ['databaseUrl', 'migrationDatabaseUrl', 'databaseListenUrl', 'databaseReplicaUrl'] as const;
  return Object.fromEntries(keys.map((key) => [SETTINGS[key].name, config[key]]));
}

function oneOf<const T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    const word = words.find((candidate) => candidate === text);
    if (word === undefined) throw new Error(`must be one of ${words.join(', ')}.`);
    return word;
  };
}

function integerBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new Error(`must be a whole number from ${min} to ${max}.`);
    return value;
  };
}

function port(text: string): number {
  return integerBetween(0, 65_535)(text);
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function headerPrefixes(text: string): readonly string[] {
  const prefixes = listOf(text).map((prefix) => prefix.toUpperCase());
  if (prefixes.some((prefix) => !PREFIX_PATTERN.test(prefix))) {
    throw new Error('must be names of letters and digits, separated by commas, for example SVC,BT.');
  }
  return [...new Set(['SVC', ...prefixes])];
}

/** Secret, because it usually holds a password. */
function postgresUrl(text: string): Secret<string> {
  readTls(parseAddress(text).tls);
  return new Secret(text);
}

/** Secret, because it usually holds a password. */
function redisUrl(text: string): Secret<string> {
  if (!/^rediss?:\/\//.test(text) || !isReadableUrl(text) || !/^(\/\d*)?$/.test(new URL(text).pathname)) {
    throw new Error('must be an address such as redis://user:password@host:6379, or rediss:// for TLS.');
  }
  return new Secret(text);
}

function isReadableUrl(text: string): boolean {
  try {
    const { username, password, pathname } = new URL(text);
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

function bootstrapApiKey(text: string): Secret<string> {
  if (!isWellFormedApiKey(text) || applicationTypeOfKey(text) !== 'management') {
    throw new Error('must be a well-formed management key. Make one with strongroom key generate.');
  }
  return new Secret(text);
}
