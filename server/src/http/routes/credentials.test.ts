import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { UserSessions } from '../../access/portal-cookie-reader.js';
import { createPortalCookieReader, PORTAL_COOKIE, portalCookieIn } from '../../access/portal-cookie-reader.js';
import type { User } from '../../access/principal.js';
import { AppError } from '../../kernel/errors.js';
import type { RouteServer } from '../../testing/route-server.js';
import { CALLER, startRouteServer } from '../../testing/route-server.js';
import type { RouteRecord } from './route.js';
import { defineRoute } from './route.js';

const USER: User = {
  kind: 'user',
  tenantId: CALLER.tenantId,
  actor: { type: 'user', id: '7d4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a13' },
  permissions: new Set(['tenant:read']),
  grants: [],
  role: 'READ_ONLY',
  sessionId: '8d4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a14',
  isFresh: true,
};
const COOKIE = `${PORTAL_COOKIE}=good`;

const base = {
  method: 'GET',
  limits: [],
  tag: 'T',
  summary: 'S',
  description: 'D',
  status: 204,
} as const;

describe('which credential opens which route', () => {
  let asked: string[];
  const seen: (string | undefined)[] = [];
  const see = ({ principal }: { readonly principal: { readonly kind: string } | undefined }): void => {
    seen.push(principal?.kind);
  };
  const ROUTES: readonly RouteRecord[] = [
    defineRoute({ ...base, path: '/keys', permission: 'any key', admits: ['application', 'session'], handle: see }),
    defineRoute({ ...base, path: '/users', permission: 'tenant:read', admits: ['user'], handle: see }),
    defineRoute({ ...base, path: '/both', permission: 'any key', admits: ['application', 'user'], handle: see }),
    defineRoute({ ...base, path: '/public', permission: 'public', admits: 'anyone', handle: see }),
  ];
  const sessions: UserSessions = {
    async find(secret, tenantId) {
      asked.push(`cookie ${secret.reveal()} ${tenantId}`);
      if (tenantId === undefined) throw new AppError('tenant_required', 'Say which tenant is meant.');
      return secret.reveal() === 'good' ? USER : undefined;
    },
  };
  const authenticate = (key: string | undefined) => {
    asked.push(`key ${key}`);
    if (key === undefined) throw new AppError('missing_api_key', 'The API key is missing.');
    if (key !== 'good') throw new AppError('invalid_api_key', 'The API key is not valid.');
    return CALLER;
  };
  let server: RouteServer;
  let closed: RouteServer;
  before(async () => {
    server = await startRouteServer(ROUTES, { authenticate, readPortalCookie: createPortalCookieReader(sessions) });
    closed = await startRouteServer(ROUTES, { authenticate });
  });
  after(() => Promise.all([server.close(), closed.close()]));
  beforeEach(() => {
    asked = [];
    seen.length = 0;
  });

  const tenant = { 'SVC-TENANT-ID': 'a tenant' };
  const get = (path: string, key?: string, headers: Record<string, string> = {}, of = server) =>
    of.call('GET', path, { headers, ...(key !== undefined && { key }) });

  it('401 for a cookie on a route of keys: nobody looks at it', async () => {
    const { status, json } = await get('/keys', undefined, { ...tenant, Cookie: COOKIE });
    assert.deepEqual([status, json.code, asked], [401, 'missing_api_key', ['key undefined']]);
    assert.equal((await get('/keys', 'good', { Cookie: COOKIE })).status, 204);
    assert.deepEqual(seen, ['application']);
  });

  it('401 for a key on a route of users: nobody looks at it', async () => {
    const { status, json } = await get('/users', 'good');
    assert.deepEqual([status, json.code, asked], [401, 'invalid_portal_session', []]);
    assert.doesNotMatch(json.detail, /API-KEY/);
    assert.deepEqual(seen, []);
  });

  it('204 for a good cookie with a tenant on a route of users, 401 for any other, 400 without a tenant', async () => {
    const by = (cookie: string, headers: Record<string, string> = tenant) =>
      get('/users', undefined, { ...headers, Cookie: cookie });
    assert.equal((await by(`a=b; ${COOKIE}; c=d`)).status, 204);
    assert.deepEqual([seen, asked], [['user'], ['cookie good a tenant']]);
    for (const cookie of [`${PORTAL_COOKIE}=bad`, `${PORTAL_COOKIE}=`, `x${COOKIE}`, `${COOKIE}; ${COOKIE}`, 'a=b']) {
      const { status, json } = await by(cookie);
      assert.deepEqual([status, json.code], [401, 'invalid_portal_session'], cookie);
    }
    assert.equal((await by(COOKIE, {})).json.code, 'tenant_required');
  });

  it('400 for a key and a cookie together where both could open the route, whichever is good', async () => {
    for (const [key, cookie] of [
      ['good', COOKIE],
      ['bad', COOKIE],
      ['good', `${PORTAL_COOKIE}=bad`],
    ] as const) {
      for (const path of ['/both', '/users']) {
        const { status, json } = await get(path, key, { ...tenant, Cookie: cookie });
        assert.deepEqual([status, json.code], [400, 'ambiguous_credentials'], path);
      }
    }
    assert.deepEqual([seen, asked], [[], []]);
  });

  it('204 for either alone where both are admitted, and only with the key is the answer for other origins', async () => {
    const byKey = await get('/both', 'good');
    const byCookie = await get('/both', undefined, { ...tenant, Cookie: COOKIE });
    assert.deepEqual([byKey.status, byCookie.status, seen], [204, 204, ['application', 'user']]);
    const originsOf = ({ headers }: { headers: Headers }) => headers.get('access-control-allow-origin');
    assert.deepEqual([originsOf(byKey), originsOf(byCookie)], ['*', null]);
    assert.equal(originsOf(await get('/users', undefined, { ...tenant, Cookie: COOKIE })), null);
    assert.equal(originsOf(await get('/users')), null, 'a refusal');
    assert.equal(originsOf(await get('/public')), null);
    for (const answer of [byKey, byCookie]) assert.equal(answer.headers.get('access-control-allow-credentials'), null);
  });

  it('401 for every cookie while there are no sessions of users to ask', async () => {
    const { status, json } = await get('/users', undefined, { ...tenant, Cookie: COOKIE }, closed);
    assert.deepEqual([status, json.code], [401, 'invalid_portal_session']);
    assert.deepEqual(seen, []);
  });

  it('nobody is known on a public route, whatever is sent', async () => {
    assert.equal((await get('/public', 'good', { Cookie: COOKIE })).status, 204);
    assert.deepEqual([seen, asked], [[undefined], []]);
  });

  it('the value of the cookie prints as nothing', () => {
    const secret = portalCookieIn(COOKIE);
    assert.equal(secret?.reveal(), 'good');
    assert.doesNotMatch(JSON.stringify({ secret }), /good/);
    assert.equal(portalCookieIn(undefined), undefined);
  });

  it('a route that does not say whom it admits does not compile, nor one that takes a user for an Application', () => {
    const handle = () => undefined;
    const silent = { ...base, path: '/x', permission: 'any key', handle } as const;
    // @ts-expect-error: `admits` is missing.
    const made: RouteRecord = defineRoute(silent);
    assert.equal(made.admits, undefined);
    const route = defineRoute({
      ...base,
      path: '/x',
      permission: 'any key',
      admits: ['application', 'user'],
      // @ts-expect-error: a user has no Application.
      handle: ({ principal }) => principal.applicationId,
    });
    assert.deepEqual(route.admits, ['application', 'user']);
  });

  it('a permission asked of anyone does not compile, nor a route for keys that asks for nothing', () => {
    const open = { ...base, path: '/x', handle: () => undefined } as const;
    // @ts-expect-error: nobody who stays unknown holds a permission.
    const asking = defineRoute({ ...open, permission: 'token:read', admits: 'anyone' });
    // @ts-expect-error: keys are looked at and nothing is asked of them.
    const careless = defineRoute({ ...open, permission: 'public', admits: ['application'] });
    assert.deepEqual([asking.admits, careless.permission], ['anyone', 'public']);
  });
});
