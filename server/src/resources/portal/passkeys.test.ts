import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createLinks } from '../../people/links/links.js';
import { SoftwareAuthenticator } from '../../people/passkeys/authenticator-fixture.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Browser, Person } from './portal-fixture.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const OPTIONS = '/portal/api/sign-in/passkey/options';
const SIGN_IN = '/portal/api/sign-in/passkey';
const PASSKEYS = '/portal/api/passkeys';
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

type CreationOptions = Parameters<SoftwareAuthenticator['create']>[0];
type RequestOptions = Parameters<SoftwareAuthenticator['get']>[0];

interface Holder extends Person {
  readonly device: SoftwareAuthenticator;
}

describe('passkeys', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock });
    tenant = await app.makeTenant('Ours');
  });
  after(() => app.close());
  // All of them fail from one address, and are forgotten after a day.
  beforeEach(() => clock.advance(2 * DAY_MS));

  const newDevice = () => new SoftwareAuthenticator(`http://localhost:${new URL(app.baseUrl).port}`);

  async function creationOptions(browser: Browser, path = `${PASSKEYS}/options`, body?: unknown) {
    const { status, json } = await browser.call('POST', path, body);
    assert.equal(status, 200);
    return json as unknown as CreationOptions & { excludeCredentials: { id: string }[] };
  }

  async function holder(): Promise<Holder> {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    const device = newDevice();
    const answer = device.create(await creationOptions(person.browser));
    assert.equal((await person.browser.call('POST', PASSKEYS, { name: 'Laptop', answer })).status, 200);
    return { ...person, device };
  }

  async function requestOptions(): Promise<RequestOptions> {
    return (await openBrowser(app).call('POST', OPTIONS)).json as unknown as RequestOptions;
  }

  async function signIn(
    device: SoftwareAuthenticator,
    lies: Parameters<SoftwareAuthenticator['get']>[1] = {},
    browser = openBrowser(app),
  ) {
    return browser.call('POST', SIGN_IN, { answer: device.get(await requestOptions(), lies) });
  }

  it('sign in without a password and count as a second factor; the session is listed and opens a tenant', async () => {
    const { userId, email, device } = await holder();
    clock.advance(1);
    const browser = openBrowser(app);
    const { status, json } = await signIn(device, {}, browser);
    assert.deepEqual([status, json], [200, { id: userId, email }]);
    const self = await browser.call('GET', '/tenants/self', undefined, { 'SVC-TENANT-ID': tenant.id });
    assert.equal(self.status, 200);
    const { rows } = await app.db.owner.query(
      'SELECT has_second_factor FROM portal_sessions WHERE user_id = $1 ORDER BY created_at DESC LIMIT 1',
      [userId],
    );
    assert.equal(rows[0].has_second_factor, true);
  });

  it('are shown with their names and removed; one that was removed opens nothing', async () => {
    const { browser, device } = await holder();
    const shown = (await browser.call('GET', '/portal/api/factors')).json.passkeys as { id: string; name: string }[];
    assert.deepEqual(
      shown.map(({ name }) => name),
      ['Laptop'],
    );
    assert.deepEqual(
      (await creationOptions(browser)).excludeCredentials.map(({ id }) => id),
      [device.credentialId],
    );
    const stranger = await makePerson(app, tenant.id, 'OWNER');
    assert.equal((await stranger.browser.call('DELETE', `${PASSKEYS}/${shown[0]?.id}`)).status, 404);
    assert.equal((await browser.call('DELETE', `${PASSKEYS}/${shown[0]?.id}`)).status, 204);
    assert.equal((await browser.call('DELETE', `${PASSKEYS}/${shown[0]?.id}`)).status, 404);
    assert.equal((await signIn(device)).status, 401);
  });

  it('401 in the same words for every lie, and the truth still works', async () => {
    const { device, userId } = await holder();
    const stranger = newDevice();
    stranger.create({ challenge: 'x', user: { id: randomUUID() }, rp: {} });
    const answers = new Set<string>();
    const send = (answer: unknown) => openBrowser(app).call('POST', SIGN_IN, { answer });
    const handle = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
    for (const lie of [
      () => signIn(stranger),
      () => signIn(device, { origin: 'https://evil.example' }),
      () => signIn(device, { rpId: 'evil.example' }),
      () => signIn(device, { isUserVerified: false }),
      () => signIn(device, { userHandle: handle(randomUUID()) }),
      () => signIn(stranger, { credentialId: device.credentialId, userHandle: handle(userId) }),
      () => send({}),
      () => send(device.get({ challenge: 'Zm9v'.repeat(8) })),
    ]) {
      const { status, json } = await lie();
      answers.add(JSON.stringify([status, { ...json, trace_id: '' }]));
      clock.advance(DAY_MS);
    }
    assert.equal(answers.size, 1, [...answers].join());
    assert.equal(JSON.parse([...answers][0] ?? '')[0], 401);
    assert.equal((await signIn(device)).status, 200);
  });

  it('401 for an answer that is sent again, at the same time as well, too late, or made for another purpose', async () => {
    const { device, browser } = await holder();
    const options = await requestOptions();
    const send = (answer: unknown) => openBrowser(app).call('POST', SIGN_IN, { answer });
    const twice = await Promise.all([send(device.get(options)), send(device.get(options))]);
    assert.deepEqual(twice.map(({ status }) => status).sort(), [200, 401]);
    assert.equal((await send(device.get(options))).status, 401);
    const late = await requestOptions();
    clock.advance(5 * MINUTE_MS);
    assert.equal((await send(device.get(late))).status, 401);
    const { challenge } = await creationOptions(browser);
    assert.equal((await send(device.get({ challenge, rpId: 'localhost' }))).status, 401);
  });

  it('401 for a copy whose counter is behind, and the security log says so', async () => {
    const { device, userId } = await holder();
    device.counter = 7;
    assert.equal((await signIn(device)).status, 200);
    device.counter = 8;
    assert.equal((await signIn(device)).status, 200);
    device.counter = 7;
    assert.equal((await signIn(device)).status, 401);
    assert.ok(app.logLines.some((line) => line.includes('passkey_cloned') && line.includes(userId)));
  });

  it('503 for one that was given to another user in the database, and the security log says so', async () => {
    const { device, userId } = await holder();
    const victim = await holder();
    await app.db.owner.query('UPDATE user_passkeys SET user_id = $1 WHERE user_id = $2', [victim.userId, userId]);
    const userHandle = Buffer.from(victim.userId.replaceAll('-', ''), 'hex').toString('base64url');
    assert.equal((await signIn(device, { userHandle })).status, 503);
    assert.ok(app.logLines.some((line) => line.includes('integrity_fault') && line.includes('passkeyId')));
  });

  it('401 for a user who is locked out', async () => {
    const { device, userId } = await holder();
    await app.db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [userId]);
    assert.equal((await signIn(device)).status, 401);
  });

  it('are added after a fresh sign-in, once, by the user they were made for, up to twenty', async () => {
    const { browser, device } = await holder();
    const other = await makePerson(app, tenant.id, 'ADMIN');
    const theirs = newDevice().create(await creationOptions(other.browser));
    assert.equal((await browser.call('POST', PASSKEYS, { name: 'Stolen', answer: theirs })).status, 400);
    const again = device.create(await creationOptions(browser));
    assert.equal((await browser.call('POST', PASSKEYS, { name: 'Again', answer: again })).status, 400);
    for (let n = 1; n < 20; n += 1) {
      const answer = newDevice().create(await creationOptions(browser));
      assert.equal((await browser.call('POST', PASSKEYS, { name: `Key ${n}`, answer })).status, 200);
    }
    const answer = newDevice().create(await creationOptions(browser));
    assert.equal((await browser.call('POST', PASSKEYS, { name: 'Key 20', answer })).status, 400);
    clock.advance(11 * MINUTE_MS);
    for (const path of [PASSKEYS, `${PASSKEYS}/options`]) {
      const { status, json } = await browser.call('POST', path, path === PASSKEYS ? { name: 'x', answer } : undefined);
      assert.deepEqual([status, json.code], [403, 'step_up_required']);
    }
    const earlier = browser.cookie;
    assert.equal((await signIn(device, {}, browser)).status, 200);
    assert.notEqual(browser.cookie, earlier, 'a fresh sign-in is a new session');
    await creationOptions(browser);
  });

  describe('in place of a password', () => {
    const invite = async (): Promise<string> => {
      const body = { email: `${randomUUID()}@example.com`, role: 'ADMIN' };
      const { json } = await app.call('POST', '/tenants/self/invitations', { key: tenant.key, body });
      return json.link.slice(json.link.indexOf('#') + 1);
    };
    const register = '/portal/api/invitations/register';

    it('register a newcomer, who has no password then; the last one cannot be removed', async () => {
      const secret = await invite();
      const browser = openBrowser(app);
      const device = newDevice();
      const options = await creationOptions(browser, '/portal/api/invitations/passkey-options', { secret });
      const passkey = { name: 'Phone', answer: device.create(options) };
      assert.equal((await browser.call('POST', register, { secret, passkey, password: PASSWORD })).status, 400);
      assert.equal((await browser.call('POST', register, { secret })).status, 400);
      const { status, json } = await browser.call('POST', register, { secret, passkey });
      assert.equal(status, 200);
      assert.equal((await signIn(device)).json.id, json.id);
      const [only] = (await browser.call('GET', '/portal/api/factors')).json.passkeys;
      assert.equal((await browser.call('DELETE', `${PASSKEYS}/${only.id}`)).status, 400);
      const answer = newDevice().create(await creationOptions(browser));
      assert.equal((await browser.call('POST', PASSKEYS, { name: 'Second', answer })).status, 200);
      assert.equal((await browser.call('DELETE', `${PASSKEYS}/${only.id}`)).status, 204);
    });

    it('and give themselves a password with a fresh sign-in; who has one has to know it', async () => {
      const secret = await invite();
      const browser = openBrowser(app);
      const device = newDevice();
      const options = await creationOptions(browser, '/portal/api/invitations/passkey-options', { secret });
      const passkey = { name: 'Phone', answer: device.create(options) };
      const { json } = await browser.call('POST', register, { secret, passkey });
      const change = (body: object) => browser.call('POST', '/portal/api/password', body);
      clock.advance(11 * MINUTE_MS);
      assert.equal((await change({ new_password: PASSWORD })).json.code, 'step_up_required');
      await signIn(device, {}, browser);
      assert.equal((await change({ new_password: PASSWORD })).status, 200);
      const other = await change({ new_password: 'another good one 4711' });
      assert.deepEqual([other.status, Object.keys(other.json.errors)], [400, ['current_password']]);
      const byPassword = { email: json.email, password: PASSWORD };
      assert.equal((await openBrowser(app).call('POST', '/portal/api/sign-in', byPassword)).status, 200);
    });

    it('404 for options with a dead link, 400 for an answer to the options of an account that is there', async () => {
      const { browser } = await holder();
      const dead = await openBrowser(app).call('POST', '/portal/api/invitations/passkey-options', { secret: 'x' });
      assert.equal(dead.status, 404);
      const deadSetUp = { secret: 'x', email: 'a@example.com' };
      assert.equal((await openBrowser(app).call('POST', '/portal/api/set-up/passkey-options', deadSetUp)).status, 404);
      const secret = await invite();
      const passkey = { name: 'Mine', answer: newDevice().create(await creationOptions(browser)) };
      assert.equal((await openBrowser(app).call('POST', register, { secret, passkey })).status, 400);
    });

    it('set up an owner', async () => {
      const { systemKeys } = app.keyStore;
      const links = createLinks({ clock, keys: systemKeys });
      const owner = randomUUID();
      await app.db.owner.query('INSERT INTO users (id, created_at) VALUES ($1, now())', [owner]);
      const link = await app.database.people((tx) => links.make(tx, owner, 'set-up', DAY_MS));
      const secret = link.reveal();
      const email = `${randomUUID()}@example.com`;
      const browser = openBrowser(app);
      const device = newDevice();
      const options = await creationOptions(browser, '/portal/api/set-up/passkey-options', { secret, email });
      const passkey = { name: 'Key', answer: device.create(options) };
      const { status, json } = await browser.call('POST', '/portal/api/set-up', { secret, email, passkey });
      assert.deepEqual([status, json.id], [200, owner]);
      assert.equal((await signIn(device)).json.id, owner);
    });
  });
});
