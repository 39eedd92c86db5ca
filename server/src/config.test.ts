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
  databaseTls: 'required',
  databasePreparedStatements: 'on',
  databaseReadConnectionsMax: 8,
  databaseWriteConnectionsMax: 2,
  workers: 1,
  headerPrefixes: ['SVC'],
  trustedProxies: { ranges: [] },
  rateLimits: 'on',
  redisTls: 'required',
  audit: 'standard',
  includedMonthlyActiveTokens: 1000,
  tokensPerRequestMax: 100,
  metricsHost: '127.0.0.1',
  metricsTls: 'required',
  requestsInFlightMax: 256,
  sessionGrants: 'held',
  fingerprints: 'revealed',
  searchData: 'masked',
  searchTriesPerDay: 2_000,
  reactors: 'on',
  reactorInstancesMax: 32,
  reactorInstancesPerTenantMax: 8,
  reactorBlanks: 2,
  reactorJit: 'on',
  reactorModules: {},
  outboundPublic: 'allowed',
  outboundAllow: [],
  outboundDeny: [],
  outboundRequestsMax: 512,
  proxyBodyBytesMax: 5_242_880,
  logLevel: 'info',
};

/** Values that must be refused, by setting. */
const BAD: Readonly<Record<string, readonly string[]>> = {
  STRONGROOM_ENV: ['prod', 'Production', 'production1'],
  STRONGROOM_TLS_IN_FRONT: ['true', 'on', 'Yes'],
  STRONGROOM_DATABASE_TLS: ['off', 'no', 'disable'],
  STRONGROOM_REDIS_TLS: ['off', 'no'],
  STRONGROOM_METRICS_TLS: ['off', 'no'],
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
  STRONGROOM_SEARCH_TRIES_PER_DAY: ['-1', '1.5', 'none'],
  STRONGROOM_INCLUDED_MONTHLY_ACTIVE_TOKENS: ['-1', '1.5', '9007199254740992', 'many'],
  STRONGROOM_BOOTSTRAP_API_KEY: ['key', generateApiKey('public').reveal(), `${generateApiKey('management').reveal()}x`],
  STRONGROOM_REQUESTS_IN_FLIGHT_MAX: ['0', '100001', '-5'],
  STRONGROOM_LOG_LEVEL: ['verbose', 'INFO'],
  STRONGROOM_REACTORS: ['yes', 'Off'],
  STRONGROOM_REACTOR_INSTANCES_MAX: ['0', '1001'],
  STRONGROOM_REACTOR_INSTANCES_PER_TENANT_MAX: ['0', 'x'],
  STRONGROOM_REACTOR_BLANKS: ['-1', '65'],
  STRONGROOM_REACTOR_JIT: ['no', 'OFF'],
  STRONGROOM_REACTOR_MODULES: ['a', '=b'],
  STRONGROOM_OUTBOUND_PUBLIC: ['yes', 'off', 'Allowed'],
  STRONGROOM_OUTBOUND_ALLOW: ['10.0.0.1/8', 'https://x.test/path', 'a.test,*', 'x.test:0', 'ftp://x.test'],
  STRONGROOM_OUTBOUND_DENY: ['user@x.test', '0x7f.1', '[fd12::/8'],
  STRONGROOM_OUTBOUND_TENANTS_FILE: ['/nowhere/tenants.json', '/'],
  STRONGROOM_OUTBOUND_CA_FILE: ['/nowhere/ca.pem', '/dev/null'],
  STRONGROOM_OUTBOUND_REQUESTS_MAX: ['3', '100001', 'many'],
  STRONGROOM_SMTP_URL: ['mail.example.com', 'http://h', 'smtp://h?ignoreTLS=true', 'smtp://user@h', 'smtps://h/path'],
  STRONGROOM_OIDC_ISSUERS_FILE: ['/nowhere/issuers.json', '/dev/null'],
  STRONGROOM_OWNER_EMAIL: ['nobody', 'Owner <owner@example.com>', 'two words@example.com', `${'x'.repeat(330)}@a.test`],
  STRONGROOM_MAIL_FROM: ['nobody', 'Strongroom <a@example.com>', 'a@example.com, b@example.com'],
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

const REMOTE = 'postgres://u:p@db.internal/d';
const WITH_TLS = { STRONGROOM_DATABASE_URL: `${REMOTE}?sslmode=verify-full` };

/** What crosses a network in the clear, and the word that would allow it. The setting that is at fault is the last. */
const IN_THE_CLEAR: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
  ['every interface without TLS in front', { STRONGROOM_HOST: '0.0.0.0' }, 'STRONGROOM_TLS_IN_FRONT=yes'],
  ['an address of a network without TLS in front', { STRONGROOM_HOST: '10.0.0.5' }, 'STRONGROOM_TLS_IN_FRONT=yes'],
  ['every interface, IPv6', { STRONGROOM_HOST: '::' }, 'STRONGROOM_TLS_IN_FRONT=yes'],
  ['a name that resolves to anything', { STRONGROOM_HOST: 'localhost.example' }, 'STRONGROOM_TLS_IN_FRONT=yes'],
  [
    'metrics beyond this machine',
    { STRONGROOM_METRICS_PORT: '9464', STRONGROOM_METRICS_HOST: '0.0.0.0' },
    'STRONGROOM_METRICS_TLS=optional',
  ],
  ['a remote database without TLS', { STRONGROOM_DATABASE_URL: REMOTE }, 'STRONGROOM_DATABASE_TLS=optional'],
  [
    'a remote database that need not prove who it is',
    { STRONGROOM_DATABASE_URL: `${REMOTE}?sslmode=require` },
    'STRONGROOM_DATABASE_TLS=optional',
  ],
  [
    'one remote host of several',
    { STRONGROOM_DATABASE_URL: 'postgres://u@127.0.0.1,10.0.0.1/d' },
    'STRONGROOM_DATABASE_TLS=optional',
  ],
  ...(['MIGRATION_DATABASE_URL', 'DATABASE_LISTEN_URL', 'DATABASE_REPLICA_URL'] as const).map(
    (name) =>
      [
        `a remote ${name}`,
        { ...WITH_TLS, [`STRONGROOM_${name}`]: REMOTE },
        'STRONGROOM_DATABASE_TLS=optional',
      ] as const,
  ),
  ['a remote Redis without TLS', { STRONGROOM_REDIS_URL: 'redis://cache:6379' }, 'STRONGROOM_REDIS_TLS=optional'],
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

  it('78 for an address of the owner without a password file, and the other way round', () => {
    const both = { STRONGROOM_OWNER_EMAIL: 'owner@example.com', STRONGROOM_OWNER_PASSWORD_FILE: '/run/owner.password' };
    for (const [name, value] of Object.entries(both)) {
      const message = faultOf({ [name]: value });
      for (const each of Object.keys(both)) assert.ok(message.includes(each), message);
      assert.ok(!message.includes(value), message);
    }
    assert.equal(readConfig(both).ownerEmail, 'owner@example.com');
  });

  it('78 for an SMTP server without an address that mail comes from', () => {
    const server = { STRONGROOM_SMTP_URL: 'smtps://u:hunter2-hunter2@mail.example.com' };
    assert.match(faultOf(server), /needs STRONGROOM_MAIL_FROM/);
    const config = readConfig({ ...server, STRONGROOM_MAIL_FROM: 'vault@example.com' });
    assert.equal(config.smtpUrl?.reveal(), server.STRONGROOM_SMTP_URL);
    assert.ok(!printed(config).includes('hunter2'));
  });

  it('78 for limits that are off in production; development may measure', () => {
    const off = { STRONGROOM_RATE_LIMITS: 'off' };
    assert.match(faultOf({ ...off, STRONGROOM_ENV: 'production' }), /STRONGROOM_RATE_LIMITS/);
    assert.equal(readConfig(off).rateLimits, 'off');
    assert.equal(readConfig({ STRONGROOM_ENV: 'production' }).env, 'production');
  });

  for (const [circumstance, env, word] of IN_THE_CLEAR) {
    it(`78 for ${circumstance} in production, with what to set; development may, and so may who said so by name`, () => {
      const production = { STRONGROOM_ENV: 'production' };
      const [line = '', ...others] = faultOf({ ...production, ...env })
        .split('\n')
        .slice(1);
      assert.deepEqual(others, []);
      assert.ok(line.includes(word) && line.startsWith(`  ${Object.keys(env).at(-1)} `), line);
      const [name = '', value = ''] = word.split('=');
      assert.equal(readConfig({ ...production, ...env, [name]: value }).env, 'production');
      assert.equal(readConfig(env).env, 'development');
    });
  }

  it('78 for every way in the clear at once, one line each', () => {
    const given = IN_THE_CLEAR.map(([, env]) => env);
    const env = Object.assign({ STRONGROOM_ENV: 'production' }, ...given, { STRONGROOM_DATABASE_URL: REMOTE });
    const lines = faultOf(env).split('\n').slice(1);
    assert.equal(lines.length, new Set(lines).size);
    assert.deepEqual(
      lines.map((line) => /^ {2}(STRONGROOM_[A-Z_]+) /.exec(line)?.[1]).sort(),
      [...new Set(given.map((each) => Object.keys(each).at(-1)))].sort(),
    );
  });

  it('take every spelling of this machine, a socket and TLS in production', () => {
    for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', 'LOCALHOST', '[::1]']) {
      const bare = host.replace(/^\[|\]$/g, '');
      assert.doesNotThrow(() =>
        readConfig({
          STRONGROOM_ENV: 'production',
          STRONGROOM_HOST: bare,
          STRONGROOM_METRICS_HOST: bare,
          STRONGROOM_METRICS_PORT: '1',
          STRONGROOM_DATABASE_URL: `postgres://u@${host}/d`,
          STRONGROOM_REDIS_URL: `redis://${host}`,
        }),
      );
    }
    for (const url of ['postgres://u@h/d?sslmode=verify-full', 'postgres://u@x/d?host=%2Frun%2Fpg']) {
      assert.doesNotThrow(() => readConfig({ STRONGROOM_ENV: 'production', STRONGROOM_DATABASE_URL: url }), url);
    }
    const safe = { STRONGROOM_ENV: 'production', STRONGROOM_REDIS_URL: 'rediss://cache:6380' };
    assert.doesNotThrow(() => readConfig(safe));
    assert.doesNotThrow(() => readConfig({ STRONGROOM_ENV: 'production', STRONGROOM_METRICS_HOST: '0.0.0.0' }));
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
    for (const { name, about, default: preset } of rows) {
      assert.match(name, /^STRONGROOM_[A-Z_]+$/);
      assert.ok(about.length > 10, name);
      if (preset !== undefined) assert.doesNotThrow(() => readConfig({ [name]: preset }), name);
    }
  });
});
