import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { generateApiKey } from './access/api-key.js';
import { readConfig, SETTINGS, unknownSettings } from './config.js';
import { generateRootKey } from './crypto/root-key.js';
import { ExitError } from './kernel/exit.js';

type Env = Record<string, string>;

function faultOf(env: Env): string {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ExitError, String(error));
    assert.equal(error.exitCode, 78);
    return error.message;
  }
  return assert.fail(`accepted: ${JSON.stringify(env)}`);
}

/** However a careless line might show an object. */
function printed(value: unknown): string {
  return `${JSON.stringify(value)} ${inspect(value, { depth: 9 })}`;
}

/** What a fresh installation runs with. */
const DEFAULTS = {
  env: 'development',
  host: '127.0.0.1',
  port: 8080,
  dataDir: './.strongroom',
  databasePreparedStatements: 'on',
  databaseReadConnectionsMax: 8,
  databaseWriteConnectionsMax: 2,
  workers: 1,
  headerPrefixes: ['SVC'],
  trustedProxies: { ranges: [] },
  rateLimits: 'on',
  audit: 'standard',
  includedMonthlyActiveTokens: 1000,
  tokensPerRequestMax: 100,
  metricsHost: '127.0.0.1',
  requestsInFlightMax: 256,
  sessionGrants: 'held',
  fingerprints: 'revealed',
  searchData: 'masked',
  logLevel: 'info',
};

/** Values that must be refused, by setting. */
const BAD: Readonly<Record<string, readonly string[]>> = {
  STRONGROOM_ENV: ['prod', 'Production', 'production1'],
  STRONGROOM_PORT: ['-1', '65536', '1.5', '0x50', ' 80', 'http', '1e3'],
  STRONGROOM_METRICS_PORT: ['-1', '65536', 'x'],
  STRONGROOM_DATABASE_URL: ['localhost', 'mysql://u:p@h/d', 'postgres://[', 'postgres//h/d'],
  STRONGROOM_MIGRATION_DATABASE_URL: ['localhost', 'https://h/d'],
  STRONGROOM_DATABASE_LISTEN_URL: ['localhost', 'https://h/d'],
  STRONGROOM_DATABASE_REPLICA_URL: ['localhost', 'https://h/d'],
  STRONGROOM_DATABASE_PREPARED_STATEMENTS: ['true', 'no'],
  STRONGROOM_DATABASE_READ_CONNECTIONS_MAX: ['0', '1', '501', 'x'],
  STRONGROOM_DATABASE_WRITE_CONNECTIONS_MAX: ['0', '33', 'x'],
  STRONGROOM_REDIS_URL: ['localhost:6379', 'http://h', 'redis://[', 'redis://h/words'],
  STRONGROOM_LOG_RETENTION_MONTHS: ['0', '-1', '1201', 'x'],
  STRONGROOM_WORKERS: ['0', '65', 'auto'],
  STRONGROOM_HEADER_PREFIXES: ['B-T', 'SVC,9X', 'A B', 'X'.repeat(21), 'BT:'],
  STRONGROOM_TRUSTED_PROXIES: ['proxy.test', '10.0.0.0/33', '10.0.0.1/8', 'loopback,nonsense'],
  STRONGROOM_RATE_LIMITS: ['false', 'OFF', '0'],
  STRONGROOM_AUDIT: ['none', 'Full'],
  STRONGROOM_SESSION_GRANTS: ['all', 'Held'],
  STRONGROOM_FINGERPRINTS: ['mask', 'Revealed'],
  STRONGROOM_SEARCH_DATA: ['mask', 'on'],
  STRONGROOM_INCLUDED_MONTHLY_ACTIVE_TOKENS: ['-1', '1.5', '9007199254740992', 'many'],
  STRONGROOM_BOOTSTRAP_API_KEY: ['key', generateApiKey('public').reveal(), `${generateApiKey('management').reveal()}x`],
  STRONGROOM_REQUESTS_IN_FLIGHT_MAX: ['0', '100001', '-5'],
  STRONGROOM_LOG_LEVEL: ['verbose', 'INFO'],
};

