import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Clock } from '../../kernel/clock.js';
import { createLinks } from '../../people/links/links.js';
import { SoftwareAuthenticator } from '../../people/passkeys/authenticator-fixture.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makeAdministration } from '../members/member-fixture.js';
import type { MailedApp } from './mailbox-fixture.js';
import { secretIn, startMailedApp } from './mailbox-fixture.js';
import type { Browser } from './portal-fixture.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const DAY_MS = 86_400_000;
const THEIRS = 'somebody else chose this 1';
const newEmail = () => `${randomUUID()}@corp.example`;
type Device = SoftwareAuthenticator;

async function setUp(app: TestApp, clock: Clock, browser: Browser, email: string): Promise<void> {
  const { ownerId } = await app.makeTenant('Neighbour');
  const links = createLinks({ clock, keys: app.keyStore.systemKeys });
  const link = await app.database.people((tx) => links.make(tx, ownerId, 'set-up', DAY_MS));
  const body = { secret: link.reveal(), email, password: THEIRS };
  assert.equal((await browser.call('POST', '/portal/api/set-up', body)).status, 200);
}

const newDevice = (app: TestApp): Device => new SoftwareAuthenticator(`http://localhost:${new URL(app.baseUrl).port}`);

async function addPasskey(app: TestApp, browser: Browser): Promise<Device> {
  const device = newDevice(app);
  const { json } = await browser.call('POST', '/portal/api/passkeys/options');
  const answer = device.create(json);
  assert.equal((await browser.call('POST', '/portal/api/passkeys', { name: 'key', answer })).status, 200);
  return device;
}

async function signInWith(app: TestApp, device: Device): Promise<number> {
  const browser = openBrowser(app);
  const { json } = await browser.call('POST', '/portal/api/sign-in/passkey/options');
  return (await browser.call('POST', '/portal/api/sign-in/passkey', { answer: device.get(json) })).status;
}

async function isVerified(app: TestApp, email: string): Promise<boolean> {
  const { rows } = await app.db.owner.query('SELECT email_verified_at FROM users WHERE email = $1', [email]);
  assert.equal(rows.length, 1);
  return rows[0].email_verified_at !== null;
}

const linesOf = (app: TestApp, event: string) => app.logLines.filter((line) => line.includes(`"event":"${event}"`));

describe('an address that nobody has proven, with mail', () => {
  let mailed: MailedApp;
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    mailed = await startMailedApp();
    app = mailed.app;
    tenant = await app.makeTenant('Ours');
  });
  after(() => mailed.close());
  beforeEach(() => mailed.pass(2 * DAY_MS));

  async function invite(email: string): Promise<void> {
    const { status } = await app.call('POST', '/tenants/self/invitations', { key: tenant.key, body: { email } });
    assert.equal(status, 201);
  }

  it('401 for what was added to the account before its mailbox reset the password; the mailbox is told', async () => {
    const [email, thief] = [newEmail(), openBrowser(app)];
    await setUp(app, mailed.clock, thief, email);
    const device = await addPasskey(app, thief);
    assert.equal(await isVerified(app, email), false);
    const holder = openBrowser(app);
    await holder.call('POST', '/portal/api/password/forgotten', { email });
    const secret = secretIn(await mailed.mailsTo(email, 2), 'reset-password');
    assert.equal((await holder.call('POST', '/portal/api/password/reset', { secret, password: PASSWORD })).status, 204);
    assert.equal((await holder.call('POST', '/portal/api/sign-in', { email, password: PASSWORD })).status, 200);
    assert.equal(await signInWith(app, device), 401);
    assert.equal((await thief.call('GET', '/portal/api/me')).status, 401);
    assert.equal(await isVerified(app, email), true);
    const mails = await mailed.mailsTo(email, 5);
    assert.equal(mails.filter((text) => /proven for the first time/.test(text)).length, 1);
    assert.equal(linesOf(app, 'credentials_dropped').length, 1);
  });

  it('200 for a passkey of a user whose address was proven, after a reset by mail', async () => {
    const { email, browser } = await makePerson(app, tenant.id, 'ADMIN');
    const device = await addPasskey(app, browser);
    await openBrowser(app).call('POST', '/portal/api/password/forgotten', { email });
    const secret = secretIn(await mailed.mailsTo(email, 3), 'reset-password');
    const body = { secret, password: THEIRS };
    assert.equal((await openBrowser(app).call('POST', '/portal/api/password/reset', body)).status, 204);
    assert.equal(await signInWith(app, device), 200);
  });

  it('200 for an invitation that was mailed: it proves the address, and other ways into the account are gone', async () => {
    const [email, mine] = [newEmail(), openBrowser(app)];
    await setUp(app, mailed.clock, mine, email);
    const device = await addPasskey(app, mine);
    const other = openBrowser(app);
    assert.equal((await other.call('POST', '/portal/api/sign-in', { email, password: THEIRS })).status, 200);
    await invite(email);
    const secret = secretIn(await mailed.mailsTo(email, 3), 'invitations/accept');
    assert.equal((await mine.call('POST', '/portal/api/invitations/accept', { secret })).status, 200);
    assert.equal(await isVerified(app, email), true);
    assert.equal((await other.call('GET', '/portal/api/me')).status, 401);
    assert.equal(await signInWith(app, device), 401);
    assert.equal((await mine.call('GET', '/portal/api/me')).status, 200);
    assert.equal((await other.call('POST', '/portal/api/sign-in', { email, password: THEIRS })).status, 200);
  });

  it('verified: a newcomer by a mailed invitation, and an address that was changed by mail', async () => {
    const [email, browser] = [newEmail(), openBrowser(app)];
    await invite(email);
    const secret = secretIn(await mailed.mailsTo(email, 1), 'invitations/accept');
    const body = { secret, password: PASSWORD };
    assert.equal((await browser.call('POST', '/portal/api/invitations/register', body)).status, 200);
    assert.equal(await isVerified(app, email), true);
    const next = newEmail();
    assert.equal((await browser.call('POST', '/portal/api/email', { email: next })).status, 202);
    for (const mails of [await mailed.mailsTo(email, 2), await mailed.mailsTo(next, 1)]) {
      await browser.call('POST', '/portal/api/email/confirm', { secret: secretIn(mails, 'confirm-email') });
    }
    assert.equal(await isVerified(app, next), true);
  });
});

