// needs: PostgreSQL packages

import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { give, unprivileged } from '@strongroom/test-servers/account.js';
import { certificatesIn } from '@strongroom/test-servers/certificates.js';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import { systemClock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { eventually } from '../testing/eventually.js';
import { startMigratedServer, urlOn } from '../testing/migrated-server.js';
import { createDatabase } from './database.js';
import { ping } from './readiness.js';

const FIND_VERSIONS = `
  SELECT DISTINCT ssl.version FROM pg_stat_ssl ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'strongroom'`;

suite('TLS to a server by address', () => {
  let folder: string;
  let server: PostgresServer;
  let file: (name: string) => string;

  before(async () => {
    folder = await mkdtemp('/tmp/sr-tls-');
    await chmod(folder, 0o755);
    const certificates = certificatesIn(folder);
    ({ file } = certificates);
    await certificates.makeAuthority('authority');
    await certificates.makeAuthority('stranger');
    // Made out to the name and not to the number: asked for by number it is the wrong one.
    await certificates.makeCertificate('server', 'authority', 'localhost', 'DNS:localhost');
    await certificates.makeCertificate('service', 'authority', 'strongroom', 'DNS:client');
    await chmod(file('server.key'), 0o600);
    await give(file('server.key'), await unprivileged());
    server = await startMigratedServer({
      ssl: 'on',
      ssl_cert_file: file('server.pem'),
      ssl_key_file: file('server.key'),
      ssl_ca_file: file('authority.pem'),
    });
  });
  after(async () => {
    await server?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  /** The version of TLS the server sees, or null. */
  async function versionSeen(host: string, parameters: string): Promise<string | null | undefined> {
    const target = urlOn(server.url('service'), `${host}:${server.port}`, parameters);
    const database = createDatabase({ target, clock: systemClock });
    const superuser = await server.connect();
    try {
      await ping(database);
      let seen: { version: string | null }[] = [];
      await eventually('the connections of the test before are gone', async () => {
        seen = (await superuser.query<{ version: string | null }>(FIND_VERSIONS)).rows;
        return seen.length === 1;
      });
      return seen[0]?.version;
    } finally {
      await superuser.end();
      await database.close();
    }
  }

  async function refusedWith(host: string, parameters: string, reason: RegExp): Promise<void> {
    await assert.rejects(versionSeen(host, parameters), (error) => {
      assert.ok(error instanceof AppError && error.code === 'storage_unavailable', String(error));
      let cause: unknown = error;
      while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause;
      assert.match(String(cause), reason);
      return true;
    });
  }

  test('verify-full speaks TLS to the host the certificate is made out to', async () => {
    const version = await versionSeen('localhost', `?sslmode=verify-full&sslrootcert=${file('authority.pem')}`);
    assert.match(version ?? '', /^TLSv1\.[23]$/);
  });

  test('verify-full refuses another name, verify-ca does not ask for it', async () => {
    const authority = `sslrootcert=${file('authority.pem')}`;
    await refusedWith('127.0.0.1', `?sslmode=verify-full&${authority}`, /IP: 127\.0\.0\.1 is not in the cert|altnames/);
    assert.match((await versionSeen('127.0.0.1', `?sslmode=verify-ca&${authority}`)) ?? '', /^TLS/);
  });

  for (const mode of ['verify-full', 'verify-ca', 'require']) {
    test(`${mode} refuses a certificate of another authority than the one named`, () =>
      refusedWith('localhost', `?sslmode=${mode}&sslrootcert=${file('stranger.pem')}`, /certificate/));
  }

  test('verify-full without a file trusts the public authorities, and so not this one', () =>
    refusedWith('localhost', '?sslmode=verify-full', /certificate/));

  test('require without an authority hides what is said and asks for no proof', async () => {
    assert.match((await versionSeen('127.0.0.1', '?sslmode=require')) ?? '', /^TLS/);
  });

  test('without sslmode, or with disable, the connection is plain', async () => {
    assert.equal(await versionSeen('127.0.0.1', ''), null);
    assert.equal(await versionSeen('127.0.0.1', '?sslmode=disable'), null);
  });

  test('a server that speaks no TLS is refused where TLS is asked for', async () => {
    const superuser = await server.connect();
    try {
      await superuser.query('ALTER SYSTEM SET ssl = off');
      await superuser.query('SELECT pg_reload_conf()');
      await refusedWith('127.0.0.1', '?sslmode=require', /SSL|certificate/);
    } finally {
      await superuser.query('ALTER SYSTEM RESET ssl');
      await superuser.query('SELECT pg_reload_conf()');
      await superuser.end();
    }
  });

  test('a certificate of our own signs in where the server asks for one, and without it the login is refused', async () => {
    const rules = join(server.dataDir, 'pg_hba.conf');
    const before = await readFile(rules, 'utf8');
    const superuser = await server.connect();
    const authority = `?sslmode=verify-full&sslrootcert=${file('authority.pem')}`;
    try {
      await writeFile(rules, `hostssl all strongroom 127.0.0.1/32 cert\n${before}`);
      await superuser.query('SELECT pg_reload_conf()');
      await refusedWith('localhost', authority, /certificate/);
      const own = `&sslcert=${file('service.pem')}&sslkey=${file('service.key')}`;
      assert.match((await versionSeen('localhost', `${authority}${own}`)) ?? '', /^TLS/);
    } finally {
      await writeFile(rules, before);
      await superuser.query('SELECT pg_reload_conf()');
      await superuser.end();
    }
  });
});