const GOOD: readonly (readonly [Env, keyof typeof SETTINGS, unknown])[] = [
  [{ STRONGROOM_ENV: 'production' }, 'env', 'production'],
  [{ STRONGROOM_HOST: '::' }, 'host', '::'],
  [{ STRONGROOM_PORT: '0' }, 'port', 0],
  [{ STRONGROOM_PORT: '65535' }, 'port', 65_535],
  [{ STRONGROOM_DATA_DIR: '/var/lib/strongroom' }, 'dataDir', '/var/lib/strongroom'],
  [{ STRONGROOM_POSTGRES_BIN_DIR: '/usr/lib/postgresql/16/bin' }, 'postgresBinDir', '/usr/lib/postgresql/16/bin'],
  [{ STRONGROOM_ROOT_KEY_FILE: '/etc/root.key' }, 'rootKeyFile', '/etc/root.key'],
  [{ STRONGROOM_HEADER_PREFIXES: 'bt' }, 'headerPrefixes', ['SVC', 'BT']],
  [{ STRONGROOM_HEADER_PREFIXES: 'BT, svc ,Acme,bt,' }, 'headerPrefixes', ['SVC', 'BT', 'ACME']],
  [{ STRONGROOM_RATE_LIMITS: 'off' }, 'rateLimits', 'off'],
  [{ STRONGROOM_AUDIT: 'full' }, 'audit', 'full'],
  [{ STRONGROOM_SESSION_GRANTS: 'any' }, 'sessionGrants', 'any'],
  [{ STRONGROOM_FINGERPRINTS: 'masked' }, 'fingerprints', 'masked'],
  [{ STRONGROOM_SEARCH_DATA: 'revealed' }, 'searchData', 'revealed'],
  [{ STRONGROOM_INCLUDED_MONTHLY_ACTIVE_TOKENS: '0' }, 'includedMonthlyActiveTokens', 0],
  [{ STRONGROOM_METRICS_HOST: '0.0.0.0' }, 'metricsHost', '0.0.0.0'],
  [{ STRONGROOM_METRICS_PORT: '9464' }, 'metricsPort', 9464],
  [{ STRONGROOM_REQUESTS_IN_FLIGHT_MAX: '100000' }, 'requestsInFlightMax', 100_000],
  [{ STRONGROOM_LOG_LEVEL: 'silent' }, 'logLevel', 'silent'],
];

