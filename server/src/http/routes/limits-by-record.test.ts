import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { PORTAL_COOKIE } from '../../access/portal-cookie-reader.js';
import type { LimitRow } from '../../limits/catalogue.js';
import { LIMITS } from '../../limits/catalogue.js';
import { idleRoutes } from '../../testing/idle-routes.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { docsPages } from '../openapi/docs-page.js';
import { operatorRoutes } from '../operator-routes.js';
import type { RequestContext } from '../transport/context.js';
import type { AnyRoute } from './any-route.js';
import { homePage } from './home.js';
import { limitsByPath } from './limits-by-path-fixture.js';
import { definePage } from './page-route.js';
import type { Routing } from './routing.js';
import { createRouting, prepare } from './routing.js';
import { defineStream } from './stream-route.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'BREW'];

/** Spellings of paths that are routes, of some that are none, and of some that look like others. */
const PARTS = [
  ...[
    '/',
    '//',
    '/tokens',
    '/tokenize',
    '/detokenize',
    '/v2',
    '/search',
    '/portal',
    '/%70ortal',
    '/Portal',
    '/portals',
  ],
  ...['/%74okens', '/%74%6f%6B%65%6e%73', '/%2574okens', '/tokens%2Fsearch', '/tokens%2fsearch', '/%73earch', '/abc'],
  ...['/4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10', '/logs', '/entity-types', '/tenants/self', '/healthz', '/docs', '/%00'],
  ...['#', '#x', '#%zz', '%', '%zz', '%ff', '%c3', '%23', '%3f', 'é', '.', '/..', '/.', ' ', '*', ';', '/%E2%82%AC'],
];

function routingOf(routes: readonly AnyRoute[]): Routing {
  return createRouting(routes.map((route) => ({ route, prepared: prepare(route, () => {}) })));
}

function limitsOf(routing: Routing, method: string, path: string, cookie?: string, apiKey?: string) {
  // Only these are looked at.
  const request = { method, headers: { cookie } } as IncomingMessage;
  const context = { headers: { apiKey } } as RequestContext;
  return routing.limitsOf(request, context, path, routing.find(path));
}

const namesIn = (rows: readonly LimitRow[]): string => rows.map(({ name }) => name).join(' ');

describe('limits by the record of the route', () => {
  let app: TestApp;
  let routing: Routing;
  before(async () => {
    app = await startTestApp();
    const tenantRoutes = idleRoutes(app);
    const operator = operatorRoutes(
      { version: '0', reactors: () => ({ status: 'starting' }), checkReady: () => Promise.resolve() },
      tenantRoutes,
    );
    routing = routingOf([...tenantRoutes, ...operator, homePage(), ...docsPages()]);
  });
  after(() => app.close());

  function assertAsByPath(method: string, path: string): void {
    const rows = limitsOf(routing, method, path);
    assert.equal(namesIn(rows), namesIn(limitsByPath(method, path, false)), `${method} ${path}`);
    assert.equal(rows[0], LIMITS.global);
    assert.ok(Object.isFrozen(rows));
    assert.equal(limitsOf(routing, method, path), rows, 'the arrays are shared');
  }

  it('are those of the table by path, for every combination of two spellings and method', () => {
    for (const method of METHODS) {
      for (const first of ['', ...PARTS]) {
        for (const second of ['', ...PARTS]) assertAsByPath(method, `${first}${second}`);
      }
    }
  });

  it('are those of the table by path, whatever is sent', () => {
    const path = fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => `/${text.replaceAll('?', '')}`),
      fc.array(fc.constantFrom(...PARTS), { maxLength: 6 }).map((parts) => parts.join('')),
      fc.array(fc.constantFrom(...'/%tokensrcha24f5#. é')).map((parts) => `/${parts.join('')}`),
    );
    fc.assert(fc.property(fc.constantFrom(...METHODS), path, assertAsByPath), { numRuns: 20_000 });
  });

  it('count an API request in portal where a cookie stands in for a key, and only on a route that admits users', () => {
    const base = { methods: ['GET'], permission: 'log:read', limits: ['tokens-list'], bodyBytesMax: 1 } as const;
    const answer = { durationMsMax: 1, handle: () => ({ status: 200, headers: [] }) };
    const own = routingOf([
      defineStream({ ...base, ...answer, path: '/both', admits: ['application', 'user'] }),
      defineStream({ ...base, ...answer, path: '/keys', admits: ['application'] }),
      definePage({
        path: '/portal/*',
        permission: 'public',
        admits: 'anyone',
        limits: [],
        policy: '',
        cache: 'never',
        find: () => undefined,
      }),
    ]);
    const cookie = `${PORTAL_COOKIE}=x`;
    assert.equal(namesIn(limitsOf(own, 'GET', '/both')), 'global tokens-list');
    assert.equal(namesIn(limitsOf(own, 'GET', '/both', cookie)), 'global portal tokens-list');
    assert.equal(namesIn(limitsOf(own, 'GET', '/both', cookie, 'key')), 'global tokens-list');
    assert.equal(namesIn(limitsOf(own, 'GET', '/keys', cookie)), 'global tokens-list');
    assert.equal(namesIn(limitsOf(own, 'POST', '/both', cookie)), 'global');
    for (const path of ['/portal', '/portal/', '/portal/a/b']) {
      assert.equal(namesIn(limitsOf(own, 'GET', path)), 'global portal', path);
      assert.equal(namesIn(limitsOf(own, 'POST', path)), 'global portal', path);
    }
  });
});
