// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { MemberRole } from '../access/roles.js';
import { MEMBER_ROLES } from '../access/roles.js';
import { methodsOf } from '../http/routes/any-route.js';
import { makeMember, makeUser } from '../resources/members/member-fixture.js';
import type { Browser } from '../resources/portal/portal-fixture.js';
import { givePassword, makePerson, openBrowser, PASSWORD } from '../resources/portal/portal-fixture.js';
import type { FakeClock } from './fake-clock.js';
import { createFakeClock } from './fake-clock.js';
import { idleRoutes, idleRoutesOfAnyKind } from './idle-routes.js';
import { storedDigest } from './isolation-pair.js';
import type { Targets, TriedRoute } from './slice-trial.js';
import { loadTrials } from './slice-trial.js';
import type { TestApp, TestTenant } from './test-app.js';
import { startTestApp } from './test-app.js';

const FRESH_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;
const SIGN_IN = '/portal/api/sign-in';

const TRIALS = await loadTrials();
/** Every route, as its slice writes it out again. */
const ROUTES = TRIALS.flatMap(({ routes }) => routes);
const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;

/** What must take a fresh sign-in, whatever else does. */
const STEPPED_UP = [
  'DELETE /tenants/self',
  'POST /applications',
  'POST /applications/:id/keys',
  'POST /applications/:id/regenerate',
  'POST /tenants/self/invitations',
  'POST /tenants/self/invitations/:id/resend',
  'PUT /tenants/self/members/:id',
];

/** The permissions a route names; none where it asks for a kind of key. */
function permissionsNamed({ needs }: TriedRoute): readonly string[] {
  return needs.endsWith('key') ? [] : needs.split(/ or | and /);
}

/** Users hold management permissions alone, and have no key. */
function isForUsers(route: TriedRoute): boolean {
  return route.needs === 'any key' || permissionsNamed(route).some((name) => !name.startsWith('token:'));
}

/** What a role gives, by rule: the product's own table must not be its own judge. */
function isHeldBy(role: MemberRole, permission: string): boolean {
  if (permission.startsWith('token:')) return false;
  if (role === 'READ_ONLY') return permission.endsWith(':read');
  return role === 'OWNER' || permission !== 'tenant:delete';
}

function isOpenTo(role: MemberRole, route: TriedRoute): boolean {
  if (route.needs === 'any key') return true;
  const held = permissionsNamed(route).map((permission) => isHeldBy(role, permission));
  return route.needs.includes(' and ') ? held.every(Boolean) : held.some(Boolean);
}

