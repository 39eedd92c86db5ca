import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { readConfig } from '../config.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { Secret } from '../kernel/secret.js';
import type { Address, SessionAttrs, TlsFiles } from './address.js';
import { hostText, parseAddress, sessionAttrsOf } from './address.js';
import { clientConfig, DEFAULT_TIME_BOUNDS } from './connection.js';
import { createTlsSource } from './tls.js';

interface Seen {
  readonly hosts: readonly string[];
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  readonly attrs?: SessionAttrs;
  readonly tls?: Partial<TlsFiles>;
}

const GOOD: readonly (readonly [string, Seen])[] = [
  ['postgres://u:p@h/d', { hosts: ['h:5432'], user: 'u', password: 'p', database: 'd', attrs: 'any' }],
  ['postgresql://u@h:6543', { hosts: ['h:6543'], user: 'u', database: 'u' }],
  ['postgres://u:p@h1:5432,h2:5433/d', { hosts: ['h1:5432', 'h2:5433'], attrs: 'read-write' }],
  ['postgres://u:p@h1,h2:5433,h3/d', { hosts: ['h1:5432', 'h2:5433', 'h3:5432'] }],
  ['postgres://u@h1,h2/d?target_session_attrs=any', { hosts: ['h1:5432', 'h2:5432'], attrs: 'any' }],
  ['postgres://u@h/d?target_session_attrs=primary', { hosts: ['h:5432'], attrs: 'primary' }],
  ['postgres://u@h/d?target_session_attrs=read-write', { hosts: ['h:5432'], attrs: 'read-write' }],
  ['postgres://u@[::1]:6000,[2001:db8::7]/d', { hosts: ['[::1]:6000', '[2001:db8::7]:5432'] }],
  ['postgres://u@127.0.0.1,db.internal:1/d', { hosts: ['127.0.0.1:5432', 'db.internal:1'] }],
  ['postgres://u@/d?host=/var/run/postgresql', { hosts: ['/var/run/postgresql:5432'] }],
  ['postgres://u@localhost/d?host=%2Ftmp%2Fs&port=6001', { hosts: ['/tmp/s:6001'] }],
  ['postgres://u@localhost:6002/d?host=/tmp/s', { hosts: ['/tmp/s:6002'] }],
  ['postgres://u@%2Frun%2Fpg/d', { hosts: ['/run/pg:5432'] }],
  ['postgres://u@/d?host=a,b&port=1,2', { hosts: ['a:1', 'b:2'] }],
  ['postgres://u@/d?host=a,::1&port=7', { hosts: ['a:7', '[::1]:7'] }],
  [
    'postgres://us%65r:p%40%2F%3A%25@h/my%20db',
    { hosts: ['h:5432'], user: 'user', password: 'p@/:%', database: 'my db' },
  ],
  ['postgres://u:a:b@h/d', { hosts: ['h:5432'], user: 'u', password: 'a:b' }],
  ['postgres://u:a@b#c@h/d', { hosts: ['h:5432'], user: 'u', password: 'a@b#c' }],
  ['postgres://u@h/d?sslmode=disable', { hosts: ['h:5432'], tls: { mode: 'disable' } }],
  ['postgres://u@h/d?sslmode=require', { hosts: ['h:5432'], tls: { mode: 'require' } }],
  [
    'postgres://u@h/d?sslmode=verify-full',
    { hosts: ['h:5432'], tls: { mode: 'verify-full', rootCertFile: undefined } },
  ],
  ['postgres://u@h/d?sslmode=verify-full&sslrootcert=system', { hosts: ['h:5432'], tls: { rootCertFile: undefined } }],
  [
    'postgres://u@h/d?sslmode=verify-ca&sslrootcert=/ca%20x.pem&sslcert=/c.pem&sslkey=/k.pem',
    { hosts: ['h:5432'], tls: { rootCertFile: '/ca x.pem', certFile: '/c.pem', keyFile: '/k.pem' } },
  ],
  ['postgres://u@h/d?application_name=my+app&connect_timeout=10', { hosts: ['h:5432'] }],
];

