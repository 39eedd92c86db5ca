import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { generateApiKey } from '../access/api-key.js';
import type { ApplicationType } from '../access/permissions.js';
import { keyMac, rightsMac } from '../access/row-macs.js';
import { operatorAct } from '../audit/entry.js';
import { hashApiKey } from '../crypto/keyed-hash.js';
import { AppError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { createApplication } from '../resources/applications/index.js';
import type { TestApp, TestTenant } from './test-app.js';
import { startTestApp } from './test-app.js';

const TYPES: readonly ApplicationType[] = ['public', 'private', 'management'];

/** Who may hold what, written out again: the product's own table must not be its own judge. */
const HOLDERS: Readonly<Record<string, readonly ApplicationType[]>> = {
  'token:create': ['public', 'private'],
  'token:update': ['public', 'private'],
  ...Object.fromEntries(['read', 'search', 'delete', 'use'].map((act) => [`token:${act}`, ['private'] as const])),
  ...Object.fromEntries(
    [
      ...['tenant:read', 'tenant:update', 'tenant:delete', 'log:read', 'report:read'],
      ...['application', 'reactor', 'proxy'].flatMap((thing) =>
        ['read', 'create', 'update', 'delete'].map((act) => `${thing}:${act}`),
      ),
      ...['read', 'update', 'delete'].map((act) => `tenant:member:${act}`),
      ...['create', 'read', 'update', 'delete'].map((act) => `tenant:invitation:${act}`),
    ].map((name) => [name, ['management'] as const]),
  ),
};

const TEMPLATE_ID = '7d1f3d1c-57a4-4f0e-9a31-0c2a5b6e1a01';
const NEW_APPLICATION = { name: 'A', type: 'private', permissions: ['token:read'] };

interface Route {
  readonly method: string;
  readonly path: string;
  /** Undefined: any key will do. */
  readonly needs: string | undefined;
  readonly status: number;
  readonly body?: object;
}

/**
 * `{application}` is one that is there to be tried on, `{key}` its key. Deleting comes last: it ends what the other routes
 * are tried on.
 */
const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/permissions', needs: undefined, status: 200 },
  { method: 'GET', path: '/logs', needs: 'log:read', status: 200 },
  { method: 'GET', path: '/logs/entity-types', needs: 'log:read', status: 200 },
  { method: 'GET', path: '/tenants/self', needs: 'tenant:read', status: 200 },
  { method: 'GET', path: '/tenants/self/reports/usage', needs: 'report:read', status: 200 },
  { method: 'PUT', path: '/tenants/self', needs: 'tenant:update', status: 200, body: { name: 'Renamed' } },
  { method: 'GET', path: '/application-templates', needs: undefined, status: 200 },
  { method: 'GET', path: `/application-templates/${TEMPLATE_ID}`, needs: undefined, status: 200 },
  { method: 'GET', path: '/applications/key', needs: undefined, status: 200 },
  { method: 'GET', path: '/applications', needs: 'application:read', status: 200 },
  { method: 'GET', path: '/applications/{application}', needs: 'application:read', status: 200 },
  { method: 'GET', path: '/applications/{application}/keys', needs: 'application:read', status: 200 },
  { method: 'GET', path: '/applications/{application}/keys/{key}', needs: 'application:read', status: 200 },
  { method: 'POST', path: '/applications', needs: 'application:create', status: 201, body: NEW_APPLICATION },
  {
    method: 'PUT',
    path: '/applications/{application}',
    needs: 'application:update',
    status: 200,
    body: NEW_APPLICATION,
  },
  { method: 'POST', path: '/applications/{application}/keys', needs: 'application:update', status: 201 },
  { method: 'DELETE', path: '/applications/{application}/keys/{key}', needs: 'application:update', status: 204 },
  { method: 'POST', path: '/applications/{application}/regenerate', needs: 'application:update', status: 200 },
  { method: 'DELETE', path: '/applications/{application}', needs: 'application:delete', status: 204 },
  { method: 'DELETE', path: '/tenants/self', needs: 'tenant:delete', status: 204 },
];

const PAIRS = Object.keys(HOLDERS).flatMap((permission) => TYPES.map((type) => ({ permission, type })));
const isAllowed = (permission: string, type: ApplicationType) => HOLDERS[permission]?.includes(type) ?? false;