describe('users on every route of the tenant API', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  let lasting: Targets;
  let stepUps: ReadonlySet<string>;
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
    lasting = await makeTargets(tenant);
    stepUps = new Set(
      idleRoutes(app)
        .filter(({ stepUp }) => stepUp)
        .map(nameOf),
    );
  });
  after(() => app.close());

  async function makeTargets(of: TestTenant): Promise<Targets> {
    const post = async (key: string, path: string, body = {}) => (await app.call('POST', path, { key, body })).json;
    const { id: applicationId } = await app.makeApplication(of.id, 'private', ['token:read']);
    const { id: keyId } = await post(of.key, `/applications/${applicationId}/keys`);
    const tokens = await app.makeKey(of.id, 'private', ['token:create']);
    const { id: tokenId } = await post(tokens, '/tokens', { data: 'target', mask: 'shown' });
    const { nonce, id: sessionId } = await post(await app.makeKey(of.id, 'public', ['token:create']), '/sessions');
    const templateId = (await app.call('GET', '/application-templates', { key: of.key })).json[0].id;
    const further = await Promise.all(TRIALS.map(({ makeTargets: make }) => make?.(app, of)));
    return Object.assign({ applicationId, keyId, tokenId, nonce, sessionId, templateId }, ...further);
  }

  function call(browser: Browser, { method, path, params, body }: TriedRoute, targets: Targets, tenantId = tenant.id) {
    const values = params?.(targets) ?? {};
    const address = path.replace(/:([a-z_]+)/g, (_, name: string) => values[name] ?? assert.fail(`${path}: ${name}`));
    return browser.call(method, address, body?.(targets), { 'SVC-TENANT-ID': tenantId });
  }

  /** Time passes, and what is over by then is gone at once: the sweeper would take it at a moment of its own. */
  async function pass(ms: number): Promise<void> {
    clock.advance(ms);
    await app.db.owner.query('DELETE FROM sessions WHERE expires_at <= $1', [new Date(clock.nowMs())]);
  }

  /** Signed in, and through the first act in the tenant, which has an entry of its own. */
  async function enter(role: MemberRole, at = tenant): Promise<Browser> {
    const { browser } = await makePerson(app, at.id, role);
    assert.equal((await browser.call('GET', '/roles', undefined, { 'SVC-TENANT-ID': at.id })).status, 200);
    return browser;
  }

  type Expected = readonly [status: number, code: string];

  /** Tries the routes for which something is expected; all are refused, and none leaves a trace. */
  async function assertRefused(
    browser: Browser,
    expected: (route: TriedRoute) => Expected | undefined,
  ): Promise<number> {
    const untouched = await storedDigest(app, tenant);
    let refused = 0;
    for (const route of ROUTES) {
      const wanted = expected(route);
      if (wanted === undefined) continue;
      const { status, json, headers } = await call(browser, route, lasting);
      assert.deepEqual([status, json?.code], wanted, nameOf(route));
      // Where the cookie was looked at, no page of another origin reads the answer.
      if (isForUsers(route)) assert.equal(headers.get('access-control-allow-origin'), null, nameOf(route));
      refused += 1;
    }
    assert.equal(await storedDigest(app, tenant), untouched, 'a refused request changed something');
    return refused;
  }

  const NO_KEY: Expected = [401, 'missing_api_key'];
  /** Routes for users answer this, and the others do not look at a cookie. */
  const everywhere = (expected: Expected) => (route: TriedRoute) => (isForUsers(route) ? expected : NO_KEY);

  it('admits users by its records exactly where they can hold what a route asks for, and on no stream or page', () => {
    const users = ROUTES.filter(isForUsers).map(nameOf).sort();
    const admitting = idleRoutesOfAnyKind(app).filter(({ admits }) => admits !== 'anyone' && admits.includes('user'));
    const names = admitting.flatMap((route) => methodsOf(route).map((method) => nameOf({ method, path: route.path })));
    assert.deepEqual(names.sort(), users);
  });

  it('asks for a fresh sign-in where keys, roles and invitations are made and the tenant ends', () => {
    for (const name of STEPPED_UP) assert.ok(stepUps.has(name), name);
  });

  for (const role of MEMBER_ROLES) {
    it(`${role}, signed in just now: success where the role allows it, 403 and no trace elsewhere, 401 on routes of keys`, async () => {
      const browser = await enter(role);
      await assertRefused(browser, (route) => {
        if (!isForUsers(route)) return NO_KEY;
        return isOpenTo(role, route) ? undefined : [403, 'permission_denied'];
      });
      for (const route of ROUTES.filter((one) => isForUsers(one) && isOpenTo(role, one) && !one.endsTenant)) {
        const isSpent = route.method !== 'GET' && !route.leavesTarget;
        const { status, headers, text } = await call(browser, route, isSpent ? await makeTargets(tenant) : lasting);
        assert.equal(status, route.status, `${nameOf(route)} ${text}`);
        assert.equal(headers.get('access-control-allow-origin'), null, nameOf(route));
      }
    });

    it(`${role}, signed in ten minutes ago: 403 step_up_required where the route asks for more, the same elsewhere`, async () => {
      const browser = await enter(role);
      await pass(FRESH_MS);
      const stale = await assertRefused(browser, (route) => {
        const asksMore = isForUsers(route) && isOpenTo(role, route) && stepUps.has(nameOf(route));
        return asksMore ? [403, 'step_up_required'] : undefined;
      });
      assert.ok(role === 'READ_ONLY' ? stale === 0 : stale >= STEPPED_UP.length - 1);
      for (const route of ROUTES.filter((one) => isForUsers(one) && isOpenTo(role, one) && !stepUps.has(nameOf(one)))) {
        if (route.method !== 'GET') continue;
        assert.equal((await call(browser, route, lasting)).status, route.status, nameOf(route));
      }
    });
  }

  it('204 for the owner who ends the tenant, fresh; 403 when that sign-in is old', async () => {
    const doomed = await app.makeTenant();
    const browser = await enter('OWNER', doomed);
    const end = () => browser.call('DELETE', '/tenants/self', undefined, { 'SVC-TENANT-ID': doomed.id });
    await pass(FRESH_MS);
    assert.equal((await end()).json.code, 'step_up_required');
    assert.equal((await browser.call('POST', '/portal/api/step-up', { password: PASSWORD })).status, 200);
    assert.equal((await end()).status, 204);
    assert.equal((await browser.call('GET', '/roles', undefined, { 'SVC-TENANT-ID': doomed.id })).status, 404);
  });

  it('404 for the owner of another tenant, as for a tenant that is nobody’s; 401 on routes of keys', async () => {
    const browser = await enter('OWNER', await app.makeTenant());
    await assertRefused(browser, everywhere([404, 'not_found']));
  });

  it('404 for what is ours in the name of another tenant, and nothing of ours changes', async () => {
    const other = await app.makeTenant();
    const browser = await enter('OWNER', other);
    const untouched = await storedDigest(app, tenant);
    const onOurs = ROUTES.filter((route) => isForUsers(route) && route.path.includes(':id'));
    for (const route of onOurs.filter(({ path }) => !path.startsWith('/application-templates/'))) {
      const { status, json } = await call(browser, route, lasting, other.id);
      assert.deepEqual([status, json.code], [404, 'not_found'], nameOf(route));
    }
    assert.equal(await storedDigest(app, tenant), untouched);
  });

  it('404 for a user who is no member of anything', async () => {
    const email = 'nobody.in.particular@example.com';
    await givePassword(app, await makeUser(app, email));
    const browser = openBrowser(app);
    assert.equal((await browser.call('POST', SIGN_IN, { email, password: PASSWORD })).status, 200);
    await assertRefused(browser, everywhere([404, 'not_found']));
  });

  it('401 for a user who was locked out after signing in', async () => {
    const member = await makeMember(app, tenant.id, 'OWNER');
    await givePassword(app, member.userId);
    const browser = openBrowser(app);
    await browser.call('POST', SIGN_IN, { email: member.email, password: PASSWORD });
    await app.db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [member.userId]);
    await assertRefused(browser, everywhere([401, 'invalid_portal_session']));
  });

  for (const [how, end] of [
    ['that was signed out of', (browser: Browser) => browser.call('POST', '/portal/api/sign-out')],
    ['that nobody used for 8 hours', () => pass(8 * HOUR_MS)],
  ] as const) {
    it(`401 for the owner with a session ${how}`, async () => {
      const browser = await enter('OWNER');
      const { cookie } = browser;
      await end(browser);
      browser.cookie = cookie;
      await assertRefused(browser, everywhere([401, 'invalid_portal_session']));
    });
  }

  it('never shows settings or keys of a Proxy to the owner ten minutes after the sign-in, on no route that answers', async () => {
    const browser = await enter('OWNER');
    const post = async (path: string, body: object) => (await app.call('POST', path, { key: tenant.key, body })).json;
    const configuration = { TOKEN: 'canary-of-a-setting' };
    const reactor = await post('/reactors', { name: 'R', code: 'module.exports = () => {}', configuration });
    const proxy = await post('/proxies', { name: 'P', destination_url: 'https://a.example', configuration });
    const targets = { ...lasting, reactorId: reactor.id, proxyId: proxy.id };
    const shownBy = async () => {
      const shown: string[] = [];
      for (const route of ROUTES.filter((one) => one.method === 'GET' && isForUsers(one))) {
        const { text } = await call(browser, route, targets);
        if (text.includes('canary-of-a-setting') || text.includes(proxy.key)) shown.push(nameOf(route));
      }
      return shown.sort();
    };
    assert.deepEqual(await shownBy(), ['GET /proxies', 'GET /proxies/:id', 'GET /reactors', 'GET /reactors/:id']);
    await pass(FRESH_MS);
    assert.deepEqual(await shownBy(), []);
  });

  it('never shows token data: what the owner reads holds none of it, on no route that answers', async () => {
    const browser = await enter('OWNER');
    const tokens = await app.makeKey(tenant.id, 'private', ['token:create']);
    const body = { data: 'canary-of-a-token', mask: 'canary-of-a-mask' };
    const { json } = await app.call('POST', '/tokens', { key: tokens, body });
    const targets = { ...lasting, tokenId: json.id };
    let answered = 0;
    for (const route of ROUTES.filter(({ method, path }) => method === 'GET' || path.endsWith('/preview'))) {
      const { status, text } = await call(browser, route, targets);
      if (status < 300) answered += 1;
      assert.equal(/canary-of-a-(token|mask)/.test(text), false, nameOf(route));
    }
    assert.ok(answered > 20);
    for (const path of ['/proxy/x', '/proxy']) {
      const answer = await browser.call('GET', path, undefined, {
        'SVC-TENANT-ID': tenant.id,
        'SVC-PROXY-URL': app.baseUrl,
      });
      assert.equal(answer.status, 401, path);
    }
  });
});
