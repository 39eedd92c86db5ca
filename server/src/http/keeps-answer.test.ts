import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tenantApiRoutes } from '../resources.js';
import { keptRows, underKey } from '../testing/keyed-puts.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import type { RouteRecord } from './route.js';
import { keepsAnswer } from './route.js';

/** A request its route answers with success. */
interface Success {
  readonly path: string;
  readonly body?: unknown;
  /** The tenant's management key without it. */
  readonly key?: string;
}

type Prepare = (app: TestApp, tenant: TestTenant) => Success | Promise<Success>;

/** How each route that takes an idempotency key is brought to succeed. A new route needs its line here. */
const SUCCESSES: Readonly<Record<string, Prepare>> = {
  'PUT /tenants/self': () => ({ path: '/tenants/self', body: { name: 'Renamed' } }),
};

describe('every route that takes an idempotency key', () => {
  let app: TestApp;
  let routes: readonly RouteRecord[];
  before(async () => {
    app = await startTestApp();
    const { database, keyStore } = app;
    const refuse = () => Promise.reject(new Error('nothing is called here'));
    const tenants = { get: refuse, update: refuse, delete: refuse };
    const { systemKeys } = keyStore;
    routes = tenantApiRoutes({ database, systemKeys, tenants, includedMonthlyActiveTokens: 0 }).filter(keepsAnswer);
  });
  after(() => app.close());

  it('is tried here', () => {
    assert.deepEqual(routes.map(({ method, path }) => `${method} ${path}`).sort(), Object.keys(SUCCESSES).sort());
  });

  for (const [name, prepare] of Object.entries(SUCCESSES)) {
    it(`${name} keeps its answer and gives it again`, async () => {
      const [method = ''] = name.split(' ');
      const tenant = await app.makeTenant();
      const { path, key = tenant.key, ...input } = await prepare(app, tenant);
      const call = () => app.call(method, path, { key, ...input, headers: underKey('k') });
      const first = await call();
      assert.ok(first.status >= 200 && first.status < 300, `${first.status} ${first.text}`);
      assert.equal((await keptRows(app, tenant.id)).length, 1);
      const again = await call();
      assert.deepEqual([again.status, again.text], [first.status, first.text]);
      assert.equal(again.headers.get('location'), first.headers.get('location'));
    });
  }
});
