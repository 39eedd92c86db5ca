import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RouteRecord } from '../../http/routes/route.js';
import { newId } from '../../kernel/ids.js';
import type { Answer } from '../../testing/http-client.js';
import { idlePortalCalls } from '../../testing/idle-routes.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makePerson, openBrowser } from './portal-fixture.js';

const EVIL = 'https://evil.example';

/** What no answer of a console may lack: a page in a frame, a cache or a log of another site must not have it. */
const HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

function assertClosed({ headers }: Answer, what: string): void {
  const found = Object.fromEntries(Object.keys(HEADERS).map((name) => [name, headers.get(name)]));
  assert.deepEqual(found, HEADERS, what);
  const shared = [...headers.keys()].filter((name) => name.startsWith('access-control-'));
  assert.deepEqual(shared, [], what);
}

describe('headers of every answer under /portal/api', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let routes: readonly RouteRecord[];
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    routes = idlePortalCalls(app);
  });
  after(() => app.close());

  const addressOf = ({ path }: RouteRecord) => path.replace(/:[a-z_]+/g, newId());
  const nameOf = ({ method, path }: RouteRecord) => `${method} ${path}`;
  const bodyOf = ({ body }: RouteRecord) => (body === undefined ? undefined : {});

  it('are there whoever asks: nobody, another origin, another site, somebody signed in', async () => {
    assert.ok(routes.length > 20);
    for (const route of routes) {
      const address = addressOf(route);
      const { browser } = await makePerson(app, tenant.id, 'ADMIN');
      const body = bodyOf(route);
      assertClosed(await browser.call(route.method, address, body), nameOf(route));
      const other = await browser.call(route.method, address, body, { Origin: EVIL });
      // Only an issuer sends somebody here, and what it says there proves itself.
      if (route.portal !== 'coming back') assert.equal(other.status, 403, nameOf(route));
      assertClosed(other, `${nameOf(route)} of another origin`);
      assertClosed(await openBrowser(app).call(route.method, address, body), `${nameOf(route)} of nobody`);
      const sent = { ...(body && { body }), headers: { Origin: EVIL } } as const;
      assertClosed(await app.call(route.method, address, sent), `${nameOf(route)} of nobody elsewhere`);
    }
  });

  it('are there on success too, with a body and without one', async () => {
    const { browser } = await makePerson(app, tenant.id, 'ADMIN');
    for (const [method, path, status] of [
      ['GET', '/portal/api/sign-in-options', 200],
      ['GET', '/portal/api/me', 200],
      ['HEAD', '/portal/api/me', 200],
      ['POST', '/portal/api/sign-out', 204],
    ] as const) {
      const answer = await browser.call(method, path);
      assert.equal(answer.status, status, path);
      assertClosed(answer, `${method} ${path}`);
    }
  });

  it('are there on what no route takes, and a preflight is told nothing', async () => {
    for (const path of ['/portal/api/nothing', '/portal/nothing.js', '/%70ortal/api/me', '/portal/api/%zz']) {
      assertClosed(await app.call('GET', path, { headers: { Origin: EVIL } }), path);
    }
    const refused = await app.call('PUT', '/portal/api/sign-in', { headers: { Origin: EVIL } });
    assert.equal(refused.status, 405);
    assertClosed(refused, 'a wrong method');
    for (const route of routes) {
      const headers = { Origin: EVIL, 'Access-Control-Request-Method': route.method };
      assertClosed(await app.call('OPTIONS', addressOf(route), { headers }), `OPTIONS ${route.path}`);
    }
  });

  it('are not on routes of keys, which pages of any origin may read', async () => {
    const { headers } = await app.call('GET', '/tenants/self', { key: tenant.key, headers: { Origin: EVIL } });
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.equal(headers.get('cross-origin-resource-policy'), null);
  });
});
