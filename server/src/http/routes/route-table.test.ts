import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { permissionsIn } from '../../access/authorize.js';
import { isTokenPermission, permissionsOf } from '../../access/permissions.js';
import { SLICES } from '../../resources.js';
import { idleRoutes } from '../../testing/idle-routes.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { operatorRoutes } from '../operator-routes.js';
import { limitsByPath } from './limits-by-path-fixture.js';
import type { RouteRecord } from './route.js';

/** What the specification gives: method and path, and what they need. */
const SPECIFIED: Readonly<Record<string, string>> = {
  'GET /permissions': 'any key',
  'GET /logs': 'log:read',
  'GET /logs/entity-types': 'log:read',
  'GET /tenants/self': 'tenant:read',
  'PUT /tenants/self': 'tenant:update',
  'DELETE /tenants/self': 'tenant:delete',
  'GET /tenants/self/reports/usage': 'report:read',
};

const KINDS_OF_KEY = ['any key', 'any application key', 'public application key', 'private application key'];
/** Success is all they have to say. */
const SILENT = ['POST /sessions/authorize'];
/** Where one of two permissions is enough, written out again. */
const EITHER = {
  'POST /tenants/self/invitations/:id/resend': 'tenant:invitation:create and tenant:invitation:update',
  'POST /proxies/preview': 'token:use or proxy:update',
  'POST /proxies/:id/preview': 'token:use or proxy:update',
};
/** What came of a use belongs to whoever may use. */
const RESULTS = ['GET /reactors/:id/results/:request_id'];

const ANY_ID = '4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10';

function nameOf({ method, path }: RouteRecord): string {
  return `${method} ${path}`;
}

function needsPermission({ permission }: RouteRecord): boolean {
  return permissionsIn(permission).length > 0;
}

/** An address the route answers to. */
function addressOf({ path }: RouteRecord): string {
  return path.replace(/:[a-z_]+/g, ANY_ID);
}

