// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { idleRoutes } from '../../testing/idle-routes.js';
import { keptRows, underKey } from '../../testing/keyed-puts.js';
import type { SliceTrial } from '../../testing/slice-trial.js';
import { loadTrials } from '../../testing/slice-trial.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { RouteRecord } from '../routes/route.js';
import { keepsAnswer } from '../routes/route.js';

/** How each route that takes an idempotency key is brought to succeed, as its slice tells. */
const SUCCESSES = Object.assign(
  {},
  ...(await loadTrials()).map(({ successes }) => successes),
) as SliceTrial['successes'];

describe('every route that takes an idempotency key', () => {
  let app: TestApp;
  let routes: readonly RouteRecord[];
  before(async () => {
    app = await startTestApp();
    routes = idleRoutes(app).filter(keepsAnswer);
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
