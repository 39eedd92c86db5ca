// needs: time

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { FIRST_OWNER_ID } from '../../people/first-owner.js';
import { createLinks } from '../../people/links/links.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makeAdministration, makeUser } from '../members/member-fixture.js';
import type { Browser } from './portal-fixture.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const newEmail = () => `${randomUUID()}@corp.example`;

describe('accounts that are made, and what is left of them', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock, env: { STRONGROOM_TRUSTED_PROXIES: 'loopback' } });
    tenant = await app.makeTenant('Ours');
  });
  after(() => app.close());
  beforeEach(() => clock.advance(2 * DAY_MS));

  async function linkOf(ownerId: string): Promise<string> {
    const links = createLinks({ clock, keys: app.keyStore.systemKeys });
    return (await app.database.people((tx) => links.make(tx, ownerId, 'set-up', DAY_MS))).reveal();
  }

  const setUp = (secret: string, email: string, browser = openBrowser(app)) =>
    browser.call('POST', '/portal/api/set-up', { secret, email, password: PASSWORD });

  it('404 and no account where the invitation is deleted while somebody registers', async () => {
    const email = newEmail();
    const invited = await app.call('POST', '/tenants/self/invitations', { key: tenant.key, body: { email } });
    // Whoever invited deletes it right after the account is made.
    await app.db.owner.query(
      `CREATE FUNCTION withdraw() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS
       $$ BEGIN DELETE FROM invitations WHERE email_key = NEW.email_key; RETURN NEW; END $$`,
    );
    await app.db.owner.query('CREATE TRIGGER withdraw AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION withdraw()');
    const body = { secret: invited.json.link.split('#')[1], password: PASSWORD };
    const { status, headers } = await openBrowser(app).call('POST', '/portal/api/invitations/register', body);
    await app.db.owner.query('DROP FUNCTION withdraw() CASCADE');
    assert.deepEqual([status, headers.getSetCookie()], [404, []]);
    const { rows } = await app.db.owner.query('SELECT id FROM users WHERE email = $1', [email]);
    assert.deepEqual(rows, []);
    assert.equal(app.logLines.filter((line) => line.includes('registration_undone')).length, 1);
  });

  it('200 with the link of a set-up that was cut off, and the owner has its Tenant', async () => {
    const older = await app.makeTenant('Older');
    await app.db.owner.query('DELETE FROM members WHERE tenant_id = $1', [older.id]);
    await app.db.owner.query('INSERT INTO users (id, created_at) VALUES ($1, now())', [FIRST_OWNER_ID]);
    await app.db.owner.query('UPDATE tenants SET owner_id = $2 WHERE id = $1', [older.id, FIRST_OWNER_ID]);
    const [secret, email, browser] = [await linkOf(FIRST_OWNER_ID), newEmail(), openBrowser(app)];
    await app.db.owner.query('ALTER TABLE members RENAME TO members_away');
    const cut = await setUp(secret, email);
    await app.db.owner.query('ALTER TABLE members_away RENAME TO members');
    assert.ok(cut.status >= 500, String(cut.status));
    assert.equal((await setUp(secret, email, browser)).status, 200);
    const { json } = await browser.call('GET', '/portal/api/me');
    assert.deepEqual(
      json.memberships.map(({ tenant_id }: { tenant_id: string }) => tenant_id),
      [older.id],
    );
  });

  it('404 for the set-up of an owner who is disabled, 200 once it is enabled', async () => {
    const { ownerId } = await app.makeTenant('Off');
    const users = makeAdministration(app, clock);
    await users.disable(ownerId);
    const owner = (await users.find(ownerId)) ?? assert.fail('no owner');
    const secret = (await users.resetPassword(owner, { withSecondFactors: false })).secret.reveal();
    assert.equal((await setUp(secret, newEmail())).status, 404);
    await users.enable(ownerId);
    assert.equal((await setUp(secret, newEmail())).status, 200);
  });

  it('429 after five addresses that were taken, for a minute, whatever is typed then', async () => {
    const secret = await linkOf((await app.makeTenant('Curious')).ownerId);
    for (let i = 0; i < 5; i += 1) {
      const email = newEmail();
      await makeUser(app, email);
      assert.equal((await setUp(secret, email)).status, 400);
    }
    const refused = await setUp(secret, newEmail());
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '60']);
    clock.advance(MINUTE_MS);
    assert.equal((await setUp(secret, newEmail())).status, 200);
  });

  it('429 after five registrations for an address that has an account', async () => {
    const email = newEmail();
    await makeUser(app, email);
    const { json } = await app.call('POST', '/tenants/self/invitations', { key: tenant.key, body: { email } });
    const body = { secret: json.link.split('#')[1], password: PASSWORD };
    const register = async () => (await openBrowser(app).call('POST', '/portal/api/invitations/register', body)).status;
    const statuses: number[] = [];
    for (let i = 0; i < 6; i += 1) statuses.push(await register());
    assert.deepEqual(statuses, [400, 400, 400, 400, 400, 429]);
  });

  /** Two people with a Tenant of their own each, who ask about addresses by invitations that are shown to them. */
  async function twoCurious() {
    const ask = async () => {
      const { browser } = await makePerson(app, tenant.id, 'READ_ONLY');
      const { json } = await browser.call('POST', '/portal/api/tenants', { name: 'Curious' });
      const as = { 'SVC-TENANT-ID': json.id };
      return async (email: string, from: string) => {
        const invited = await browser.call('POST', '/tenants/self/invitations', { email }, as);
        const body = { secret: invited.json.link.split('#')[1], password: PASSWORD };
        const path = '/portal/api/invitations/register';
        return (await openBrowser(app).call('POST', path, body, { 'X-Forwarded-For': from })).status;
      };
    };
    return [await ask(), await ask()] as const;
  }
  const taken = async () => {
    const email = newEmail();
    await makeUser(app, email);
    return email;
  };
  const TOLD = [...Array.from({ length: 21 }, () => 400), 429, 429, 429];

  it('429 after 21 addresses with an account by invitations of one owner, from wherever; newcomers do not count', async () => {
    const [ask, other] = await twoCurious();
    assert.equal(await ask(newEmail(), '192.0.2.1'), 200);
    const told: number[] = [];
    for (let n = 0; n < TOLD.length; n += 1) told.push(await ask(await taken(), `192.0.2.${n + 1}`));
    assert.deepEqual(told, TOLD);
    assert.equal(await other(await taken(), '192.0.2.99'), 400);
    clock.advance(MINUTE_MS);
    assert.equal(await ask(newEmail(), '192.0.2.1'), 200);
  });

  it('429 after 21 addresses with an account from one client, by whoever’s invitations; newcomers do not count', async () => {
    const both = await twoCurious();
    assert.equal(await both[0](newEmail(), '198.51.100.7'), 200);
    const told: number[] = [];
    for (let n = 0; n < TOLD.length; n += 1) told.push(await both[n % 2 === 0 ? 0 : 1](await taken(), '198.51.100.7'));
    assert.deepEqual(told, TOLD);
    assert.equal(await both[0](await taken(), '198.51.100.8'), 400);
  });

  it('200 for the same link where a registration was cut off before the membership: its account accepts it', async () => {
    const [email, browser] = [newEmail(), openBrowser(app)];
    const { json } = await app.call('POST', '/tenants/self/invitations', { key: tenant.key, body: { email } });
    const secret = json.link.split('#')[1];
    const { owner } = app.db;
    // As if the process had ended there: neither the membership nor the undoing happens.
    await owner.query('ALTER TABLE members RENAME TO members_away');
    await owner.query(
      `CREATE FUNCTION dead() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'killed'; END $$`,
    );
    await owner.query('CREATE TRIGGER dead BEFORE DELETE ON user_passwords FOR EACH ROW EXECUTE FUNCTION dead()');
    const body = { secret, password: PASSWORD };
    const cut = await openBrowser(app).call('POST', '/portal/api/invitations/register', body);
    await owner.query('ALTER TABLE members_away RENAME TO members');
    await owner.query('DROP FUNCTION dead() CASCADE');
    assert.ok(cut.status >= 500);
    assert.equal((await browser.call('POST', '/portal/api/sign-in', { email, password: PASSWORD })).status, 200);
    const other = await app.makeTenant('Another');
    const shown = await app.call('POST', '/tenants/self/invitations', { key: other.key, body: { email } });
    const foreign = { secret: shown.json.link.split('#')[1] };
    assert.equal((await browser.call('POST', '/portal/api/invitations/accept', foreign)).status, 403, 'another link');
    assert.equal((await browser.call('POST', '/portal/api/invitations/accept', { secret })).status, 200);
  });

  it('400 for the 21st Tenant of a user, also when many are asked for at once', async () => {
    const { email } = await makePerson(app, tenant.id, 'READ_ONLY');
    // A session each: one that made a Tenant has another cookie.
    const browsers = Array.from({ length: 22 }, () => openBrowser(app));
    for (const browser of browsers) await browser.call('POST', '/portal/api/sign-in', { email, password: PASSWORD });
    const make = async (browser: Browser) =>
      (await browser.call('POST', '/portal/api/tenants', { name: 'Mine' })).status;
    const statuses = await Promise.all(browsers.map(make));
    assert.equal(statuses.filter((status) => status === 201).length, 20);
    assert.equal(statuses.filter((status) => status === 400).length, 2);
  });

  it('403 for a Tenant of a user whose address is not verified', async () => {
    const browser = openBrowser(app);
    assert.equal((await setUp(await linkOf((await app.makeTenant('New')).ownerId), newEmail(), browser)).status, 200);
    const { status, json } = await browser.call('POST', '/portal/api/tenants', { name: 'Mine' });
    assert.deepEqual([status, json.code], [403, 'access_denied']);
  });
});
