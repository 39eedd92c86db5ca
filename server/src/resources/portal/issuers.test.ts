import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, describe, it } from 'node:test';
import { bytesOfBase32, hotp, TOTP_STEP_MS } from '../../people/factors/totp.js';
import type { IssuerPair } from '../../people/oidc/oidc-fixture.js';
import { stopLying } from '../../people/oidc/oidc-fixture.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import type { IssuedApp } from './issued-app-fixture.js';
import { BEGIN, ERRAND, IDENTITIES, startIssuedApp } from './issued-app-fixture.js';
import type { Browser } from './portal-fixture.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const MINUTE_MS = 60_000;

describe('sign-in with an issuer', () => {
  let issued: IssuedApp;
  let pair: IssuerPair;
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  let ids: IssuedApp['ids'];
  before(async () => {
    issued = await startIssuedApp();
    ({ app, clock, pair, ids } = issued);
    tenant = await app.makeTenant('Ours');
  });
  after(() => issued.close());
  afterEach(() => stopLying(pair));

  const goAway: IssuedApp['goAway'] = (...given) => issued.goAway(...given);
  const comeBack: IssuedApp['comeBack'] = (...given) => issued.comeBack(...given);
  const link: IssuedApp['link'] = (...given) => issued.link(...given);
  const signIn: IssuedApp['signIn'] = (...given) => issued.signIn(...given);
  const claimsOf = (subject: string, more: object = {}) => ({ sub: subject, ...more });
  const newPerson = () => makePerson(app, tenant.id, 'ADMIN');

  it('tells what there is to sign in with', async () => {
    const { json } = await openBrowser(app).call('GET', '/portal/api/sign-in-options');
    assert.deepEqual(json, {
      mail: false,
      passkeys: true,
      issuers: [
        { id: ids.a, name: 'Issuer 0' },
        { id: ids.b, name: 'Issuer 1' },
      ],
    });
  });

  it('works once it is linked, by issuer and subject; the identity is shown, and unlinked opens nothing', async () => {
    const person = await newPerson();
    const subject = randomUUID();
    assert.equal(await link(person, 'a', subject), '/portal/account#oidc-linked');
    const { location, browser } = await signIn('a', subject);
    assert.equal(location, '/portal/');
    assert.equal((await browser.call('GET', '/portal/api/me')).json.user.id, person.userId);
    assert.equal((await browser.call('GET', '/portal/api/me')).json.session.issuer_id, ids.a);
    const [shown] = (await person.browser.call('GET', '/portal/api/factors')).json.identities;
    assert.equal(shown.issuer, 'Issuer 0');
    assert.equal((await person.browser.call('DELETE', `${IDENTITIES}/${shown.id}`)).status, 204);
    assert.equal((await signIn('a', subject)).location, '/portal/sign-in#oidc-unknown');
  });

  it('is never by address: whoever has the verified address of a user is a stranger', async () => {
    const { email } = await newPerson();
    const { location, session } = await signIn('a', randomUUID(), { email, email_verified: true });
    assert.deepEqual([location, session], ['/portal/sign-in#oidc-unknown', undefined]);
  });

  it('refuses the same subject of another issuer, and answers that were mixed up between the two', async () => {
    const person = await newPerson();
    const subject = randomUUID();
    await link(person, 'a', subject);
    assert.equal((await signIn('b', subject)).location, '/portal/sign-in#oidc-unknown');
    for (const namesItself of [true, false]) {
      pair.b.lies.namesItself = namesItself;
      const honest = await goAway(openBrowser(app), BEGIN, { issuer_id: ids.a });
      const other = await goAway(openBrowser(app), BEGIN, { issuer_id: ids.b });
      // The attacker's issuer answers a sign-in that was begun with the honest one, at either address.
      const answer = new URL(pair.b.agree(other.url, claimsOf(subject)));
      answer.searchParams.set('state', new URL(honest.url).searchParams.get('state') ?? '');
      const elsewhere = new URL(answer);
      elsewhere.pathname = elsewhere.pathname.replace(ids.b, ids.a);
      for (const callback of [answer, elsewhere]) {
        const { location, session } = await comeBack(callback.href, honest.kept);
        assert.deepEqual([location, session], ['/portal/sign-in#oidc-refused', undefined]);
      }
    }
  });

  it('refuses a return without what the browser kept, with that of another, changed, too late, or once more', async () => {
    const person = await newPerson();
    const subject = randomUUID();
    await link(person, 'a', subject);
    const away = await goAway(openBrowser(app), BEGIN, { issuer_id: ids.a });
    const victim = await goAway(openBrowser(app), BEGIN, { issuer_id: ids.a });
    const callback = pair.a.agree(away.url, claimsOf(subject));
    for (const kept of [undefined, `${ERRAND}=x`, victim.kept, `${away.kept.slice(0, -2)}xx`]) {
      assert.equal((await comeBack(callback, kept)).location, '/portal/sign-in#oidc-refused');
    }
    assert.equal((await comeBack(callback, away.kept)).location, '/portal/');
    assert.equal((await comeBack(callback, away.kept)).location, '/portal/sign-in#oidc-refused', 'a code is good once');
    const late = await goAway(openBrowser(app), BEGIN, { issuer_id: ids.a });
    clock.advance(10 * MINUTE_MS);
    assert.equal(
      (await comeBack(pair.a.agree(late.url, claimsOf(subject)), late.kept)).location,
      '/portal/sign-in#oidc-refused',
    );
  });

  it('leads to pages of the Portal alone, whatever the callback says', async () => {
    const { kept } = await goAway(openBrowser(app), BEGIN, { issuer_id: ids.a });
    for (const query of [
      'return_to=https://evil.example',
      'state=//evil.example',
      'error=access_denied',
      'code=1&code=2',
    ]) {
      const { location } = await comeBack(`${app.baseUrl}/portal/api/oidc/callback/${ids.a}?${query}`, kept);
      assert.match(location ?? '', /^\/portal\/sign-in#oidc-[a-z]+$/);
    }
    const { location } = await comeBack(`${app.baseUrl}/portal/api/oidc/callback/%2F%2Fevil.example?state=x`, kept);
    assert.match(location ?? '', /^\/portal\/sign-in#oidc-refused$/);
  });

  it('links after a fresh sign-in, to the user who began, while its session is open, and nobody twice', async () => {
    const person = await newPerson();
    const other = await newPerson();
    const subject = randomUUID();
    assert.equal(await link(person, 'a', subject), '/portal/account#oidc-linked');
    assert.equal(await link(other, 'a', subject), '/portal/account#oidc-taken');
    const left = await goAway(other.browser, IDENTITIES, { issuer_id: ids.a });
    const now = Math.floor(Date.now() / 1_000);
    const callback = pair.a.agree(left.url, claimsOf(randomUUID(), { auth_time: now }));
    assert.equal((await other.browser.call('POST', '/portal/api/sign-out')).status, 204);
    assert.equal((await comeBack(callback, left.kept)).location, '/portal/sign-in#oidc-refused');
    clock.advance(11 * MINUTE_MS);
    const stale = await person.browser.call('POST', IDENTITIES, { issuer_id: ids.a });
    assert.deepEqual([stale.status, stale.json.code], [403, 'step_up_required']);
    assert.equal((await openBrowser(app).call('POST', IDENTITIES, { issuer_id: ids.a })).status, 401);
  });

  it('links 20 and no more, all of which are shown', async () => {
    const person = await newPerson();
    for (let i = 0; i < 20; i += 1) assert.equal(await link(person, 'a', randomUUID()), '/portal/account#oidc-linked');
    assert.equal(await link(person, 'a', randomUUID()), '/portal/account#oidc-too-many');
    const { json } = await person.browser.call('GET', '/portal/api/factors');
    assert.equal(json.identities.length, 20);
  });

  it('counts as fresh only where the issuer just asked the person, and has it asked again for that', async () => {
    const person = await newPerson();
    const subject = randomUUID();
    await link(person, 'a', subject);
    const { browser } = await signIn('a', subject);
    const begin = () => browser.call('POST', IDENTITIES, { issuer_id: ids.a });
    assert.equal((await begin()).json.code, 'step_up_required', 'an issuer that does not say when');
    const again = await goAway(browser, BEGIN, { issuer_id: ids.a });
    const asked = new URL(again.url).searchParams;
    assert.deepEqual([asked.get('prompt'), asked.get('max_age')], ['login', '600']);
    const before = browser.cookie;
    const now = Math.floor(clock.nowMs() / 1_000);
    await comeBack(pair.a.agree(again.url, claimsOf(subject, { auth_time: now })), again.kept, browser);
    assert.notEqual(browser.cookie, before);
    assert.equal((await begin()).status, 200);
    const earlier = { Cookie: before };
    assert.equal(
      (await openBrowser(app).call('GET', '/portal/api/me', undefined, earlier)).status,
      401,
      'it has ended',
    );
  });

  it('refuses a user who is locked out, and 503s lead to a page as well', async () => {
    const person = await newPerson();
    const subject = randomUUID();
    await link(person, 'a', subject);
    await app.db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [person.userId]);
    assert.equal((await signIn('a', subject)).location, '/portal/sign-in#oidc-refused');
    const away = await goAway(openBrowser(app), BEGIN, { issuer_id: ids.a });
    pair.a.lies.replyTo = (path) => (path === '/token' ? { status: 500, body: '' } : undefined);
    const { location } = await comeBack(pair.a.agree(away.url, claimsOf(subject)), away.kept);
    assert.equal(location, '/portal/sign-in#oidc-unavailable');
  });

  it('opens nothing for an identity that was given to another user in the database, and the security log says so', async () => {
    const person = await newPerson();
    const victim = await newPerson();
    const subject = randomUUID();
    await link(person, 'a', subject);
    await app.db.owner.query('UPDATE user_identities SET user_id = $1 WHERE subject = $2', [victim.userId, subject]);
    const { location, session } = await signIn('a', subject);
    assert.deepEqual([location, session], ['/portal/sign-in#oidc-unavailable', undefined]);
    assert.ok(app.logLines.some((line) => line.includes('integrity_fault') && line.includes('identityId')));
  });

  it('registers a newcomer with an invitation, for the address that was invited; nobody without one', async () => {
    const email = `${randomUUID()}@example.com`;
    const { json } = await app.call('POST', '/tenants/self/invitations', {
      key: tenant.key,
      body: { email, role: 'ADMIN' },
    });
    const secret = json.link.slice(json.link.indexOf('#') + 1);
    const dead = await openBrowser(app).call('POST', BEGIN, { issuer_id: ids.a, secret: 'x' });
    assert.equal(dead.status, 404);
    const browser = openBrowser(app);
    const subject = randomUUID();
    const { url, kept } = await goAway(browser, BEGIN, { issuer_id: ids.a, secret });
    const claims = claimsOf(subject, { email: 'somebody@else.example', email_verified: true });
    assert.equal((await comeBack(pair.a.agree(url, claims), kept, browser)).location, '/portal/');
    const me = (await browser.call('GET', '/portal/api/me')).json;
    assert.equal(me.user.email, email);
    assert.deepEqual(
      me.memberships.map(({ tenant_id, role }: { tenant_id: string; role: string }) => [tenant_id, role]),
      [[tenant.id, 'ADMIN']],
    );
    assert.equal((await signIn('a', subject)).location, '/portal/');
    const again = await browser.call('POST', BEGIN, { issuer_id: ids.a, secret });
    assert.equal(again.status, 404, 'the link works once');
  });

  it('is no second factor: an issuer alone cannot replace an authenticator, nor be linked by a password alone', async () => {
    const person = await newPerson();
    const subject = randomUUID();
    await link(person, 'a', subject);
    const { secret } = (await person.browser.call('POST', '/portal/api/authenticator')).json;
    const code = hotp(bytesOfBase32(secret), Math.floor(clock.nowMs() / TOTP_STEP_MS));
    const confirmed = await person.browser.call('POST', '/portal/api/authenticator/confirm', { code });
    assert.equal(confirmed.status, 200);
    const { browser } = await signIn('a', subject, { auth_time: Math.floor(clock.nowMs() / 1_000) });
    const offer = await browser.call('POST', '/portal/api/authenticator');
    assert.deepEqual([offer.status, offer.json.code], [403, 'second_factor_required']);
    assert.equal(await link({ ...person, browser }, 'b', randomUUID()), '/portal/sign-in#oidc-refused');
  });

  it('ends with the identity, and ends whatever session the browser had before', async () => {
    const [first, second] = [await newPerson(), await newPerson()];
    const subject = randomUUID();
    await link(second, 'a', subject);
    const stolen = first.browser.cookie;
    const { url, kept } = await goAway(first.browser, BEGIN, { issuer_id: ids.a });
    const claims = claimsOf(subject, { auth_time: Math.floor(clock.nowMs() / 1_000) });
    await comeBack(pair.a.agree(url, claims), kept, first.browser);
    const earlier = await openBrowser(app).call('GET', '/portal/api/me', undefined, { Cookie: stolen });
    assert.equal(earlier.status, 401);
    const [{ id }] = (await second.browser.call('GET', '/portal/api/factors')).json.identities;
    assert.equal((await second.browser.call('DELETE', `${IDENTITIES}/${id}`)).status, 204);
    assert.equal((await first.browser.call('GET', '/portal/api/me')).status, 401);
    assert.equal((await second.browser.call('GET', '/portal/api/me')).status, 200);
  });

  it('does not take who vouches from the body of a registration', async () => {
    const email = `${randomUUID()}@example.com`;
    const { json } = await app.call('POST', '/tenants/self/invitations', {
      key: tenant.key,
      body: { email, role: 'ADMIN' },
    });
    const secret = json.link.slice(json.link.indexOf('#') + 1);
    const voucher = { identity: { issuer: pair.a.url, subject: 'forged' }, issuerId: ids.a, hasSecondFactor: true };
    const forged = { secret, voucher };
    assert.equal((await openBrowser(app).call('POST', '/portal/api/invitations/register', forged)).status, 400);
    const both = { ...forged, password: PASSWORD };
    assert.equal((await openBrowser(app).call('POST', '/portal/api/invitations/register', both)).status, 200);
    assert.equal((await signIn('a', 'forged')).location, '/portal/sign-in#oidc-unknown');
  });

  describe('and the rules of a tenant', () => {
    const rulesOf = (id: string) => `/portal/api/tenants/${id}/sign-in-rules`;
    const open = (browser: Browser, id: string) =>
      browser.call('GET', '/tenants/self', undefined, { 'SVC-TENANT-ID': id });

    it('one that asks for an issuer refuses other ways, but for the owner; the list says who has not linked it', async () => {
      const own = await app.makeTenant('Strict');
      const owner = await makePerson(app, own.id, 'OWNER');
      const admin = await makePerson(app, own.id, 'ADMIN');
      const subject = randomUUID();
      const set = await owner.browser.call('PUT', rulesOf(own.id), { issuer_id: ids.a });
      assert.equal(set.status, 200);
      assert.deepEqual(
        set.json.without_issuer.map(({ email }: { email: string }) => email),
        [admin.email],
      );
      const refused = await open(admin.browser, own.id);
      assert.deepEqual([refused.status, refused.json.code], [403, 'access_denied']);
      assert.equal((await open(owner.browser, own.id)).status, 200);
      await link(admin, 'a', subject);
      assert.equal((await open((await signIn('a', subject)).browser, own.id)).status, 200);
      assert.deepEqual((await owner.browser.call('GET', rulesOf(own.id))).json.without_issuer, []);
      const unknown = await owner.browser.call('PUT', rulesOf(own.id), { issuer_id: 'nobody' });
      assert.deepEqual([unknown.status, Object.keys(unknown.json.errors)], [400, ['issuer_id']]);
    });

    it('an issuer that asks for a second factor itself is one', async () => {
      const own = await app.makeTenant('Careful');
      const admin = await makePerson(app, own.id, 'ADMIN');
      const subject = randomUUID();
      assert.equal(await link(admin, 'b', subject), '/portal/account#oidc-linked');
      const { browser } = await signIn('b', subject);
      assert.equal((await browser.call('GET', '/portal/api/me')).json.session.has_second_factor, true);
      const { json } = await browser.call('GET', rulesOf(own.id));
      assert.equal(json.without_second_factor.length, 1, 'the owner that the tenant was made with');
    });

    it('404 for a tenant of others', async () => {
      const { browser } = await newPerson();
      const theirs = await app.makeTenant('Theirs');
      for (const id of [theirs.id, randomUUID(), 'x']) {
        assert.equal((await browser.call('GET', rulesOf(id))).status, 404);
        assert.equal((await browser.call('PUT', rulesOf(id), {})).status, 404);
      }
    });
  });
});