/** Each holds the word hunter2 somewhere a careless message would repeat it. */
const BAD: readonly (readonly [string, RegExp])[] = [
  ['', /must be an address/],
  ['hunter2', /must be an address/],
  ['mysql://u:hunter2@h/d', /must be an address/],
  ['postgres:u:hunter2@h/d', /must be an address/],
  ['postgres://u:hunter2@h/d e', /must be an address/],
  [`postgres://u:hunter2@h/${'d'.repeat(5_000)}`, /must be an address/],
  ['postgres://:hunter2@h/d', /must name a login/],
  ['postgres://h/hunter2', /must name a login/],
  ['postgres://u:hunter2@/d', /must name a host/],
  ['postgres://u:hunter2@h1,,h2/d', /must name a host/],
  ['postgres://u:hunter2@h1,/d', /must name a host/],
  ['postgres://u:hunter2@h:0/d', /ports/],
  ['postgres://u:hunter2@h:65536/d', /ports/],
  ['postgres://u:hunter2@h:-1/d', /ports/],
  ['postgres://u:hunter2@h:5432x/d', /ports/],
  ['postgres://u:hunter2@h/d?port=1,2', /one port/],
  ['postgres://u:hunter2@::1/d', /brackets/],
  ['postgres://u:hunter2@[::1/d', /brackets/],
  ['postgres://u:hunter2@[nonsense]x/d', /brackets/],
  ['postgres://u:hunter2@h_&h/d', /a name, an IP address/],
  ['postgres://u:hunter2@../d', /a name, an IP address/],
  ['postgres://u:hunter2%@h/d', /percent-encoded/],
  ['postgres://u:hunter2%00@h/d', /percent-encoded/],
  ['postgres://u:hunter2@h/%zz', /percent-encoded/],
  ['postgres://u:pass/hunter2@h/d', /ports|login/],
  ['postgres://u:pass?hunter2@h/d', /percent-encoded/],
  ['postgres://u:x@y?hunter2=z@h/d', /percent-encoded/],
  ['postgres://u:1?hunter2&x=@h/d', /percent-encoded/],
  [`postgres://u@${Array.from({ length: 17 }, (_, i) => `hunter2-${i}`).join(',')}/d`, /at most 16/],
  ['postgres://u:p@h/d?target_session_attrs=hunter2', /target_session_attrs as one of any, read-write, primary/],
  ['postgres://u:p@h/d?target_session_attrs=standby', /target_session_attrs/],
  ['postgres://u:p@h/d?sslmode=hunter2', /sslmode as one of/],
  ['postgres://u:p@h/d?sslmode=prefer', /verify-full/],
  ['postgres://u:p@h/d?sslmode=allow', /verify-full/],
  ['postgres://u:p@h/d?sslmode=no-verify', /sslmode as one of/],
  ['postgres://u:p@h/d?sslmode=verify-ca', /sslrootcert/],
  ['postgres://u:p@h/d?sslmode=require&sslrootcert=system', /sslrootcert/],
  ['postgres://u:p@h/d?sslrootcert=/hunter2', /sslmode/],
  ['postgres://u:p@h/d?sslmode=require&sslcert=/hunter2', /sslcert and sslkey/],
  ['postgres://u:p@h/d?sslmode=require&sslkey=/hunter2', /sslcert and sslkey/],
  ['postgres://u:p@h/d?sslmode=require&sslmode=hunter2', /sslmode twice/],
  ['postgres://u:p@h/d?sslmode', /without a value/],
  ['postgres://u:p@h/d?connect_timeout=hunter2', /whole seconds/],
  ['postgres://u:p@h/d?connect_timeout=-1', /whole seconds/],
  ['postgres://u:p@h/d?options=hunter2', /parameter options/],
  ['postgres://u:p@h/d?password=hunter2', /parameter password/],
  ['postgres://u:p@h/d?user=hunter2', /parameter user/],
  ['postgres://u:p@h/d?statement_timeout=hunter2', /parameter statement_timeout/],
  ['postgres://u:p@h/d?ssl=true', /parameter ssl,/],
  ['postgres://u:p@h/d?hunter2!=1', /a parameter, which is not known/],
];

function refusal(text: string): string {
  try {
    parseAddress(text);
  } catch (error) {
    assert.ok(error instanceof Error);
    return error.message;
  }
  return assert.fail(`accepted: ${text}`);
}

function seenIn(address: Address): Seen {
  return {
    hosts: address.hosts.map((host) => hostText(host)),
    user: address.user,
    ...(address.password && { password: address.password.reveal() }),
    database: address.database,
    attrs: sessionAttrsOf(address),
    tls: address.tls,
  };
}

