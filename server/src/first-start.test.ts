// needs: time

import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { readConfig } from './config.js';
import type { Beginning } from './first-start.js';
import { beginInstallation } from './first-start.js';
import { EXIT, ExitError } from './kernel/exit.js';
import { FIRST_OWNER_ID } from './people/first-owner.js';
import { createLinks } from './people/links/links.js';
import { makeUser } from './resources/members/member-fixture.js';
import { openBrowser, PASSWORD } from './resources/portal/portal-fixture.js';
import { createProcessLog } from './telemetry/process-log.js';
import type { FakeClock } from './testing/fake-clock.js';
import { createFakeClock } from './testing/fake-clock.js';
import type { TestApp } from './testing/test-app.js';
import { startTestApp, TEST_PASSWORD_COST } from './testing/test-app.js';

const HOUR_MS = 3_600_000;
const SET_UP = '/portal/api/set-up';
const EMAIL = 'owner@example.com';
const DEAD = 404;

describe('the sign-in of the first owner', () => {
  let clock: FakeClock;
  let app: TestApp;
  let folder: string;
  let passwordFile: string;
  /** What the starts of a test wrote to their log. */
  const logged: string[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sr-first-'));
    passwordFile = join(folder, 'password');
  });
  after(() => rm(folder, { recursive: true, force: true }));
  beforeEach(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock });
    logged.length = 0;
    await writeFile(passwordFile, `${PASSWORD}\n`, { mode: 0o600 });
    await chmod(passwordFile, 0o600);
  });
  afterEach(() => app.close());

  /** What every start does once it listens. */
  const start = (env: Record<string, string> = {}): Promise<Beginning> =>
    beginInstallation({
      core: app,
      clock,
      log: createProcessLog({ level: 'trace', destination: { write: (line) => void logged.push(line) } }),
      config: readConfig(env),
      port: app.port,
      passwordCost: TEST_PASSWORD_COST,
    });
  const byFile = (env: Record<string, string> = {}): Record<string, string> => ({
    STRONGROOM_OWNER_EMAIL: EMAIL,
    STRONGROOM_OWNER_PASSWORD_FILE: passwordFile,
    ...env,
  });
  const assertNothingNew = ({ tenant, setUpLink }: Beginning): void =>
    assert.deepEqual([tenant, setUpLink], [undefined, undefined]);
  const linkOf = ({ setUpLink }: Beginning): string => setUpLink?.reveal() ?? assert.fail('there is a link');
  const secretOf = (beginning: Beginning): string => new URL(linkOf(beginning)).hash.slice(1);
  const setUp = (secret: string, email = EMAIL) =>
    openBrowser(app).call('POST', SET_UP, { secret, email, password: PASSWORD });
  const signIn = async (email = EMAIL, password = PASSWORD) =>
    (await openBrowser(app).call('POST', '/portal/api/sign-in', { email, password })).status;
  /** The rows of a table as text, in which bytes are hex digits. */
  const rowsOf = async (table: string): Promise<string> => {
    const { rows } = await app.db.owner.query(`SELECT t::text AS row FROM ${table} t`);
    assert.ok(rows.length > 0, `${table} has rows`);
    return rows.map(({ row }) => row).join('\n');
  };
  const holds = (text: string, secret: string): boolean =>
    text.includes(secret) || text.includes(Buffer.from(secret).toString('hex'));
  async function refusal(env: Record<string, string>): Promise<string> {
    const error = await start(env).then(
      () => assert.fail('it started'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof ExitError, String(error));
    assert.equal(error.exitCode, EXIT.configuration);
    return error.message;
  }

  it('the link leads to this machine by name, or to the address that is set; its secret is in the fragment alone', async () => {
    const beginning = await start();
    assert.match(linkOf(beginning), new RegExp(`^http://localhost:${app.port}/portal/set-up#[0-9A-Za-z]{43}$`));
    assert.ok(beginning.tenant);
    const elsewhere = linkOf(await start({ STRONGROOM_PORTAL_URL: 'https://vault.example.com' }));
    assert.match(elsewhere, /^https:\/\/vault\.example\.com\/portal\/set-up#[0-9A-Za-z]{43}$/);
  });

  it('200 for the link: the owner is signed in, is OWNER of the first Tenant, and later starts make no link', async () => {
    const beginning = await start();
    const browser = openBrowser(app);
    const body = { secret: secretOf(beginning), email: EMAIL, password: PASSWORD };
    assert.equal((await browser.call('POST', SET_UP, body)).status, 200);
    const { json } = await browser.call('GET', '/portal/api/me');
    assert.equal(json.user.id, FIRST_OWNER_ID);
    assert.deepEqual(json.memberships, [
      { tenant_id: beginning.tenant?.tenantId, name: 'First tenant', role: 'OWNER' },
    ]);
    assertNothingNew(await start());
    assertNothingNew(await start(byFile({ STRONGROOM_OWNER_EMAIL: 'other@example.com' })));
    assert.equal(await signIn(), 200);
  });

  it('404 for a link that was used, and for that of an earlier start; the newest works', async () => {
    const first = secretOf(await start());
    const second = secretOf(await start());
    assert.notEqual(first, second);
    assert.equal((await setUp(first)).status, DEAD);
    assert.equal((await setUp(second)).status, 200);
    assert.equal((await setUp(second, 'thief@example.com')).status, DEAD);
    assert.equal(await signIn(), 200);
  });

  it('of several starts at once one link is left, and it works', async () => {
    const secrets = (await Promise.all([start(), start(), start(), start()])).map(secretOf);
    const { rows } = await app.db.owner.query('SELECT count(*)::int AS count FROM user_links');
    assert.deepEqual(rows, [{ count: 1 }]);
    const statuses = [];
    for (const secret of secrets) statuses.push((await setUp(secret)).status);
    assert.deepEqual(statuses.sort(), [200, DEAD, DEAD, DEAD]);
  });

  it('404 after 72 hours, and 200 just before', async () => {
    const old = secretOf(await start());
    clock.advance(72 * HOUR_MS);
    assert.equal((await setUp(old)).status, DEAD);
    const fresh = secretOf(await start());
    clock.advance(72 * HOUR_MS - 1);
    assert.equal((await setUp(fresh)).status, 200);
  });

  it('404 for a link of another purpose, and nothing changes', async () => {
    await start();
    const links = createLinks({ clock, keys: app.keyStore.systemKeys });
    const secret = await app.database.people((tx) => links.make(tx, FIRST_OWNER_ID, 'password-reset', HOUR_MS));
    assert.equal((await setUp(secret.reveal())).status, DEAD);
    assert.ok((await start()).setUpLink, 'the owner still waits');
  });

  it('the secret is stored as a hash alone and stands in no line of the log', async () => {
    const beginning = await start();
    const secret = secretOf(beginning);
    assert.equal(holds(await rowsOf('user_links'), secret), false);
    assert.equal((await setUp(secret)).status, 200);
    await start();
    const lines = [...logged, ...app.logLines].join('');
    assert.ok(lines.includes('"set_up"'), 'the set-up has its line');
    assert.equal(holds(lines, secret), false);
    assert.ok(!JSON.stringify(beginning).includes(secret), 'whoever prints the record prints no secret');
  });

  it('no link for an owner whom the operator disabled', async () => {
    await start();
    await app.db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [FIRST_OWNER_ID]);
    assert.equal((await start()).setUpLink, undefined);
    assert.equal((await start(byFile())).setUpLink, undefined);
    assert.equal(await signIn(), 401);
  });

  it('an owner who was set up while a start looks gets no link that would take the account over', async () => {
    const secret = secretOf(await start());
    const [{ status }] = await Promise.all([setUp(secret), start(), start()]);
    const beginning = await start();
    const { rows } = await app.db.owner.query('SELECT purpose FROM user_links');
    // Either the links of the starts replaced the one that was sent, or none was made any more.
    assert.deepEqual(
      [status, beginning.setUpLink === undefined, rows.length],
      status === 200 ? [200, true, 0] : [DEAD, false, 1],
    );
  });

  describe('by settings', () => {
    it('200 at the sign-in after the first start, as OWNER of the first Tenant; no link is made', async () => {
      const { tenant, setUpLink } = await start(byFile());
      assert.ok(tenant);
      assert.equal(setUpLink, undefined);
      const browser = openBrowser(app);
      const entered = await browser.call('POST', '/portal/api/sign-in', { email: EMAIL, password: PASSWORD });
      assert.equal(entered.status, 200);
      const { json } = await browser.call('GET', '/tenants/self/members', undefined, {
        'SVC-TENANT-ID': tenant.tenantId,
      });
      assert.deepEqual(
        json.data.map(({ role, user }: { role: string; user: { email: string } }) => [role, user.email]),
        [['OWNER', EMAIL]],
      );
    });

    it('a later start sets up an owner who still waits, and links of before are dead', async () => {
      const secret = secretOf(await start());
      assertNothingNew(await start(byFile()));
      assert.equal((await setUp(secret, 'thief@example.com')).status, DEAD);
      assert.equal(await signIn(), 200);
    });

    it('an owner of a Tenant from before there were members becomes one', async () => {
      const { tenant } = await start();
      await app.db.owner.query('DELETE FROM members');
      await start(byFile());
      const { rows } = await app.db.owner.query('SELECT tenant_id, user_id, role FROM members');
      assert.deepEqual(rows, [{ tenant_id: tenant?.tenantId, user_id: FIRST_OWNER_ID, role: 'OWNER' }]);
    });

    it('changed settings do nothing later, nor does a file that is gone or weak', async () => {
      await start(byFile());
      await writeFile(passwordFile, 'short');
      await start(byFile({ STRONGROOM_OWNER_EMAIL: 'other@example.com' }));
      await start(byFile({ STRONGROOM_OWNER_PASSWORD_FILE: join(folder, 'gone') }));
      assert.deepEqual([await signIn(), await signIn('other@example.com')], [200, 401]);
    });

    it('78 for a weak password, before a Tenant and its key are made, and the password is not repeated', async () => {
      for (const weak of ['hunter2', 'passwordpassword', 'owner-and-more-of-it', '']) {
        await writeFile(passwordFile, weak);
        const message = await refusal(byFile());
        assert.match(message, /STRONGROOM_OWNER_PASSWORD_FILE .*(Must|Is a common)/);
        if (weak !== '') assert.ok(!message.includes(weak), message);
      }
      assert.deepEqual((await app.db.owner.query('SELECT id FROM users')).rows, []);
    });

    it('78 for a file that is missing, a folder or too large, which is named', async () => {
      const large = join(folder, 'large');
      await writeFile(large, 'x'.repeat(4_097), { mode: 0o600 });
      for (const path of [join(folder, 'missing'), folder, large]) {
        const message = await refusal(byFile({ STRONGROOM_OWNER_PASSWORD_FILE: path }));
        assert.ok(message.startsWith(`STRONGROOM_OWNER_PASSWORD_FILE names ${path}, which `), message);
      }
    });

    it('78 in production for a file that is open to others; elsewhere a warning', async () => {
      await chmod(passwordFile, 0o644);
      assert.match(await refusal(byFile({ STRONGROOM_ENV: 'production' })), /chmod 600/);
      await start(byFile());
      assert.match(logged.join(''), /"level":"warn".*open to other users/);
      assert.equal(await signIn(), 200);
    });

    it('78 for the address of another user', async () => {
      await start();
      await makeUser(app, EMAIL.toUpperCase());
      assert.match(await refusal(byFile()), /STRONGROOM_OWNER_EMAIL is the address of another user/);
    });

    it('the password is in no line of the log, and stored as a hash alone', async () => {
      await start(byFile());
      assert.equal(await signIn(), 200);
      const everything = [...logged, ...app.logLines, await rowsOf('users'), await rowsOf('user_passwords')].join('');
      assert.ok(everything.includes('"set_up"'));
      assert.equal(holds(everything, PASSWORD), false);
    });
  });
});
