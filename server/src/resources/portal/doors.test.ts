// needs: time

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RouteRecord } from '../../http/routes/route.js';
import { takesBody } from '../../http/routes/route.js';
import { newId } from '../../kernel/ids.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { Answer } from '../../testing/http-client.js';
import { idlePortalCalls } from '../../testing/idle-routes.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Browser } from './portal-fixture.js';
import { makePerson, openBrowser } from './portal-fixture.js';

const FRESH_MS = 10 * 60_000;
const NOT_SIGNED_IN = [401, 'invalid_portal_session'];
const NOT_FRESH = [403, 'step_up_required'];

/** Who may be where, whatever else there is: the records must not be their own judge. */
const FOR_EVERYBODY = [
  ...['sign-in', 'set-up', 'password/forgotten', 'password/reset', 'email/confirm'].map((name) => `POST ${name}`),
  ...['invitations/preview', 'invitations/register'].map((name) => `POST ${name}`),
];
const SIGNED_IN = ['GET me', 'GET sessions', 'POST sign-out', 'POST step-up', 'POST password', 'POST tenants'];
const STEPPED_UP = ['POST email'];

describe('the doors of the calls of the Portal', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  let routes: readonly RouteRecord[];
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
    routes = idlePortalCalls(app);
  });
  after(() => app.close());

  const nameOf = ({ method, path }: RouteRecord) => `${method} ${path}`;
  /** Who comes back from an issuer is taken for nobody as well. */
  const isForAnybody = ({ portal }: RouteRecord) => portal === 'everybody' || portal === 'coming back';
  const verdictOf = ({ status, json }: Answer) => [status, json?.code];

  /** With half a body: whoever gets as far as that is told so, and nothing happens. */
  function knock(browser: Browser, route: RouteRecord, headers: Readonly<Record<string, string>> = {}) {
    const address = route.path.replace(/:[a-z_]+/g, newId());
    if (!takesBody(route)) return browser.call(route.method, address, undefined, headers);
    const cookie = browser.cookie === '' ? {} : { Cookie: browser.cookie };
    return app.call(route.method, address, { raw: '{', headers: { Origin: app.baseUrl, ...cookie, ...headers } });
  }

  function assertLetIn(answer: Answer, route: RouteRecord): void {
    if (takesBody(route)) assert.deepEqual(verdictOf(answer), [400, 'malformed_json'], nameOf(route));
    else assert.ok(answer.status < 500 && ![401, 403].includes(answer.status), `${nameOf(route)} ${answer.text}`);
  }

  it('are those that the calls need', () => {
    const doors = new Map(routes.map((route) => [nameOf(route).replace('/portal/api/', ''), route.portal]));
    for (const name of FOR_EVERYBODY) assert.equal(doors.get(name), 'everybody', name);
    for (const name of SIGNED_IN) assert.equal(doors.get(name), 'signed in', name);
    for (const name of STEPPED_UP) assert.equal(doors.get(name), 'stepped up', name);
    for (const [name, door] of doors) if (name.startsWith('DELETE ')) assert.notEqual(door, 'everybody', name);
    const comingBack = routes.filter(({ portal }) => portal === 'coming back').map(nameOf);
    assert.deepEqual(comingBack, ['GET /portal/api/oidc/callback/:issuer_id'], 'other sites send nobody elsewhere');
  });

  it('are closed to nobody where somebody must be signed in, before the body is read', async () => {
    for (const route of routes) {
      const answer = await knock(openBrowser(app), route);
      if (isForAnybody(route)) assertLetIn(answer, route);
      else assert.deepEqual(verdictOf(answer), NOT_SIGNED_IN, nameOf(route));
    }
  });

  it('are not opened by an API key, nor by a cookie that is none', async () => {
    for (const route of routes.filter((each) => !isForAnybody(each))) {
      const withKey = await knock(openBrowser(app), route, { 'SVC-API-KEY': tenant.key, 'SVC-TENANT-ID': tenant.id });
      assert.deepEqual(verdictOf(withKey), NOT_SIGNED_IN, nameOf(route));
      const browser = openBrowser(app);
      browser.cookie = `__Host-strongroom_session=${'A'.repeat(43)}`;
      assert.deepEqual(verdictOf(await knock(browser, route)), NOT_SIGNED_IN, nameOf(route));
    }
  });

  it('are open to who just signed in', async () => {
    for (const route of routes) {
      const { browser } = await makePerson(app, tenant.id, 'READ_ONLY');
      assertLetIn(await knock(browser, route), route);
    }
  });

  it('ask for more where a sign-in is ten minutes old, and nowhere else', async () => {
    const asking: string[] = [];
    for (const route of routes) {
      const { browser } = await makePerson(app, tenant.id, 'READ_ONLY');
      clock.advance(FRESH_MS);
      const answer = await knock(browser, route);
      if (route.portal === 'stepped up') {
        assert.deepEqual(verdictOf(answer), NOT_FRESH, nameOf(route));
        asking.push(nameOf(route));
      } else assertLetIn(answer, route);
    }
    assert.ok(asking.length > 0);
  });

  it('are closed once the session is over', async () => {
    for (const route of routes.filter((each) => !isForAnybody(each))) {
      const { browser } = await makePerson(app, tenant.id, 'OWNER');
      const { cookie } = browser;
      await browser.call('POST', '/portal/api/sign-out');
      browser.cookie = cookie;
      assert.deepEqual(verdictOf(await knock(browser, route)), NOT_SIGNED_IN, nameOf(route));
    }
  });
});