suite('addresses of PostgreSQL servers', () => {
  for (const [text, expected] of GOOD) {
    test(`read: ${text}`, () => {
      const { tls: seenTls, ...seen } = seenIn(parseAddress(text));
      const { tls = {}, ...others } = expected;
      assert.deepEqual({ ...seen, ...others }, seen);
      assert.deepEqual({ ...seenTls, ...tls }, seenTls);
    });
  }

  for (const [text, reason] of BAD) {
    test(`refused with its reason and without what it holds: ${text.slice(0, 70)}`, () => {
      const message = refusal(text);
      assert.match(message, reason);
      assert.ok(!message.includes('hunter2'), message);
      assert.ok(message.endsWith('.'), message);
    });
  }

  test('the name and the time to connect reach the driver, within the bound of the caller', () => {
    const config = (query: string) =>
      clientConfig({ url: new Secret(`postgres://u:p@h/d${query}`) }, DEFAULT_TIME_BOUNDS);
    assert.equal(config('').application_name, 'strongroom');
    assert.equal(config('?application_name=my%20app').application_name, 'my app');
    assert.equal(config('').connectionTimeoutMillis, 3_000);
    assert.equal(config('?connect_timeout=2').connectionTimeoutMillis, 2_000);
    assert.equal(config('?connect_timeout=60').connectionTimeoutMillis, 3_000);
    assert.equal(config('?connect_timeout=0').connectionTimeoutMillis, 3_000);
    assert.equal(config('').ssl, false);
    assert.equal(config('').connectionString, undefined);
  });

  test('a socket is spoken to without TLS, whatever the address asks of the network', () => {
    const url = new Secret('postgres://u@/d?host=/tmp/s&sslmode=verify-full');
    assert.equal(clientConfig({ url }, DEFAULT_TIME_BOUNDS).ssl, false);
  });

  test('printing what was read shows no password', () => {
    const text = inspect(parseAddress('postgres://u:hunter2@h/d'), { depth: 9 });
    assert.ok(
      !text.includes('hunter2') && !JSON.stringify(parseAddress('postgres://u:hunter2@h/d')).includes('hunter2'),
    );
  });

  test('any text is read or refused with a sentence, and no refusal repeats a password', () => {
    const piece = fc.constantFrom('@', ':', '/', '?', '#', '%', '&', '=', ',', '[', ']', 'h', '5432', '%40', 'sslmode');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(piece, { maxLength: 6 }), (before, behind) => {
        const text = `postgres://u:${before.join('')}hunter2${behind.join('')}@h/d`;
        try {
          parseAddress(text);
        } catch (error) {
          assert.ok(error instanceof Error && /^(must|has|names) /.test(error.message), text);
          assert.ok(!error.message.includes('hunter2'), `${text}: ${error.message}`);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('78 for a certificate that is not there, with the parameter named and its value not', () => {
    for (const parameters of ['sslrootcert=/no/hunter2', 'sslcert=/no/hunter2&sslkey=/no/hunter2']) {
      assert.throws(
        () => readConfig({ STRONGROOM_DATABASE_URL: `postgres://u:p@h/d?sslmode=require&${parameters}` }),
        (error) =>
          error instanceof ExitError &&
          error.exitCode === EXIT.configuration &&
          /STRONGROOM_DATABASE_URL names a file in ssl(rootcert|cert) that cannot be read \(ENOENT\)/.test(
            error.message,
          ) &&
          !error.message.includes('hunter2'),
      );
    }
  });

  test('a renewed certificate is read without a restart, and one that is gone keeps its last', async (t) => {
    const folder = await mkdtemp('/tmp/sr-tls-');
    t.after(() => rm(folder, { recursive: true, force: true }));
    const rootCertFile = join(folder, 'ca.pem');
    await writeFile(rootCertFile, 'first');
    const source = createTlsSource({ mode: 'verify-ca', rootCertFile, certFile: undefined, keyFile: undefined });
    const authority = (): unknown => {
      const options = source();
      return options === false ? undefined : options.ca;
    };
    assert.equal(authority(), 'first');
    await writeFile(rootCertFile, 'second');
    assert.equal(authority(), 'second');
    await rm(rootCertFile);
    assert.equal(authority(), 'second');
  });
});
