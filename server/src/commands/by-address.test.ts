// needs: PostgreSQL packages

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findProgram, unless } from '@strongroom/test-servers/find.js';
import type { PgBouncer } from '@strongroom/test-servers/pgbouncer.js';
import { startPgBouncer } from '@strongroom/test-servers/pgbouncer.js';
import type { Login, PostgresServer } from '@strongroom/test-servers/postgres.js';
import { startPostgres } from '@strongroom/test-servers/postgres.js';
import { freePort } from '@strongroom/test-servers/programs.js';
import { generateRootKey } from '../crypto/root-key.js';
import { readMigrations } from '../storage/migrations.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const PASSWORDS = /service-word|owner-word/;

interface Ended {
  readonly code: number;
  readonly text: string;
}

/** The command as an operator runs it. No answer of it may show a password. */
async function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('STRONGROOM_'));
  const ended = await new Promise<Ended>((resolve) => {
    execFile(
      process.execPath,
      [MAIN, ...args],
      { env: { ...Object.fromEntries(own), ...env }, timeout: 180_000 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, text: `${stdout}${stderr}` });
      },
    );
  });
  assert.doesNotMatch(ended.text, PASSWORDS);
  return ended;
}

suite('commands on a server by address', () => {
  let server: PostgresServer;
  const rootKey = generateRootKey().reveal();

  before(async () => {
    server = await startPostgres();
  });
  after(() => server?.remove());

  const as = (login: Login): Record<string, string> => ({
    STRONGROOM_DATABASE_URL: server.url(login),
    STRONGROOM_ROOT_KEY: rootKey,
    STRONGROOM_PORT: '0',
  });
  const asOwner = (): Record<string, string> => ({
    ...as('service'),
    STRONGROOM_MIGRATION_DATABASE_URL: server.url('owner'),
  });

  test('78 from migrate without the address of the owner, and from serve on an empty database', async () => {
    for (const command of ['migrate', 'serve']) {
      const { code, text } = await run([command], as('service'));
      assert.equal(code, 78, text);
      assert.match(text, /STRONGROOM_MIGRATION_DATABASE_URL/);
    }
  });

  test('78 from serve on an empty server for a login that could never serve, which is said first', async () => {
    const owner = await run(['serve'], as('owner'));
    assert.equal(owner.code, 78, owner.text);
    assert.match(owner.text, /no Strongroom schema yet, and the role strongroom_owner owns this database/);
    const superuser = await run(['serve'], as('postgres'));
    assert.equal(superuser.code, 78, superuser.text);
    assert.match(superuser.text, /it is a superuser\./);
  });

  test('migrate as the plain login changes nothing and does not succeed', async () => {
    const ended = await run(['migrate'], {
      ...as('service'),
      STRONGROOM_MIGRATION_DATABASE_URL: server.url('service'),
    });
    assert.notEqual(ended.code, 0, ended.text);
    const client = await server.connect();
    const { rows } = await client.query(`SELECT 1 FROM pg_tables WHERE tablename = 'tenants'`);
    await client.end();
    assert.deepEqual(rows, []);
  });

  test('0 from migrate as the owner, twice: everything, then nothing; then the service can start as its login', async () => {
    const first = await run(['migrate'], asOwner());
    assert.equal(first.code, 0, first.text);
    for (const { name } of await readMigrations()) assert.ok(first.text.includes(name), name);
    const again = await run(['migrate'], asOwner());
    assert.equal(again.code, 0, again.text);
    assert.match(again.text, /up to date/);
    const made = await run(['tenant', 'create', '--name', 'By address'], as('service'));
    assert.equal(made.code, 0, made.text);
  });

  test('78 from migrate when the login to admit does not exist, with the statement that makes it', async () => {
    const ended = await run(['migrate'], {
      ...asOwner(),
      STRONGROOM_DATABASE_URL: server.url('service').replace('strongroom:', 'somebody:'),
    });
    assert.equal(ended.code, 78, ended.text);
    assert.match(ended.text, /CREATE ROLE somebody LOGIN NOINHERIT/);
  });

  test('78 from migrate when the owner may not admit the login, with the statement for who may', async () => {
    const superuser = await server.connect();
    try {
      await superuser.query('CREATE ROLE strongroom_stranger LOGIN; ALTER ROLE strongroom_owner NOCREATEROLE');
      await superuser.query(
        'REVOKE strongroom_app, strongroom_system, strongroom_purge, strongroom_people FROM strongroom_owner',
      );
      const ended = await run(['migrate'], {
        ...asOwner(),
        STRONGROOM_DATABASE_URL: server.url('service').replace('strongroom:', 'strongroom_stranger:'),
      });
      assert.equal(ended.code, 78, ended.text);
      assert.match(ended.text, /GRANT strongroom_app, .* TO strongroom_stranger/);
    } finally {
      await superuser.end();
    }
  });

  test('78 with the login of the owner, which could look past the walls', async () => {
    for (const command of ['serve', 'doctor']) {
      const { code, text } = await run([command], as('owner'));
      assert.equal(code, 78, text);
      assert.match(text, /owns the tables/);
    }
  });

  test('78 with the login of a superuser, which could look past the walls', async () => {
    const { code, text } = await run(['doctor'], as('postgres'));
    assert.equal(code, 78, text);
    assert.match(text, /superuser/);
  });

  test('0 from doctor, which names version, host and TLS, and hears notices', async () => {
    const { code, text } = await run(['doctor'], as('service'));
    assert.equal(code, 0, text);
    assert.match(
      text,
      new RegExp(`^ok {7}server: PostgreSQL \\d+\\.\\d+.* at 127\\.0\\.0\\.1:${server.port}, TLS off$`, 'm'),
    );
    assert.match(text, /^ok {7}notices: /m);
  });

  test('0 from doctor with several hosts, with the one that was chosen', async () => {
    const address = server.url('service').replace('@', `@127.0.0.1:${await freePort()},`);
    const { code, text } = await run(['doctor'], { ...as('service'), STRONGROOM_DATABASE_URL: address });
    assert.equal(code, 0, text);
    assert.ok(text.includes(`127.0.0.1:${server.port}, chosen of 2 hosts`), text);
  });

  test('69 from serve when no host answers', async () => {
    const { code, text } = await run(['serve'], {
      ...as('service'),
      STRONGROOM_DATABASE_URL: `postgres://strongroom:service-word@127.0.0.1:${await freePort()},127.0.0.1:1/strongroom`,
    });
    assert.equal(code, 69, text);
  });

  test('doctor warns behind PgBouncer, and hears past it', {
    skip: unless(findProgram('pgbouncer'), 'pgbouncer'),
  }, async () => {
    const bouncer: PgBouncer = await startPgBouncer(server, 3);
    try {
      const env = {
        ...as('service'),
        STRONGROOM_DATABASE_URL: bouncer.url('service'),
        STRONGROOM_DATABASE_PREPARED_STATEMENTS: 'off',
      };
      const deaf = await run(['doctor'], env);
      assert.equal(deaf.code, 0, deaf.text);
      assert.match(deaf.text, /^warning {2}notices: .*STRONGROOM_DATABASE_LISTEN_URL/m);
      const past = await run(['doctor'], { ...env, STRONGROOM_DATABASE_LISTEN_URL: server.url('service') });
      assert.match(past.text, /^ok {7}notices: /m);
    } finally {
      await bouncer.remove();
    }
  });

  test('78 behind a PgBouncer that cannot keep names of statements, with the setting that turns them off', {
    skip: unless(findProgram('pgbouncer'), 'pgbouncer'),
  }, async (context) => {
    const bouncer: PgBouncer = await startPgBouncer(server, 1);
    try {
      const env = { ...as('service'), STRONGROOM_DATABASE_URL: bouncer.url('service') };
      await run(['tenant', 'list'], env);
      if ((await run(['tenant', 'list'], env)).code === 0) return context.skip('this PgBouncer keeps them');
      for (const command of [['doctor'], ['tenant', 'list'], ['serve']]) {
        const { code, text } = await run(command, env);
        assert.equal(code, 78, text);
        assert.match(text, /STRONGROOM_DATABASE_PREPARED_STATEMENTS/);
      }
    } finally {
      await bouncer.remove();
    }
  });
});
