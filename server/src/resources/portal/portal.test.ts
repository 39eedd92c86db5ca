import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makeMember } from '../members/member-fixture.js';
import { givePassword, makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const HOUR_MS = 3_600_000;
const SIGN_IN = '/portal/api/sign-in';

describe('the Portal', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock });
    tenant = await app.makeTenant('Ours');
  });
  after(() => app.close());

  const atTenant = { 'SVC-TENANT-ID': '' };
  const as = (id: string) => ({ ...atTenant, 'SVC-TENANT-ID': id });
  const someone = async () => {
    const member = await makeMember(app, tenant.id, 'ADMIN');
    await givePassword(app, member.userId);
    return member;
  };

  describe('signing in', () => {
    it('200 with a cookie for this host alone, of which the server keeps a hash', async () => {
      const { email, userId } = await someone();
      const browser = openBrowser(app);
      const { status, json, headers } = await browser.call('POST', SIGN_IN, {
        email: email.toUpperCase(),
        password: PASSWORD,
      });
      assert.equal(status, 200);
      assert.deepEqual(json, { id: userId, email });
      const [cookie = ''] = headers.getSetCookie();
      assert.match(
        cookie,
        /^__Host-strongroom_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=604800$/,
      );
      assert.equal(headers.get('access-control-allow-origin'), null);
      const secret = cookie.slice(cookie.indexOf('=') + 1, cookie.indexOf(';'));
      const stored = await app.db.owner.query('SELECT * FROM portal_sessions');
      assert.equal(JSON.stringify(stored.rows).includes(secret), false);
      assert.equal(app.logLines.join('').includes(secret) || app.logLines.join('').includes(PASSWORD), false);
    });

    it('401 in the same words for a wrong password, an unknown address, a user without one, and a user locked out', async () => {
      const { email } = await someone();
      const bare = await makeMember(app, tenant.id, 'ADMIN');
      const locked = await someone();
      await app.db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [locked.userId]);
      const answers = [];
      for (const [address, password] of [
        [email, 'wrong'],
        [`${randomUUID()}@example.com`, PASSWORD],
        [bare.email, PASSWORD],
        [locked.email, PASSWORD],
      ]) {
        const { status, json } = await openBrowser(app).call('POST', SIGN_IN, { email: address, password });
        answers.push(JSON.stringify([status, { ...json, trace_id: '' }]));
      }
      assert.equal(new Set(answers).size, 1);
      assert.equal(JSON.parse(answers[0] ?? '')[0], 401);
    });

    it('429 after the fifth failure in a row, for an account that exists and for one that does not; a success in time ends it', async () => {
      const { email } = await someone();
      for (const address of [email, `${randomUUID()}@example.com`]) {
        const tryOnce = (password: string) => openBrowser(app).call('POST', SIGN_IN, { email: address, password });
        for (let n = 0; n < 5; n += 1) assert.equal((await tryOnce('wrong')).status, 401);
        const delayed = await tryOnce(PASSWORD);
        assert.deepEqual([delayed.status, delayed.json.code], [429, 'sign_in_delayed']);
        assert.equal(delayed.headers.get('retry-after'), '1');
        clock.advance(1_000);
        assert.equal((await tryOnce(PASSWORD)).status, address === email ? 200 : 401);
      }
    });

    it('rotates the session: the cookie of before opens nothing', async () => {
      const { browser, email } = await makePerson(app, tenant.id, 'ADMIN');
      const old = browser.cookie;
      assert.equal((await browser.call('POST', SIGN_IN, { email, password: PASSWORD })).status, 200);
      assert.notEqual(browser.cookie, old);
      const stale = openBrowser(app);
      stale.cookie = old;
      assert.equal((await stale.call('GET', '/portal/api/me')).status, 401);
    });

    it('403 without the origin of the Portal, with a cookie or without, and nobody is signed in', async () => {
      const { email } = await someone();
      const { browser } = await makePerson(app, tenant.id, 'ADMIN');
      const body = { email, password: PASSWORD };
      for (const headers of [
        { Origin: 'https://evil.example' },
        { Origin: 'null' },
        { 'Sec-Fetch-Site': 'cross-site' },
      ]) {
        for (const [path, sent] of [
          [SIGN_IN, body],
          ['/portal/api/sign-out', undefined],
        ] as const) {
          const { status, json } = await browser.call('POST', path, sent, headers);
          assert.deepEqual([status, json.code], [403, 'cross_site_refused'], JSON.stringify(headers));
        }
      }
      const without = await app.call('POST', SIGN_IN, { body });
      assert.deepEqual([without.status, without.json.code], [403, 'cross_site_refused']);
      assert.equal((await browser.call('GET', '/portal/api/me')).status, 200);
    });

    it('415 for anything but JSON', async () => {
      const { status } = await openBrowser(app).call('POST', SIGN_IN, 'email=a', {
        'Content-Type': 'application/x-www-form-urlencoded',
      });
      assert.equal(status, 415);
    });
  });

  describe('a session', () => {
    it('tells who is signed in, with its tenants; ends by signing out', async () => {
      const { browser, userId, email } = await makePerson(app, tenant.id, 'READ_ONLY');
      const { json } = await browser.call('GET', '/portal/api/me');
      assert.deepEqual(json.user, { id: userId, email });
      assert.deepEqual(json.memberships, [{ tenant_id: tenant.id, name: 'Ours', role: 'READ_ONLY' }]);
      const stolen = browser.cookie;
      assert.equal((await browser.call('POST', '/portal/api/sign-out')).status, 204);
      assert.equal(browser.cookie, '');
      browser.cookie = stolen;
      assert.equal((await browser.call('GET', '/portal/api/me')).status, 401);
    });

    it('is over after 8 hours without a request, and after 7 days in any case', async () => {
      const idle = await makePerson(app, tenant.id, 'ADMIN');
      const busy = await makePerson(app, tenant.id, 'ADMIN');
      const me = async ({ browser }: typeof idle) => (await browser.call('GET', '/portal/api/me')).status;
      clock.advance(8 * HOUR_MS - 1);
      assert.equal(await me(busy), 200);
      clock.advance(1);
      assert.deepEqual([await me(idle), await me(busy)], [401, 200]);
      for (let hours = 8; hours < 7 * 24 - 4; hours += 4) {
        clock.advance(4 * HOUR_MS);
        assert.equal(await me(busy), 200);
      }
      clock.advance(4 * HOUR_MS);
      assert.equal(await me(busy), 401);
    });

    it('is listed and ended by its user, and by nobody else', async () => {
      const { browser, email } = await makePerson(app, tenant.id, 'ADMIN');
      const other = openBrowser(app);
      clock.advance(1);
      await other.call('POST', SIGN_IN, { email, password: PASSWORD }, { 'User-Agent': 'Other/1.0' });
      const { json } = await browser.call('GET', '/portal/api/sessions');
      assert.deepEqual(
        json.map(({ is_current: isCurrent }: { is_current: boolean }) => isCurrent),
        [false, true],
      );
      assert.equal(json[0].agent, 'Other/1.0');
      const path = `/portal/api/sessions/${json[0].id}`;
      const stranger = await makePerson(app, tenant.id, 'ADMIN');
      assert.equal((await stranger.browser.call('DELETE', path)).status, 404);
      assert.equal((await other.call('GET', '/portal/api/me')).status, 200);
      assert.equal((await browser.call('DELETE', path)).status, 204);
      assert.equal((await other.call('GET', '/portal/api/me')).status, 401);
    });

    it('is listed in the order of ids where several began in the same millisecond', async () => {
      const { browser, email } = await makePerson(app, tenant.id, 'ADMIN');
      for (let count = 0; count < 5; count += 1) {
        assert.equal((await openBrowser(app).call('POST', SIGN_IN, { email, password: PASSWORD })).status, 200);
      }
      const { json } = await browser.call('GET', '/portal/api/sessions');
      const ids: string[] = json.map(({ id }: { id: string }) => id);
      assert.deepEqual([ids.length, ids], [6, ids.toSorted().reverse()]);
    });

    it('of every browser ends with a new password; the old one opens nothing', async () => {
      const { browser, email } = await makePerson(app, tenant.id, 'ADMIN');
      const stolen = openBrowser(app);
      stolen.cookie = browser.cookie;
      const newPassword = 'another long passphrase 42 times';
      const change = (current: string, next: string) =>
        browser.call('POST', '/portal/api/password', { current_password: current, new_password: next });
      assert.equal((await change('wrong', newPassword)).status, 401);
      assert.deepEqual(Object.keys((await change(PASSWORD, 'short')).json.errors), ['new_password']);
      assert.equal((await change(PASSWORD, newPassword)).status, 200);
      assert.equal((await stolen.call('GET', '/portal/api/me')).status, 401);
      assert.equal((await browser.call('GET', '/portal/api/me')).status, 200);
      assert.equal((await openBrowser(app).call('POST', SIGN_IN, { email, password: PASSWORD })).status, 401);
    });

    it('that was edited in the database opens nothing, nor does one moved to another user', async () => {
      const { browser } = await makePerson(app, tenant.id, 'READ_ONLY');
      const { userId: victim } = await someone();
      const { json } = await browser.call('GET', '/portal/api/me');
      await app.db.owner.query('UPDATE portal_sessions SET user_id = $1 WHERE id = $2', [victim, json.session.id]);
      assert.equal((await browser.call('GET', '/portal/api/me')).status, 503);
      assert.ok(app.logLines.some((line) => line.includes('a stored sign-in was altered')));
    });
  });

  describe('the tenant API with a session', () => {
    it('acts as the user, and the first act in a tenant has its entry', async () => {
      const { browser, userId, memberId } = await makePerson(app, tenant.id, 'ADMIN');
      for (let n = 0; n < 2; n += 1) {
        const { status, json } = await browser.call('GET', '/tenants/self', undefined, as(tenant.id));
        assert.deepEqual([status, json.id], [200, tenant.id]);
      }
      const path = `/logs?entity_type=tenant_member&entity_id=${memberId}&operation=sign_in`;
      const { json } = await browser.call('GET', path, undefined, as(tenant.id));
      assert.deepEqual(
        json.data.map((entry: Record<string, string>) => [entry.actor_type, entry.actor_id, entry.message]),
        [['user', userId, 'Signed in to the Portal']],
      );
    });

    it('400 without a tenant, 404 for one the user is no member of and for nonsense, 400 beside a key', async () => {
      const { browser } = await makePerson(app, tenant.id, 'ADMIN');
      const foreign = await app.makeTenant();
      const get = async (headers: Readonly<Record<string, string>>) => {
        const { status, json } = await browser.call('GET', '/tenants/self', undefined, headers);
        return [status, json.code];
      };
      assert.deepEqual(await get({}), [400, 'tenant_required']);
      for (const id of [foreign.id, randomUUID(), 'x']) assert.deepEqual(await get(as(id)), [404, 'not_found']);
      assert.deepEqual(await get({ ...as(tenant.id), 'SVC-API-KEY': tenant.key }), [400, 'ambiguous_credentials']);
    });

    it('403 for what another site sends with the cookie, reads and writes', async () => {
      const { browser } = await makePerson(app, tenant.id, 'ADMIN');
      const evil = { ...as(tenant.id), Origin: 'https://evil.example' };
      assert.equal((await browser.call('GET', '/tenants/self', undefined, evil)).json.code, 'cross_site_refused');
      const { status, json, headers } = await browser.call('PUT', '/tenants/self', { name: 'Evil' }, evil);
      assert.deepEqual([status, json.code], [403, 'cross_site_refused']);
      assert.equal(headers.get('access-control-allow-origin'), null);
      assert.equal((await app.call('GET', '/tenants/self', { key: tenant.key })).json.name, 'Ours');
    });

    it('ends at once with the membership, and follows a changed role', async () => {
      const { browser, memberId } = await makePerson(app, tenant.id, 'ADMIN');
      const rename = () => browser.call('PUT', '/tenants/self', { name: 'Ours' }, as(tenant.id));
      assert.equal((await rename()).status, 200);
      const path = `/tenants/self/members/${memberId}`;
      await app.call('PUT', path, { key: tenant.key, body: { role: 'READ_ONLY' } });
      assert.deepEqual([(await rename()).json.code], ['permission_denied']);
      await app.call('DELETE', path, { key: tenant.key });
      assert.equal((await rename()).status, 404);
    });

    it('never opens token data: 401 on every route of tokens', async () => {
      const { browser } = await makePerson(app, tenant.id, 'ADMIN');
      for (const [method, path] of [
        ['GET', '/tokens'],
        ['POST', '/tokens'],
        ['POST', '/detokenize'],
        ['GET', '/proxy/x'],
      ] as const) {
        const { status } = await browser.call(method, path, method === 'POST' ? {} : undefined, as(tenant.id));
        assert.equal(status, 401, path);
      }
    });

    it('READ_ONLY reads everything and changes nothing; settings and keys are dots', async () => {
      const { browser } = await makePerson(app, tenant.id, 'READ_ONLY');
      const definition = { name: 'P', destination_url: 'https://a.example', configuration: { TOKEN: 'canary-17' } };
      const { json: proxy } = await app.call('POST', '/proxies', { key: tenant.key, body: definition });
      await app.call('PATCH', `/proxies/${proxy.id}`, { key: tenant.key, body: { name: 'Q' } });
      const reactor = { name: 'R', code: 'module.exports = () => {}', configuration: { TOKEN: 'canary-17' } };
      const { json: made } = await app.call('POST', '/reactors', { key: tenant.key, body: reactor });
      for (const path of [
        ...['/proxies', `/proxies/${proxy.id}`, `/proxies/${proxy.id}/versions`],
        ...['/reactors', `/reactors/${made.id}`, `/reactors/${made.id}/versions`],
      ]) {
        const { status, text } = await browser.call('GET', path, undefined, as(tenant.id));
        assert.equal(status, 200, path);
        assert.equal(text.includes('canary-17') || text.includes(proxy.key), false, path);
      }
      const shown = await browser.call('GET', `/proxies/${proxy.id}`, undefined, as(tenant.id));
      assert.deepEqual([shown.json.key, shown.json.configuration], ['••••', { TOKEN: '••••' }]);
      const { json: whole } = await app.call('GET', `/proxies/${proxy.id}`, { key: tenant.key });
      assert.deepEqual([whole.key, whole.configuration], [proxy.key, { TOKEN: 'canary-17' }]);
      const refused = await browser.call('POST', '/applications', { name: 'A' }, as(tenant.id));
      assert.equal(refused.json.code, 'permission_denied');
    });

    it('403 for keys, roles and the end of the tenant once the sign-in is 10 minutes old; a step-up opens them', async () => {
      const { browser, email } = await makePerson(app, tenant.id, 'ADMIN');
      const target = await makeMember(app, tenant.id, 'READ_ONLY');
      const create = () =>
        browser.call(
          'POST',
          '/applications',
          { name: 'A', type: 'private', permissions: ['token:read'] },
          as(tenant.id),
        );
      const role = () =>
        browser.call('PUT', `/tenants/self/members/${target.memberId}`, { role: 'ADMIN' }, as(tenant.id));
      assert.equal((await create()).status, 201);
      clock.advance(10 * 60_000);
      for (const refused of [await create(), await role()]) {
        assert.deepEqual([refused.status, refused.json.code], [403, 'step_up_required']);
      }
      const old = browser.cookie;
      assert.equal((await browser.call('POST', '/portal/api/step-up', { password: 'wrong' })).status, 401);
      assert.equal((await browser.call('POST', '/portal/api/step-up', { password: PASSWORD })).status, 200);
      assert.notEqual(browser.cookie, old);
      assert.deepEqual([(await create()).status, (await role()).status], [201, 200]);
      assert.equal((await browser.call('GET', '/portal/api/me')).json.user.email, email);
    });
  });

  describe('tenants and invitations', () => {
    const secretOf = (link: string) => link.slice(link.indexOf('#') + 1);
    const invite = async (email: string, role = 'READ_ONLY') => {
      const { json } = await app.call('POST', '/tenants/self/invitations', { key: tenant.key, body: { email, role } });
      return secretOf(json.link);
    };

    it('201 for a tenant of one’s own; the owner cannot leave it, others can leave theirs', async () => {
      const { browser, userId } = await makePerson(app, tenant.id, 'ADMIN');
      const { status, json } = await browser.call('POST', '/portal/api/tenants', { name: 'Mine' });
      assert.equal(status, 201);
      assert.deepEqual([json.owner_id, json.created_by, json.name], [userId, userId, 'Mine']);
      assert.equal((await browser.call('GET', '/tenants/self', undefined, as(json.id))).status, 200);
      const leave = (id: string) => browser.call('DELETE', `/portal/api/memberships/${id}`);
      assert.deepEqual(
        [(await leave(json.id)).status, (await leave(tenant.id)).status, (await leave(tenant.id)).status],
        [422, 204, 404],
      );
    });

    it('a newcomer sees what it is invited to, registers, and is a member; the link works once', async () => {
      const email = `${randomUUID()}@example.com`;
      const secret = await invite(email);
      await invite(email, 'ADMIN');
      const browser = openBrowser(app);
      const preview = await browser.call('POST', '/portal/api/invitations/preview', { secret });
      assert.deepEqual(preview.json, { tenant_name: 'Ours', email, role: 'READ_ONLY' });
      const register = (password: string) =>
        browser.call('POST', '/portal/api/invitations/register', { secret, password, first_name: 'Ada' });
      assert.deepEqual(Object.keys((await register('short')).json.errors), ['password']);
      assert.equal((await register(PASSWORD)).status, 200);
      const { json } = await browser.call('GET', '/portal/api/me');
      assert.deepEqual([json.user.first_name, json.memberships[0].role], ['Ada', 'READ_ONLY']);
      assert.equal((await register(PASSWORD)).status, 404);
      const left = await app.call('GET', '/tenants/self/invitations?size=100', { key: tenant.key });
      assert.equal(left.text.includes(email), false);
    });

    it('403 for a user with another address, 404 for a dead link, 200 for the one who was invited', async () => {
      const invited = await makePerson(app, (await app.makeTenant()).id, 'ADMIN');
      const { browser: other } = await makePerson(app, (await app.makeTenant()).id, 'ADMIN');
      const secret = await invite(invited.email.toUpperCase(), 'ADMIN');
      const accept = async (browser: typeof other, given = secret) => {
        const { status, json } = await browser.call('POST', '/portal/api/invitations/accept', { secret: given });
        return [status, json.code ?? json.role];
      };
      assert.deepEqual(await accept(other), [403, 'access_denied']);
      assert.deepEqual(await accept(invited.browser, 'A'.repeat(43)), [404, 'not_found']);
      assert.deepEqual(await accept(invited.browser), [200, 'ADMIN']);
      assert.deepEqual(await accept(invited.browser), [404, 'not_found']);
      const late = await invite(`${randomUUID()}@example.com`);
      clock.advance(72 * HOUR_MS);
      assert.equal(
        (await openBrowser(app).call('POST', '/portal/api/invitations/preview', { secret: late })).status,
        404,
      );
    });
  });
});