describe('authorization', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp();
  });
  after(() => app.close());

  /** The tenant and its log as stored, as one text. */
  async function stored({ id }: TestTenant): Promise<string> {
    const found = await app.db.owner.query(
      `SELECT to_jsonb(t) AS tenant, (SELECT jsonb_agg(l ORDER BY created_at, id) FROM logs l WHERE tenant_id = t.id) AS logs,
              (SELECT jsonb_agg(k ORDER BY kind) FROM tenant_keys k WHERE tenant_id = t.id) AS keys,
              (SELECT jsonb_agg(a ORDER BY id) FROM applications a WHERE tenant_id = t.id) AS applications,
              (SELECT jsonb_agg(k ORDER BY id) FROM api_keys k WHERE tenant_id = t.id) AS api_keys
       FROM tenants t WHERE id = $1`,
      [id],
    );
    return JSON.stringify(found.rows);
  }

  /** Fills in the Application and the key a path is tried on. */
  async function addresses({ id }: TestTenant): Promise<(path: string) => string> {
    const { id: application } = await app.makeApplication(id, 'private', ['token:read']);
    const found = await app.db.owner.query<{ id: string }>('SELECT id FROM api_keys WHERE application_id = $1', [
      application,
    ]);
    return (path) => path.replace('{application}', application).replace('{key}', found.rows[0]?.id ?? '');
  }

  /** An application that nobody could make through the product, with a valid seal all the same. */
  async function smuggleKey(tenantId: string, type: ApplicationType, permissions: readonly string[]): Promise<string> {
    const id = newId();
    const key = generateApiKey(type).reveal();
    const { rowMac, apiKeyPepper } = app.keyStore.systemKeys;
    const mac = rightsMac(rowMac, { tenantId, id, type, permissions, rules: '[]', expiresAt: null });
    await app.db.owner.query(
      `INSERT INTO applications (tenant_id, id, name, type, permissions, mac, created_at)
       VALUES ($1, $2, 'smuggled', $3, $4, $5, now())`,
      [tenantId, id, type, permissions, mac],
    );
    const row = { hash: hashApiKey(apiKeyPepper, key), tenantId, applicationId: id, id: newId(), expiresAt: null };
    await app.db.owner.query(
      'INSERT INTO api_keys (hash, tenant_id, application_id, id, mac, created_at) VALUES ($1, $2, $3, $4, $5, now())',
      [row.hash, tenantId, id, row.id, keyMac(rowMac, row)],
    );
    return key;
  }

  it('has thirty permissions and ninety pairs to try, thirty-two of them allowed', () => {
    assert.equal(PAIRS.length, 90);
    assert.equal(PAIRS.filter(({ permission, type }) => isAllowed(permission, type)).length, 32);
  });

  for (const { permission, type } of PAIRS) {
    const opens = isAllowed(permission, type) ? ROUTES.filter(({ needs }) => needs === permission) : [];
    const opened = ['what any key may do', ...opens.map(({ method, path }) => `${method} ${path}`)].join(', ');
    it(`403 for a ${type} application with only ${permission} everywhere but on ${opened}`, async () => {
      const tenant = await app.makeTenant();
      const make = isAllowed(permission, type) ? app.makeKey : smuggleKey;
      const key = await make(tenant.id, type, [permission]);
      const addressOf = await addresses(tenant);
      for (const route of ROUTES) {
        const { method, path, needs, status, body } = route;
        const untouched = await stored(tenant);
        const answer = await app.call(method, addressOf(path), { key, ...(body && { body }) });
        if (needs === undefined || opens.includes(route)) {
          assert.equal(answer.status, status, path);
          continue;
        }
        assert.deepEqual([answer.status, answer.json.code], [403, 'permission_denied'], path);
        assert.match(answer.json.detail, new RegExp(`\\b${needs}\\b`));
        assert.equal(await stored(tenant), untouched, `${method} ${path} changed something`);
      }
    });
  }

  it('200 and 204 everywhere for a management application with every permission it may hold', async () => {
    const tenant = await app.makeTenant();
    const { key } = tenant;
    const addressOf = await addresses(tenant);
    for (const { method, path, status, body } of ROUTES) {
      const answer = await app.call(method, addressOf(path), { key, ...(body && { body }) });
      assert.equal(answer.status, status, `${method} ${path}`);
    }
  });

  it('403 before the body is looked at: a caller without the right learns nothing about its input', async () => {
    const tenant = await app.makeTenant();
    const key = await app.makeKey(tenant.id, 'management', ['tenant:read']);
    const answer = await app.call('PUT', '/tenants/self', { key, raw: '{' });
    assert.equal(answer.json.code, 'permission_denied');
    const badQuery = await app.call('GET', '/logs?size=0', { key });
    assert.equal(badQuery.json.code, 'permission_denied');
  });
});

describe('making an application', () => {
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const make = (type: ApplicationType, permissions: readonly string[]) =>
    app.database.write(tenant.id, (tx) =>
      createApplication(tx, app.keyStore.systemKeys, operatorAct(Date.now()), { name: 'A', type, permissions }),
    );

  async function rows(): Promise<number> {
    const found = await app.db.owner.query('SELECT 1 FROM applications WHERE tenant_id = $1', [tenant.id]);
    return found.rows.length;
  }

  function refusal(permission: string) {
    return (error: unknown) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.status, 400);
      assert.deepEqual(Object.keys(error.errors ?? {}), ['permissions']);
      assert.ok(error.errors?.permissions?.join().includes(permission));
      return true;
    };
  }

  it('is refused for each of the 58 pairs that are not in the table and done for each of the 32 that are', async () => {
    for (const { permission, type } of PAIRS) {
      const before = await rows();
      if (isAllowed(permission, type)) await make(type, [permission]);
      else await assert.rejects(make(type, [permission]), refusal(permission), `${type} ${permission}`);
      assert.equal(await rows(), before + (isAllowed(permission, type) ? 1 : 0));
    }
  });

  it('is refused as a whole when one of several permissions does not fit or does not exist', async () => {
    const before = await rows();
    await assert.rejects(make('private', ['token:read', 'tenant:read']), refusal('tenant:read'));
    await assert.rejects(make('private', ['token:read', 'token:nonsense']), refusal('token:nonsense'));
    await assert.rejects(make('management', ['Tenant:read']), refusal('Tenant:read'));
    await assert.rejects(make('management', []), refusal('at least one'));
    assert.equal(await rows(), before);
  });
});