describe('an address that nobody has proven, without mail', () => {
  const clock = createFakeClock(Date.now());
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp({ clock });
    tenant = await app.makeTenant('Ours');
  });
  after(() => app.close());

  async function invite(email: string, { key } = tenant): Promise<string> {
    const { json } = await app.call('POST', '/tenants/self/invitations', { key, body: { email, role: 'ADMIN' } });
    return json.link.split('#')[1];
  }

  it('403 at the next invitation of who registered by a link that was shown; the operator vouches', async () => {
    const [email, thief] = [newEmail(), openBrowser(app)];
    const shown = await invite(email, await app.makeTenant('Evil'));
    const { json: options } = await thief.call('POST', '/portal/api/invitations/passkey-options', { secret: shown });
    const device = newDevice(app);
    const passkey = { name: 'key', answer: device.create(options) };
    assert.equal(
      (await thief.call('POST', '/portal/api/invitations/register', { secret: shown, passkey })).status,
      200,
    );
    assert.equal(await isVerified(app, email), false);
    const secret = await invite(email);
    const refused = await thief.call('POST', '/portal/api/invitations/accept', { secret });
    assert.deepEqual([refused.status, refused.json.code], [403, 'access_denied']);

    const users = makeAdministration(app, clock);
    const user = (await users.find(email)) ?? assert.fail('no user');
    const link = await users.resetPassword(user, { withSecondFactors: false });
    assert.equal(link.withSecondFactors, true);
    assert.equal(await signInWith(app, device), 401);
    const holder = openBrowser(app);
    const body = { secret: link.secret.reveal(), password: PASSWORD };
    assert.equal((await holder.call('POST', '/portal/api/password/reset', body)).status, 204);
    assert.equal(await isVerified(app, email), true);
    assert.equal((await holder.call('POST', '/portal/api/sign-in', { email, password: PASSWORD })).status, 200);
    assert.equal((await holder.call('POST', '/portal/api/invitations/accept', { secret })).status, 200);
  });

  it('403 and a line for the operator where a row says that its address is verified and its MAC does not', async () => {
    const [email, browser] = [newEmail(), openBrowser(app)];
    await setUp(app, clock, browser, email);
    await app.db.owner.query('UPDATE users SET email_verified_at = now() WHERE email = $1', [email]);
    const before = linesOf(app, 'integrity_fault').length;
    const { status } = await browser.call('POST', '/portal/api/invitations/accept', { secret: await invite(email) });
    assert.ok(status === 403 || status === 503, String(status));
    assert.equal(linesOf(app, 'integrity_fault').length, before + 1);
  });

  it('an edited address is not made sound by a link of the operator', async () => {
    const { userId } = await makePerson(app, tenant.id, 'ADMIN');
    const email = newEmail();
    await app.db.owner.query('UPDATE users SET email = $2, email_key = $2 WHERE id = $1', [userId, email]);
    const users = makeAdministration(app, clock);
    const user = (await users.find(userId)) ?? assert.fail('no user');
    const { secret } = await users.resetPassword(user, { withSecondFactors: false });
    const before = linesOf(app, 'integrity_fault').length;
    const body = { secret: secret.reveal(), password: THEIRS };
    assert.equal((await openBrowser(app).call('POST', '/portal/api/password/reset', body)).status, 204);
    assert.equal(linesOf(app, 'integrity_fault').length, before + 1);
  });
});
