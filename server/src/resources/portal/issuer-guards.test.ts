import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, describe, it } from 'node:test';
import { stopLying } from '../../people/oidc/oidc-fixture.js';
import { SoftwareAuthenticator } from '../../people/passkeys/authenticator-fixture.js';
import type { TestTenant } from '../../testing/test-app.js';
import type { IssuedApp } from './issued-app-fixture.js';
import { BEGIN, IDENTITIES, startIssuedApp } from './issued-app-fixture.js';
import type { Browser, Person } from './portal-fixture.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';
import { whileHeld } from './waiting-fixture.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LINKED = '/portal/account#oidc-linked';
const NEW_PASSWORD = 'another horse battery staple 18';

/** What an issuer has proven, and what it has not. */
describe('an account that an issuer vouches for', () => {
  let issued: IssuedApp;
  let tenant: TestTenant;
  before(async () => {
    issued = await startIssuedApp();
    tenant = await issued.app.makeTenant('Ours');
  });
  after(() => issued.close());
  afterEach(() => stopLying(issued.pair));

  const vouchedNow = () => ({ auth_time: Math.floor(issued.clock.nowMs() / 1_000) });
  const open = (browser: Browser, id: string) =>
    browser.call('GET', '/tenants/self', undefined, { 'SVC-TENANT-ID': id });
  const sessionOf = async (browser: Browser) => (await browser.call('GET', '/portal/api/me')).json.session;

  /** Of a tenant of its own with these rules. */
  async function memberUnder(rules: { readonly issuer?: string; readonly secondFactor?: boolean }) {
    const own = await issued.app.makeTenant('Careful');
    const person = await makePerson(issued.app, own.id, 'ADMIN');
    const from = rules.secondFactor ? new Date(issued.clock.nowMs() - DAY_MS) : null;
    const set = 'UPDATE tenants SET second_factor_from = $2, sign_in_issuer = $3 WHERE id = $1';
    await issued.app.db.owner.query(set, [own.id, from, rules.issuer ?? null]);
    return { own, person };
  }
  async function thiefOf({ email }: Person): Promise<Browser> {
    const thief = openBrowser(issued.app);
    assert.equal((await thief.call('POST', '/portal/api/sign-in', { email, password: PASSWORD })).status, 200);
    return thief;
  }
  async function addPasskey(browser: Browser): Promise<void> {
    const { json } = await browser.call('POST', '/portal/api/passkeys/options');
    const device = new SoftwareAuthenticator(`http://localhost:${issued.app.port}`);
    const body = { name: 'Key', answer: device.create(json) };
    assert.equal((await browser.call('POST', '/portal/api/passkeys', body)).status, 200);
  }

  it('403 for a factor added by the password alone, where the second factor of the user is an issuer', async () => {
    const { own, person } = await memberUnder({ secondFactor: true });
    assert.equal(await issued.link(person, 'b', randomUUID()), LINKED);
    const thief = await thiefOf(person);
    assert.equal((await open(thief, own.id)).json.code, 'second_factor_required');
    const { json: options } = await thief.call('POST', '/portal/api/passkeys/options');
    const answer = new SoftwareAuthenticator(`http://localhost:${issued.app.port}`).create(options);
    for (const [path, body] of [
      ['/portal/api/authenticator', undefined],
      ['/portal/api/passkeys', { name: 'Mine', answer }],
    ] as const) {
      const { status, json } = await thief.call('POST', path, body);
      assert.deepEqual([status, json.code], [403, 'second_factor_required'], path);
    }
    const away = await issued.goAway(thief, IDENTITIES, { issuer_id: issued.ids.a });
    const back = issued.pair.a.agree(away.url, { sub: randomUUID(), ...vouchedNow() });
    assert.equal((await issued.comeBack(back, away.kept)).location, '/portal/sign-in#oidc-refused');
    assert.equal((await open(thief, own.id)).json.code, 'second_factor_required');
  });

  it('a new password makes its session no longer, and proves neither the issuer nor a second factor', async () => {
    const { own, person } = await memberUnder({ issuer: issued.ids.b });
    const subject = randomUUID();
    await issued.link(person, 'b', subject);
    const { browser } = await issued.signIn('b', subject, vouchedNow());
    assert.equal((await open(browser, own.id)).status, 200);
    const { expires_at: end } = await sessionOf(browser);
    issued.clock.advance(6 * HOUR_MS);
    const change = { current_password: PASSWORD, new_password: NEW_PASSWORD };
    assert.equal((await browser.call('POST', '/portal/api/password', change)).status, 200);
    const { expires_at, issuer_id, has_second_factor } = await sessionOf(browser);
    assert.deepEqual([expires_at, issuer_id, has_second_factor], [end, undefined, false]);
    assert.equal((await open(browser, own.id)).status, 403);
  });

  it('an identity that is unlinked vouches no more, in the session of who unlinked it either', async () => {
    const { own, person } = await memberUnder({ issuer: issued.ids.b, secondFactor: true });
    const subject = randomUUID();
    await issued.link(person, 'b', subject);
    const { browser } = await issued.signIn('b', subject, vouchedNow());
    assert.equal((await open(browser, own.id)).status, 200);
    const [{ id }] = (await browser.call('GET', '/portal/api/factors')).json.identities;
    assert.equal((await browser.call('DELETE', `${IDENTITIES}/${id}`)).status, 204);
    const { issuer_id, has_second_factor } = await sessionOf(browser);
    assert.deepEqual([issuer_id, has_second_factor], [undefined, false]);
    assert.equal((await open(browser, own.id)).status, 403);
  });

  it('403 for a first password by an issuer of one factor, where the user has a passkey', async () => {
    const person = await makePerson(issued.app, tenant.id, 'ADMIN');
    const subject = randomUUID();
    await issued.link(person, 'a', subject);
    await addPasskey(person.browser);
    await issued.app.db.owner.query('DELETE FROM user_passwords WHERE user_id = $1', [person.userId]);
    const { browser: thief } = await issued.signIn('a', subject, vouchedNow());
    const { status, json } = await thief.call('POST', '/portal/api/password', { new_password: NEW_PASSWORD });
    assert.deepEqual([status, json.code], [403, 'second_factor_required']);
    const own = await person.browser.call('POST', '/portal/api/password', { new_password: NEW_PASSWORD });
    assert.equal(own.status, 200, 'with the passkey');
    assert.equal((await sessionOf(person.browser)).has_second_factor, true);
  });

  it('a session row that was edited links nobody and is in no list, and the security log says so', async () => {
    const person = await makePerson(issued.app, tenant.id, 'ADMIN');
    await addPasskey(person.browser);
    const thief = await thiefOf(person);
    const { id } = await sessionOf(thief);
    const away = await issued.goAway(thief, IDENTITIES, { issuer_id: issued.ids.a });
    await issued.app.db.owner.query('UPDATE portal_sessions SET has_second_factor = true WHERE id = $1', [id]);
    const back = issued.pair.a.agree(away.url, { sub: randomUUID(), ...vouchedNow() });
    assert.equal((await issued.comeBack(back, away.kept)).location, '/portal/sign-in#oidc-refused');
    const { json } = await person.browser.call('GET', '/portal/api/sessions');
    assert.ok(!json.some((session: { id: string }) => session.id === id));
    assert.ok(issued.app.logLines.some((line) => line.includes('integrity_fault') && line.includes(id)));
  });

  it('401 where an identity is unlinked, and none is linked, by a session that ends at that moment', async () => {
    const person = await makePerson(issued.app, tenant.id, 'ADMIN');
    await issued.link(person, 'a', randomUUID());
    const [{ id }] = (await person.browser.call('GET', '/portal/api/factors')).json.identities;
    const away = await issued.goAway(person.browser, IDENTITIES, { issuer_id: issued.ids.b });
    const back = issued.pair.b.agree(away.url, { sub: randomUUID(), ...vouchedNow() });
    const { owner } = issued.app.db;
    const lock = () => owner.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [person.userId]);
    const unlinked = await whileHeld(
      issued.app,
      async () => {
        await lock();
        await owner.query('DELETE FROM portal_sessions WHERE user_id = $1', [person.userId]);
      },
      () => person.browser.call('DELETE', `${IDENTITIES}/${id}`),
    );
    assert.equal(unlinked.status, 401);
    const { location } = await whileHeld(issued.app, lock, () => issued.comeBack(back, away.kept));
    assert.equal(location, '/portal/sign-in#oidc-refused');
    const { rows } = await owner.query('SELECT id FROM user_identities WHERE user_id = $1', [person.userId]);
    assert.deepEqual(rows, [{ id }]);
  });

  it('what a browser keeps is good for one return: the issuer is asked once, whatever else comes back with it', async () => {
    const away = await issued.goAway(openBrowser(issued.app), BEGIN, { issuer_id: issued.ids.a });
    const state = new URL(away.url).searchParams.get('state');
    let asked = 0;
    issued.pair.a.lies.replyTo = (path) => {
      if (path === '/token') asked += 1;
      return undefined;
    };
    const places = new Set<string | null>();
    for (let n = 0; n < 5; n += 1) {
      const query = `state=${state}&code=guess${n}&iss=${encodeURIComponent(issued.pair.a.url)}`;
      const callback = `${issued.app.baseUrl}/portal/api/oidc/callback/${issued.ids.a}?${query}`;
      places.add((await issued.comeBack(callback, away.kept)).location);
    }
    assert.deepEqual([asked, [...places]], [1, ['/portal/sign-in#oidc-refused']]);
  });
});
