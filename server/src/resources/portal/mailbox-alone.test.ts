import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createLinks } from '../../people/links/links.js';
import { SoftwareAuthenticator } from '../../people/passkeys/authenticator-fixture.js';
import type { TestTenant } from '../../testing/test-app.js';
import { makeAdministration } from '../members/member-fixture.js';
import type { MailedApp } from './mailbox-fixture.js';
import { secretIn, startMailedApp } from './mailbox-fixture.js';
import type { Browser } from './portal-fixture.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const DAY_MS = 86_400_000;
const NEW_PASSWORD = 'another horse battery staple 18';

/** What somebody gets, and loses, by the mailbox of a user whose only way in is a passkey. */
describe('the mailbox of a user who has a passkey and no password', () => {
  let mailed: MailedApp;
  let tenant: TestTenant;
  before(async () => {
    mailed = await startMailedApp();
    tenant = await mailed.app.makeTenant('Ours');
  });
  after(() => mailed.close());
  beforeEach(() => mailed.pass(2 * DAY_MS));

  const newDevice = () => new SoftwareAuthenticator(`http://localhost:${mailed.app.port}`);
  const query = (text: string, values: unknown[]) => mailed.app.db.owner.query(text, values);
  const resetBy = (secret: string) =>
    openBrowser(mailed.app).call('POST', '/portal/api/password/reset', { secret, password: NEW_PASSWORD });
  const signInStatus = async (email: string) =>
    (await openBrowser(mailed.app).call('POST', '/portal/api/sign-in', { email, password: NEW_PASSWORD })).status;

  async function personWithPasskey() {
    const person = await makePerson(mailed.app, tenant.id, 'ADMIN');
    const { json } = await person.browser.call('POST', '/portal/api/passkeys/options');
    const body = { name: 'Key', answer: newDevice().create(json) };
    assert.equal((await person.browser.call('POST', '/portal/api/passkeys', body)).status, 200);
    await query('DELETE FROM user_passwords WHERE user_id = $1', [person.userId]);
    return person;
  }

  async function mailedReset(email: string, mails: number): Promise<string> {
    const asked = await openBrowser(mailed.app).call('POST', '/portal/api/password/forgotten', { email });
    assert.equal(asked.status, 202);
    return secretIn(await mailed.mailsTo(email, mails), 'reset-password');
  }

  /** An account that a set-up link made with a passkey: nobody has proven its address. */
  async function setUpWithPasskey(): Promise<{ readonly email: string; readonly browser: Browser }> {
    const { ownerId } = await mailed.app.makeTenant('Neighbour');
    const links = createLinks({ clock: mailed.clock, keys: mailed.app.keyStore.systemKeys });
    const link = await mailed.app.database.people((tx) => links.make(tx, ownerId, 'set-up', DAY_MS));
    const [secret, email, browser] = [link.reveal(), `${randomUUID()}@example.com`, openBrowser(mailed.app)];
    const { json } = await browser.call('POST', '/portal/api/set-up/passkey-options', { secret, email });
    const passkey = { name: 'Key', answer: newDevice().create(json) };
    assert.equal((await browser.call('POST', '/portal/api/set-up', { secret, email, passkey })).status, 200);
    return { email, browser };
  }

  async function invitedBy(email: string): Promise<string> {
    await mailed.app.call('POST', '/tenants/self/invitations', { key: tenant.key, body: { email } });
    return secretIn(await mailed.mailsTo(email, 1), 'invitations/accept');
  }

  it('403 for a first password by the mailed link, and no sign-in: a stolen mailbox is not the account', async () => {
    const { email, browser } = await personWithPasskey();
    const { status, json } = await resetBy(await mailedReset(email, 3));
    assert.deepEqual([status, json.code], [403, 'access_denied']);
    assert.match(json.detail, /passkey/);
    assert.equal(await signInStatus(email), 401);
    assert.equal((await browser.call('GET', '/portal/api/me')).status, 200, 'the session of the user goes on');
  });

  it('204 for a first password by the link of the operator', async () => {
    const { email } = await personWithPasskey();
    const users = makeAdministration(mailed.app, mailed.clock);
    const user = (await users.find(email)) ?? assert.fail();
    const { secret } = await users.resetPassword(user, { withSecondFactors: false });
    assert.equal((await resetBy(secret.reveal())).status, 204);
    assert.equal(await signInStatus(email), 200);
  });

  it('204 for a mailed link to an address that nobody had proven: the passkey may be that of somebody who waits inside', async () => {
    const { email, browser } = await setUpWithPasskey();
    assert.equal((await resetBy(await mailedReset(email, 1))).status, 204);
    assert.equal(await signInStatus(email), 200);
    assert.equal((await browser.call('GET', '/portal/api/me')).status, 401);
  });

  it('403 for a mailed invitation that would remove the last way in; with a password it is accepted', async () => {
    const { email, browser } = await setUpWithPasskey();
    const secret = await invitedBy(email);
    const accept = () => browser.call('POST', '/portal/api/invitations/accept', { secret });
    const refused = await accept();
    assert.deepEqual([refused.status, refused.json.code], [403, 'access_denied']);
    const factors = async () => (await browser.call('GET', '/portal/api/factors')).json;
    assert.equal((await factors()).passkeys.length, 1);
    const given = await browser.call('POST', '/portal/api/password', { new_password: NEW_PASSWORD });
    assert.equal(given.status, 200);
    assert.equal((await accept()).status, 200);
    assert.equal((await factors()).passkeys.length, 0);
    const { session } = (await browser.call('GET', '/portal/api/me')).json;
    assert.equal(session.has_second_factor, false, 'the passkey that opened it is gone');
    assert.equal(await signInStatus(email), 200);
  });

  it('the cookie is a new one after an invitation was accepted and after a Tenant was made: the one before opens nothing', async () => {
    const elsewhere = await mailed.app.makeTenant('Elsewhere');
    const { browser, email } = await makePerson(mailed.app, elsewhere.id, 'READ_ONLY');
    await mailed.app.call('POST', '/tenants/self/invitations', { key: tenant.key, body: { email, role: 'ADMIN' } });
    const secret = secretIn(await mailed.mailsTo(email, 2), 'invitations/accept');
    const { session } = (await browser.call('GET', '/portal/api/me')).json;
    for (const [path, body, status] of [
      ['/portal/api/invitations/accept', { secret }, 200],
      ['/portal/api/tenants', { name: 'Own' }, 201],
    ] as const) {
      const { cookie } = browser;
      assert.equal((await browser.call('POST', path, body)).status, status);
      assert.notEqual(browser.cookie, cookie);
      const old = await openBrowser(mailed.app).call('GET', '/portal/api/me', undefined, { Cookie: cookie });
      assert.equal(old.status, 401, path);
    }
    const after = (await browser.call('GET', '/portal/api/me')).json.session;
    assert.deepEqual([after.signed_in_at, after.expires_at], [session.signed_in_at, session.expires_at]);
    assert.equal((await browser.call('POST', '/portal/api/step-up', { password: PASSWORD })).status, 200);
  });
});
