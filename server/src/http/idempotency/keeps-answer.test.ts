import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { idleRoutes } from '../../testing/idle-routes.js';
import { keptRows, underKey } from '../../testing/keyed-puts.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { RouteRecord } from '../routes/route.js';
import { keepsAnswer } from '../routes/route.js';

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
  'POST /applications': () => ({
    path: '/applications',
    body: { name: 'A', type: 'private', permissions: ['token:read'] },
  }),
  'PUT /applications/:id': async (app, tenant) => ({
    path: `/applications/${await madeApplication(app, tenant)}`,
    body: { name: 'B', permissions: ['token:read'] },
  }),
  'POST /applications/:id/regenerate': async (app, tenant) => ({
    path: `/applications/${await madeApplication(app, tenant)}/regenerate`,
  }),
  'POST /applications/:id/keys': async (app, tenant) => ({
    path: `/applications/${await madeApplication(app, tenant)}/keys`,
  }),
  'POST /sessions': async (app, tenant) => ({
    path: '/sessions',
    key: await app.makeKey(tenant.id, 'public', ['token:create']),
  }),
  'POST /sessions/authorize': async (app, tenant) => {
    const publicKey = await app.makeKey(tenant.id, 'public', ['token:create']);
    const { json } = await app.call('POST', '/sessions', { key: publicKey });
    const body = { nonce: json.nonce, permissions: ['token:create'] };
    return { path: '/sessions/authorize', body, key: await privateKey(app, tenant) };
  },
  'POST /tokens': async (app, tenant) => ({
    path: '/tokens',
    body: { type: 'token', data: 'x' },
    key: await privateKey(app, tenant),
  }),
  'PATCH /tokens/:id': async (app, tenant) => {
    const key = await privateKey(app, tenant);
    const { json } = await app.call('POST', '/tokens', { key, body: { data: 'x' } });
    return { path: `/tokens/${json.id}`, body: { data: 'y' }, key };
  },
  'POST /tokenize': async (app, tenant) => ({
    path: '/tokenize',
    body: ['x', 1],
    key: await privateKey(app, tenant),
  }),
};

const TOKEN_RIGHTS = ['create', 'read', 'search', 'update'].map((act) => `token:${act}`);

function privateKey(app: TestApp, tenant: TestTenant): Promise<string> {
  return app.makeKey(tenant.id, 'private', TOKEN_RIGHTS);
}

async function madeApplication(app: TestApp, { key }: TestTenant): Promise<string> {
  const body = { name: 'A', type: 'private', permissions: ['token:read'] };
  return (await app.call('POST', '/applications', { key, body })).json.id;
}

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