describe('the route table', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let tenantRoutes: readonly RouteRecord[];
  let publicRoutes: readonly RouteRecord[];
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    const refuse = () => Promise.reject(new Error('nothing is called here'));
    tenantRoutes = idleRoutes(app);
    publicRoutes = operatorRoutes(
      { version: '0', reactors: () => ({ status: 'starting' }), checkReady: refuse },
      tenantRoutes,
    );
  });
  after(() => app.close());

  const allRoutes = () => [...tenantRoutes, ...publicRoutes];

  it('is what the server runs: its API document lists the same routes', async () => {
    const { json } = await app.call('GET', '/openapi.json');
    const served = Object.entries<object>(json.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{([a-z_]+)\}/g, ':$1')}`),
    );
    assert.deepEqual(served.sort(), allRoutes().map(nameOf).sort());
  });

  it('holds each method and path once', () => {
    const names = allRoutes().map(nameOf);
    assert.equal(new Set(names).size, names.length);
  });

  it('holds every specified endpoint with the permission it was given', () => {
    const permissions = new Map(tenantRoutes.map((route) => [nameOf(route), route.permission]));
    for (const [name, permission] of Object.entries(SPECIFIED)) assert.equal(permissions.get(name), permission, name);
  });

  it('names a permission of the catalogue or a kind of key; only operator routes are public', () => {
    for (const route of tenantRoutes) {
      assert.ok(KINDS_OF_KEY.includes(route.permission) || needsPermission(route), nameOf(route));
    }
    for (const route of publicRoutes) assert.equal(route.permission, 'public', nameOf(route));
  });

  it('takes one of two permissions for enough on previews alone, and asks for two where an invitation is sent again', () => {
    const either = tenantRoutes.filter(({ permission }) => permissionsIn(permission).length > 1);
    assert.deepEqual(Object.fromEntries(either.map((route) => [nameOf(route), route.permission])), EITHER);
  });

  it('admits anyone exactly where it is public, and sessions only where they can hold what it asks for', () => {
    for (const { permission, admits, ...route } of allRoutes()) {
      assert.equal(admits === 'anyone', permission === 'public', route.path);
      if (admits === 'anyone' || !admits.includes('session')) continue;
      assert.ok(permission === 'any key' || permissionsIn(permission).some(isTokenPermission), route.path);
    }
  });

  it('admits users exactly where a management permission or any key is asked for', () => {
    for (const { admits, path, permission } of allRoutes()) {
      if (admits === 'anyone') continue;
      const isOpen = permission === 'any key' || permissionsIn(permission).some((name) => !isTokenPermission(name));
      assert.equal(admits.includes('user'), isOpen, path);
    }
  });

  it('asks for a read permission exactly where nothing is changed', () => {
    for (const route of tenantRoutes.filter(needsPermission)) {
      if (route.method === 'GET' && !RESULTS.includes(nameOf(route)))
        assert.match(route.permission, /:read$/, nameOf(route));
      if (route.method === 'PUT' || route.method === 'DELETE') assert.doesNotMatch(route.permission, /:read$/);
    }
  });

  it('declares the limits that were specified for its method and path', () => {
    for (const route of allRoutes()) {
      const counted = limitsByPath(route.method, route.path, false).map(({ name }) => name);
      assert.deepEqual(['global', ...route.limits], counted, nameOf(route));
    }
  });

  it('declares no response for a 204, and an address only for what it made', () => {
    for (const route of allRoutes()) {
      if (route.status === 204) assert.equal(route.response, undefined, nameOf(route));
      if (route.location) assert.deepEqual([route.method, route.status], ['POST', 201], nameOf(route));
    }
  });

  it('declares what its input is: a schema or any JSON, and secrets only of a body it sends', () => {
    for (const route of allRoutes()) {
      assert.ok(!(route.body && route.anyBody), nameOf(route));
      if (route.optionalBody) assert.ok(route.body ?? route.anyBody, nameOf(route));
      if (route.secretFields) assert.ok(route.response && route.method === 'POST', nameOf(route));
    }
  });

  it('declares a response exactly where there is a body', () => {
    for (const route of allRoutes()) {
      const isEmpty = route.status === 204 || SILENT.includes(nameOf(route));
      assert.equal(route.response === undefined, isEmpty, nameOf(route));
    }
  });

  it('declares what auditing writes wherever a permission is needed, from the events that slices declare', () => {
    const events = new Set(SLICES.flatMap((slice) => slice.events));
    for (const route of tenantRoutes.filter(needsPermission)) {
      assert.ok(route.audit, nameOf(route));
      assert.equal(route.audit.onDenied.operation, 'denied', nameOf(route));
      assert.ok(events.has(route.audit.onDenied), nameOf(route));
      const { onRead } = route.audit;
      if (onRead) assert.equal(onRead.operation, 'read', nameOf(route));
      if (onRead) assert.ok(events.has(onRead), nameOf(route));
      if (onRead) assert.equal(route.method, 'GET', 'a change writes its own entry');
    }
  });

  it('declares what full auditing writes for each read of a management entity', () => {
    const reads = tenantRoutes.filter(({ method, path }) => method === 'GET' && path === '/tenants/self');
    assert.equal(reads.length, 1);
    for (const route of reads) assert.ok(route.audit?.onRead, nameOf(route));
  });

  it('has a tag, a summary and a description for a person to read', () => {
    for (const route of allRoutes()) {
      for (const text of [route.tag, route.summary, route.description])
        assert.match(text, /^[A-Z].{2,}/, nameOf(route));
    }
  });

  it('has plain paths: no trailing slash, no capitals, parameters by name', () => {
    for (const { path } of allRoutes()) assert.match(path, /^(\/(:[a-z_]+|[a-z0-9.-]+))+$/);
  });

  it('401 without a key, with an empty one and with a wrong one, on every route that is not public', async () => {
    for (const route of tenantRoutes) {
      const expected = { missing_api_key: [{}, { key: '' }], invalid_api_key: [{ key: 'wrong' }] };
      for (const [code, attempts] of Object.entries(expected)) {
        for (const options of attempts) {
          const { status, json } = await app.call(route.method, addressOf(route), options);
          assert.equal(status, 401, nameOf(route));
          assert.equal(json.code, code, nameOf(route));
        }
      }
    }
  });

  it('403 that names the permission, on every route that needs one, for a key that holds all others', async () => {
    for (const route of tenantRoutes.filter(needsPermission)) {
      const enough = permissionsIn(route.permission);
      const others = permissionsOf('management').filter((permission) => !enough.includes(permission));
      const key = await app.makeKey(tenant.id, 'management', others);
      const { status, json } = await app.call(route.method, addressOf(route), { key });
      assert.equal(status, 403, nameOf(route));
      assert.equal(json.code, 'permission_denied');
      assert.ok(json.detail.includes(route.permission), nameOf(route));
    }
  });

  it('200 without a key on every public route', async () => {
    for (const route of publicRoutes) {
      assert.equal((await app.call(route.method, addressOf(route))).status, 200, nameOf(route));
    }
  });
});
