import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { bytesOfBase32, hotp, TOTP_STEP_MS } from '../../people/factors/totp.js';
import { SoftwareAuthenticator } from '../../people/passkeys/authenticator-fixture.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Browser } from './portal-fixture.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** What somebody cannot do who has proven less than the user could. */
describe('what a user signs in with', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock });
    tenant = await app.makeTenant('Ours');
    await app.db.owner.query('UPDATE tenants SET second_factor_from = $2 WHERE id = $1', [
      tenant.id,
      new Date(clock.nowMs() - DAY_MS),
    ]);
  });
  after(() => app.close());
  beforeEach(() => clock.advance(2 * DAY_MS));

  const newDevice = () => new SoftwareAuthenticator(`http://localhost:${new URL(app.baseUrl).port}`);
  const codeOf = (secret: string) => hotp(bytesOfBase32(secret), Math.floor(clock.nowMs() / TOTP_STEP_MS));
  const open = (browser: Browser) => browser.call('GET', '/tenants/self', undefined, { 'SVC-TENANT-ID': tenant.id });

  async function addPasskey(browser: Browser): Promise<SoftwareAuthenticator> {
    const device = newDevice();
    const { json } = await browser.call('POST', '/portal/api/passkeys/options');
    const body = { name: 'Key', answer: device.create(json) };
    assert.equal((await browser.call('POST', '/portal/api/passkeys', body)).status, 200);
    return device;
  }
  async function addAuthenticator(browser: Browser): Promise<void> {
    const { secret } = (await browser.call('POST', '/portal/api/authenticator')).json;
    const confirmed = await browser.call('POST', '/portal/api/authenticator/confirm', { code: codeOf(secret) });
    assert.equal(confirmed.status, 200);
  }
  async function thiefOf({ email }: { readonly email: string }): Promise<Browser> {
    const thief = openBrowser(app);
    assert.equal((await thief.call('POST', '/portal/api/sign-in', { email, password: PASSWORD })).status, 200);
    return thief;
  }

  it('403 second_factor_required for every change of it by a session that has proven the password alone', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    await addPasskey(person.browser);
    const [{ id }] = (await person.browser.call('GET', '/portal/api/factors')).json.passkeys;
    const thief = await thiefOf(person);
    assert.equal((await open(thief)).json.code, 'second_factor_required');
    const { json: options } = await thief.call('POST', '/portal/api/passkeys/options');
    for (const [method, path, body] of [
      ['POST', '/portal/api/authenticator'],
      ['POST', '/portal/api/recovery-codes'],
      ['DELETE', '/portal/api/authenticator'],
      ['POST', '/portal/api/passkeys', { name: 'Mine', answer: newDevice().create(options) }],
      ['DELETE', `/portal/api/passkeys/${id}`],
    ] as const) {
      const { status, json } = await thief.call(method, path, body);
      assert.deepEqual([status, json.code], [403, 'second_factor_required'], `${method} ${path}`);
    }
    assert.equal((await open(thief)).json.code, 'second_factor_required');
  });

  it('an authenticator is none without a password, which it would be asked for beside', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    await addPasskey(person.browser);
    await app.db.owner.query('DELETE FROM user_passwords WHERE user_id = $1', [person.userId]);
    assert.equal((await person.browser.call('POST', '/portal/api/authenticator')).status, 400);
  });

  it('a factor that is removed counts in no session any more, nor after a step-up', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    await addAuthenticator(person.browser);
    assert.equal((await open(person.browser)).status, 200);
    assert.equal((await person.browser.call('DELETE', '/portal/api/authenticator')).status, 204);
    assert.equal((await open(person.browser)).json.code, 'second_factor_required');
    assert.equal((await person.browser.call('POST', '/portal/api/step-up', { password: PASSWORD })).status, 200);
    assert.equal((await open(person.browser)).json.code, 'second_factor_required');
  });

  it('a passkey that is removed ends the sessions it opened; another factor still counts for who removed it', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    const rogue = await addPasskey(person.browser);
    await addPasskey(person.browser);
    const thief = openBrowser(app);
    const { json: options } = await thief.call('POST', '/portal/api/sign-in/passkey/options');
    const signedIn = await thief.call('POST', '/portal/api/sign-in/passkey', { answer: rogue.get(options) });
    assert.equal(signedIn.status, 200);
    const [first] = (await person.browser.call('GET', '/portal/api/factors')).json.passkeys;
    assert.equal((await person.browser.call('DELETE', `/portal/api/passkeys/${first.id}`)).status, 204);
    assert.equal((await thief.call('GET', '/portal/api/me')).status, 401);
    assert.equal((await open(person.browser)).status, 200);
  });

  it('changing it makes no sign-in fresher and no session longer', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    const endOf = async () => (await person.browser.call('GET', '/portal/api/me')).json.session.expires_at;
    const end = await endOf();
    clock.advance(9 * MINUTE_MS);
    await addAuthenticator(person.browser);
    await addPasskey(person.browser);
    assert.equal(await endOf(), end);
    clock.advance(2 * MINUTE_MS);
    const late = await person.browser.call('POST', '/portal/api/recovery-codes');
    assert.deepEqual([late.status, late.json.code], [403, 'step_up_required'], 'eleven minutes after the only sign-in');
  });

  it('a step-up makes no session longer than seven days', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    const end = (await person.browser.call('GET', '/portal/api/me')).json.session.expires_at;
    clock.advance(7 * HOUR_MS);
    assert.equal((await person.browser.call('POST', '/portal/api/step-up', { password: PASSWORD })).status, 200);
    assert.equal((await person.browser.call('GET', '/portal/api/me')).json.session.expires_at, end);
  });

  it('is never all removed, by two requests at the same time either', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    await addPasskey(person.browser);
    await addPasskey(person.browser);
    await app.db.owner.query('DELETE FROM user_passwords WHERE user_id = $1', [person.userId]);
    const { passkeys } = (await person.browser.call('GET', '/portal/api/factors')).json;
    const { browser } = person;
    const { cookie } = browser;
    await Promise.all(
      passkeys.map(({ id }: { id: string }) =>
        openBrowser(app).call('DELETE', `/portal/api/passkeys/${id}`, undefined, { Cookie: cookie }),
      ),
    );
    const { rows } = await app.db.owner.query('SELECT id FROM user_passkeys WHERE user_id = $1', [person.userId]);
    assert.equal(rows.length, 1);
  });

  it('wrong passwords of a step-up and of a sign-in count together', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    for (let n = 0; n < 5; n += 1) await person.browser.call('POST', '/portal/api/step-up', { password: 'wrong' });
    const { status } = await openBrowser(app).call('POST', '/portal/api/sign-in', {
      email: person.email,
      password: 'wrong',
    });
    assert.equal(status, 429);
  });
});
