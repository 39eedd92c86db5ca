import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import type { LinkPurpose } from '../people/links/links.js';
import { createLinks } from '../people/links/links.js';
import { makeUser } from '../resources/members/member-fixture.js';
import { makePerson, openBrowser, PASSWORD } from '../resources/portal/portal-fixture.js';
import { urlOf } from '../testing/command-runner.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../testing/test-app.js';
import type { Desk } from './command-cases-fixture.js';
import { runHere, sitDown } from './command-cases-fixture.js';

const LINK = /^http:\/\/localhost:8080\/portal\/(set-up|reset-password)#([0-9A-Za-z]{43})$/;
const LIFE_SECONDS = 72 * 3_600;

describe('strongroom user', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let folder: string;
  let desk: Desk;
  let settings: Record<string, string>;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    settings = { STRONGROOM_DATABASE_URL: urlOf(app.db.target), STRONGROOM_ROOT_KEY: rootKeyOf(app).reveal() };
    folder = await mkdtemp(join(tmpdir(), 'sr-users-'));
    desk = sitDown(folder);
  });
  beforeEach(() => desk.settle(settings));
  after(async () => {
    desk?.leave();
    await rm(folder, { recursive: true, force: true });
    await app.close();
  });

  const newEmail = (): string => `${newId()}@example.com`;
  const secretIn = (link: string, page: string): string => {
    const [, shown, secret = ''] = LINK.exec(link) ?? assert.fail(link);
    assert.equal(shown, page);
    return secret;
  };
  const take = (secret: string, purpose: LinkPurpose) => {
    const links = createLinks({ clock: systemClock, keys: app.keyStore.systemKeys });
    return app.database.people((tx) => links.take(tx, secret, purpose));
  };
  const setUp = (secret: string, email: string) =>
    openBrowser(app).call('POST', '/portal/api/set-up', { secret, email, password: PASSWORD });
  const signIn = async (email: string) =>
    (await openBrowser(app).call('POST', '/portal/api/sign-in', { email, password: PASSWORD })).status;
  const usersWith = async (email: string) =>
    (await app.db.owner.query('SELECT id, first_name, last_name FROM users WHERE email_key = $1', [email])).rows;
  /** Exit 0, and the one line of the security log, which names the user and no secret. */
  async function act(event: string, name: string, ...words: string[]) {
    const { code, stdout, stderr } = await runHere(`user ${name}`, words);
    assert.equal(code, 0, stderr);
    const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
    assert.equal(lines.length, 1, stderr);
    const { stream, event: shown, userId } = JSON.parse(lines[0] ?? '');
    assert.deepEqual([stream, shown], ['security', event]);
    const [, , secret] = LINK.exec(stdout) ?? [];
    assert.ok(!stderr.includes('@') && (secret === undefined || !stderr.includes(secret)), stderr);
    return { stdout, stderr, userId };
  }

  describe('create', () => {
    it('0 and a link on standard output: good once, for a new password alone, and stored as a hash', async () => {
      const email = newEmail();
      const words = ['--email', email, '--first-name', 'Ann', '--last-name', 'Other'];
      const { stdout, stderr, userId } = await act('user_created', 'create', ...words);
      assert.match(stderr, new RegExp(`User ${userId}\\. .*once, for 72 hours`));
      assert.deepEqual(await usersWith(email), [{ id: userId, first_name: 'Ann', last_name: 'Other' }]);
      assert.equal(await signIn(email), 401);
      const secret = secretIn(stdout, 'reset-password');
      const { rows } = await app.db.owner.query(
        `SELECT l::text AS row, extract(epoch FROM expires_at - created_at)::int AS seconds
         FROM user_links l WHERE user_id = $1`,
        [userId],
      );
      assert.deepEqual(
        rows.map(({ seconds }) => seconds),
        [LIFE_SECONDS],
      );
      assert.ok(!rows[0].row.includes(secret) && !rows[0].row.includes(Buffer.from(secret).toString('hex')));
      assert.equal((await setUp(secret, newEmail())).status, 404);
      assert.equal(await take(secret, 'set-up'), undefined);
      assert.equal(await take(secret, 'password-reset'), userId);
      assert.equal(await take(secret, 'password-reset'), undefined);
    });

    it('0 and one JSON object with --json; the link begins with the address that is set', async () => {
      desk.settle({ ...settings, STRONGROOM_PORTAL_URL: 'https://vault.example.com' });
      const { stdout, userId } = await act('user_created', 'create', '--email', newEmail(), '--json');
      const { id, link, ...more } = JSON.parse(stdout);
      assert.deepEqual([id, more], [userId, {}]);
      assert.match(link, /^https:\/\/vault\.example\.com\/portal\/reset-password#[0-9A-Za-z]{43}$/);
    });

    it('64 for an address that another user has in any case, for none, and for names nobody has; nothing is made', async () => {
      const email = newEmail();
      await makeUser(app, email);
      const wrong: Record<string, string[]> = {
        'email: belongs to another user': ['--email', email.toUpperCase()],
        'email: must be an address': ['--email', 'Ann <ann@example.com>'],
        'first-name: must be': ['--email', newEmail(), '--first-name', ' '],
        'last-name: must be': ['--email', newEmail(), '--last-name', 'x'.repeat(201)],
      };
      const count = async () => (await app.db.owner.query('SELECT id FROM users')).rows.length;
      const before = await count();
      for (const [sentence, words] of Object.entries(wrong)) {
        const { code, stdout, stderr } = await runHere('user create', words);
        assert.deepEqual([code, stdout], [64, ''], stderr);
        assert.ok(stderr.includes(sentence), stderr);
      }
      assert.equal(await count(), before);
    });
  });

  describe('list', () => {
    const lineOf = async (id: string): Promise<string> => {
      const { stdout } = await runHere('user list');
      return stdout.split('\n').find((line) => line.startsWith(id)) ?? assert.fail(id);
    };

    it('state, Tenants that live, when it was seen and the address of each user', async () => {
      const { userId, email } = await makePerson(app, tenant.id, 'ADMIN');
      assert.match(await lineOf(userId), new RegExp(`^${userId} {2}active {6}1 Tenant {2}seen 20\\S+ {2}${email}$`));
      assert.match(await lineOf(tenant.ownerId), / no sign-in {2}1 Tenant {2}not signed in {2}\(no address\)$/);
      const gone = await app.makeTenant();
      assert.equal((await app.call('DELETE', '/tenants/self', { key: gone.key })).status, 204);
      assert.match(await lineOf(gone.ownerId), / no sign-in {2}0 Tenants /);
      await runHere('user disable', ['--user', userId]);
      assert.match(await lineOf(userId), / disabled {4}1 Tenant {2}not signed in /);
    });

    it('an address stays one line of plain text', async () => {
      const id = await makeUser(app, 'a\u001b[2J\u202e\nb@example.com');
      assert.ok((await lineOf(id)).endsWith('  a\\u{1b}[2J\\u{202e}\\u{a}b@example.com'));
    });

    it('one JSON object a line with --json, each user once however many there are', async () => {
      await app.db.owner.query(
        `INSERT INTO users (id, email, email_key, created_at)
         SELECT gen_random_uuid(), n || '@many.test', n || '@many.test', now() FROM generate_series(1, 2500) AS n`,
      );
      const { code, stdout } = await runHere('user list', ['--json']);
      assert.equal(code, 0);
      const shown = stdout.split('\n').map((line) => JSON.parse(line));
      const { rows } = await app.db.owner.query('SELECT id FROM users ORDER BY id');
      assert.deepEqual(
        shown.map(({ id }) => id),
        rows.map(({ id }) => id),
      );
      const one = shown.find(({ email }) => email === '17@many.test');
      assert.deepEqual(Object.keys(one), ['id', 'email', 'state', 'tenants', 'created_at']);
      assert.deepEqual([one.state, one.tenants], ['no sign-in', 0]);
    });
  });

  describe('reset-password', () => {
    it('0: the password is dead and every session ends at once, of this user alone; the newest link works once', async () => {
      const person = await makePerson(app, tenant.id, 'ADMIN');
      const neighbour = await makePerson(app, tenant.id, 'ADMIN');
      const first = await act('user_password_reset', 'reset-password', '--user', person.email.toUpperCase());
      assert.equal(first.userId, person.userId);
      assert.equal((await person.browser.call('GET', '/portal/api/me')).status, 401);
      assert.equal(await signIn(person.email), 401);
      assert.equal((await neighbour.browser.call('GET', '/portal/api/me')).status, 200);
      const second = await act('user_password_reset', 'reset-password', '--user', person.userId, '--json');
      const { id, link } = JSON.parse(second.stdout);
      assert.equal(id, person.userId);
      assert.equal(await take(secretIn(first.stdout, 'reset-password'), 'password-reset'), undefined);
      const secret = secretIn(link, 'reset-password');
      assert.equal((await setUp(secret, person.email)).status, 404);
      assert.equal(await take(secret, 'password-reset'), person.userId);
      assert.equal(await take(secret, 'password-reset'), undefined);
    });

    it('an owner without an address gets a link to the set-up, which makes it sign in to its Tenant', async () => {
      const { id, ownerId } = await app.makeTenant();
      const { stdout } = await act('user_password_reset', 'reset-password', '--user', ownerId);
      const email = newEmail();
      const secret = secretIn(stdout, 'set-up');
      const browser = openBrowser(app);
      const body = { secret, email, password: PASSWORD };
      assert.equal((await browser.call('POST', '/portal/api/set-up', body)).status, 200);
      const { json } = await browser.call('GET', '/portal/api/me');
      assert.deepEqual(
        json.memberships.map(({ tenant_id, role }: Record<string, string>) => [tenant_id, role]),
        [[id, 'OWNER']],
      );
      assert.equal((await setUp(secret, newEmail())).status, 404);
    });
  });

  describe('disable and enable', () => {
    it('401 at once for every session and at the sign-in; afterwards 200 at the sign-in, and old sessions stay over', async () => {
      const { userId, email, browser } = await makePerson(app, tenant.id, 'ADMIN');
      const atTenant = { 'SVC-TENANT-ID': tenant.id };
      assert.equal((await browser.call('GET', '/tenants/self', undefined, atTenant)).status, 200);
      await act('user_disabled', 'disable', '--user', email);
      for (const path of ['/portal/api/me', '/tenants/self']) {
        assert.equal((await browser.call('GET', path, undefined, atTenant)).status, 401);
      }
      assert.equal(await signIn(email), 401);
      // As one that a sign-in under way has left.
      await app.db.owner.query(
        `INSERT INTO portal_sessions (id, user_id, hash, mac, signed_in_at, has_second_factor, created_at, seen_at, expires_at)
         VALUES ($1, $2, '\\x01', '\\x01', now(), false, now(), now(), now() + interval '1 day')`,
        [newId(), userId],
      );
      await act('user_enabled', 'enable', '--user', userId.toUpperCase());
      const { rows } = await app.db.owner.query('SELECT id FROM portal_sessions WHERE user_id = $1', [userId]);
      assert.deepEqual(rows, []);
      assert.equal((await browser.call('GET', '/portal/api/me')).status, 401);
      assert.equal(await signIn(email), 200);
    });

    it('404 for links from before, also once the user is enabled again', async () => {
      const { ownerId } = await app.makeTenant();
      const { stdout } = await act('user_password_reset', 'reset-password', '--user', ownerId);
      await act('user_disabled', 'disable', '--user', ownerId);
      await act('user_enabled', 'enable', '--user', ownerId);
      assert.equal((await setUp(secretIn(stdout, 'set-up'), newEmail())).status, 404);
    });

    it('0 and a sentence where nothing was to do', async () => {
      const id = await makeUser(app, newEmail());
      assert.deepEqual(await runHere('user enable', ['--user', id]), {
        code: 0,
        stdout: '',
        stderr: `User ${id} was not disabled.`,
      });
      await act('user_disabled', 'disable', '--user', id);
      assert.match((await runHere('user disable', ['--user', id])).stderr, /was disabled before\.$/);
    });
  });

  it('64 for a user that does not exist, by id or address, and the way to find one', async () => {
    for (const name of ['reset-password', 'disable', 'enable']) {
      for (const nobody of [newId(), newEmail(), 'nobody', '%']) {
        const { code, stdout, stderr } = await runHere(`user ${name}`, ['--user', nobody]);
        assert.deepEqual([code, stdout], [64, ''], stderr);
        assert.match(stderr, /user: is neither the id nor the address of a user; strongroom user list/);
      }
    }
  });
});