describe('settings', () => {
  it('have these defaults, and no others', () => {
    assert.deepEqual({ ...readConfig({}) }, DEFAULTS);
  });

  it('count as absent when empty', () => {
    const empty = Object.fromEntries(Object.values(SETTINGS).map(({ name }) => [name, '']));
    assert.deepEqual({ ...readConfig(empty) }, DEFAULTS);
  });

  for (const [env, key, expected] of GOOD) {
    it(`take ${JSON.stringify(env)}`, () => {
      assert.deepEqual(readConfig(env)[key], expected);
    });
  }

  it('take networks and words as trusted proxies', () => {
    const { trustedProxies } = readConfig({ STRONGROOM_TRUSTED_PROXIES: '10.0.0.0/8, loopback,2001:db8::/32' });
    assert.equal(trustedProxies.ranges.length, 4);
  });

  for (const [name, values] of Object.entries(BAD)) {
    it(`78 for a bad ${name}: the message names it, says what is right and never repeats the value`, () => {
      for (const value of values) {
        const message = faultOf({ STRONGROOM_DATABASE_URL: 'postgres://u@h/d', [name]: value });
        const [line, ...more] = message.split('\n').filter((text) => text.includes(name));
        assert.deepEqual(more, []);
        assert.match(line ?? '', new RegExp(`^ {2}${name} .{15,}`), value);
        if (value.length > 5) assert.ok(!message.includes(value), message);
      }
    });
  }

  it('78 for a database address whose user cannot be decoded', () => {
    assert.match(faultOf({ STRONGROOM_DATABASE_URL: 'postgres://%zz:pass@127.0.0.1/d' }), /STRONGROOM_DATABASE_URL/);
  });

  it('78 with every fault at once, one line each, contradictions too', () => {
    const bad = Object.fromEntries(Object.entries(BAD).map(([name, [value = '']]) => [name, value]));
    const message = faultOf({ ...bad, STRONGROOM_ROOT_KEY: 'a', STRONGROOM_ROOT_KEY_FILE: 'b' });
    for (const name of [...Object.keys(BAD), 'STRONGROOM_ROOT_KEY_FILE']) assert.ok(message.includes(name), name);
    const lines = message.split('\n').slice(1);
    assert.equal(lines.length, Object.keys(BAD).length + 1);
    assert.ok(lines.every((line) => line.startsWith('  STRONGROOM_')));
  });

  it('78 for a root key given twice, and for a migration address without the one it belongs to', () => {
    assert.match(faultOf({ STRONGROOM_ROOT_KEY: 'a', STRONGROOM_ROOT_KEY_FILE: 'b' }), /both/);
    assert.match(faultOf({ STRONGROOM_MIGRATION_DATABASE_URL: 'postgres://u@h/d' }), /needs STRONGROOM_DATABASE_URL/);
  });

  it('78 for limits that are off in production; development may measure', () => {
    const off = { STRONGROOM_RATE_LIMITS: 'off' };
    assert.match(faultOf({ ...off, STRONGROOM_ENV: 'production' }), /STRONGROOM_RATE_LIMITS/);
    assert.equal(readConfig(off).rateLimits, 'off');
    assert.equal(readConfig({ STRONGROOM_ENV: 'production' }).env, 'production');
  });

  it('are frozen once they are read', () => {
    const config = readConfig({});
    assert.ok(Object.isFrozen(config));
    assert.throws(() => Object.assign(config, { port: 1 }), TypeError);
    assert.equal(config.port, 8080);
  });

  it('show no key when they are printed or serialised, and none in a fault', () => {
    const rootKey = generateRootKey().reveal();
    const apiKey = generateApiKey('management').reveal();
    const env = { STRONGROOM_ROOT_KEY: rootKey, STRONGROOM_BOOTSTRAP_API_KEY: apiKey };
    const config = readConfig(env);
    const texts = [printed(config), String(config.rootKey), faultOf({ ...env, STRONGROOM_PORT: 'x' })];
    for (const text of texts) assert.ok(!text.includes(rootKey) && !text.includes(apiKey), text);
    assert.equal(config.rootKey?.reveal(), rootKey);
    assert.equal(config.bootstrapApiKey?.reveal(), apiKey);
  });

  it('show no password of a database address, in a fault or when they are printed', () => {
    const password = 'hunter2-hunter2';
    assert.ok(!faultOf({ STRONGROOM_DATABASE_URL: `pg://u:${password}@h` }).includes(password));
    const owner = { STRONGROOM_MIGRATION_DATABASE_URL: `postgres://o:${password}@h/d` };
    const text = printed(readConfig({ ...owner, STRONGROOM_DATABASE_URL: `postgres://u:${password}@h/d` }));
    assert.ok(!text.includes(password), text);
  });

  it('name a variable that looks like one of ours and is none', () => {
    const env = { STRONGROOM_PROT: '1', STRONGROOM_PORT: '1', PATH: '/bin', strongroom_port: '1' };
    assert.deepEqual(unknownSettings(env), ['STRONGROOM_PROT']);
  });

  it('each have one name, a meaning and a default that is good', () => {
    const rows = Object.values(SETTINGS);
    assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
    for (const { name, about, fallback } of rows) {
      assert.match(name, /^STRONGROOM_[A-Z_]+$/);
      assert.ok(about.length > 10, name);
      if (fallback !== undefined) assert.doesNotThrow(() => readConfig({ [name]: fallback }), name);
    }
  });
});
