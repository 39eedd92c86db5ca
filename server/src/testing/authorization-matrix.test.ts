// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { generateApiKey } from '../access/api-key.js';
import type { ApplicationType } from '../access/permissions.js';
import { keyMac, rightsMac } from '../access/row-macs.js';
import { operatorContext } from '../audit/entry.js';
import { hashApiKey } from '../crypto/keyed-hash.js';
import { AppError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { createApplication } from '../resources/applications/index.js';
import { idleRoutes } from './idle-routes.js';
import { storedDigest } from './isolation-pair.js';
import type { Targets, TriedRoute } from './slice-trial.js';
import { loadTrials } from './slice-trial.js';
import type { TestApp, TestTenant } from './test-app.js';
import { startTestApp } from './test-app.js';

const TYPES: readonly ApplicationType[] = ['public', 'private', 'management'];

/** Who may hold what, written out again: the product's own table must not be its own judge. */
const HOLDERS: Readonly<Record<string, readonly ApplicationType[]>> = {
  'token:create': ['public', 'private'],
  'token:update': ['public', 'private'],
  ...Object.fromEntries(['read', 'search', 'delete', 'use'].map((verb) => [`token:${verb}`, ['private'] as const])),
  ...Object.fromEntries(
    [
      ...['tenant:read', 'tenant:update', 'tenant:delete', 'log:read', 'report:read'],
      ...['application', 'reactor', 'proxy'].flatMap((thing) =>
        ['read', 'create', 'update', 'delete'].map((verb) => `${thing}:${verb}`),
      ),
      ...['read', 'update', 'delete'].map((verb) => `tenant:member:${verb}`),
      ...['create', 'read', 'update', 'delete'].map((verb) => `tenant:invitation:${verb}`),
    ].map((name) => [name, ['management'] as const]),
  ),
};

const TRIALS = await loadTrials();
/** Every route, as its slice writes it out again. */
const ROUTES = TRIALS.flatMap(({ routes }) => routes);
/** Deleting the tenant would end what the other routes are tried on. */
const ON_THE_TENANT = ROUTES.filter(({ endsTenant }) => !endsTenant);

const PAIRS = Object.keys(HOLDERS).flatMap((permission) => TYPES.map((type) => ({ permission, type })));
const TOKEN_PERMISSIONS = Object.keys(HOLDERS).filter((permission) => permission.startsWith('token:'));
const isAllowed = (permission: string, type: ApplicationType) => HOLDERS[permission]?.includes(type) ?? false;

/** What the holder of these may do, by the table above. */
function isOpen({ needs }: TriedRoute, holder: ApplicationType | 'session', permissions: readonly string[]): boolean {
  if (needs === 'any key') return true;
  if (needs === 'any application key') return holder !== 'session';
  if (needs.endsWith('application key')) return needs.startsWith(holder);
  if (needs.includes(' and ')) return needs.split(' and ').every((permission) => permissions.includes(permission));
  return needs.split(' or ').some((permission) => permissions.includes(permission));
}

describe('authorization', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let templateId: string;
  let privateKey: string;
  let publicKey: string;
  let lasting: Targets;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    const reveal = { priority: 1, container: '/', transform: 'reveal', permissions: TOKEN_PERMISSIONS } as const;
    privateKey = await app.makeKey(tenant.id, 'private', TOKEN_PERMISSIONS, [reveal]);
    publicKey = await app.makeKey(tenant.id, 'public', ['token:create']);
    templateId = (await app.call('GET', '/application-templates', { key: tenant.key })).json[0].id;
    lasting = await makeTargets();
  });
  after(() => app.close());

  async function makeTargets(): Promise<Targets> {
    const { id: applicationId } = await app.makeApplication(tenant.id, 'private', ['token:read']);
    const post = async (key: string, path: string, body = {}) => (await app.call('POST', path, { key, body })).json;
    const { id: keyId } = await post(tenant.key, `/applications/${applicationId}/keys`);
    const { id: tokenId } = await post(privateKey, '/tokens', { data: 'target', mask: 'shown' });
    const { nonce, id: sessionId } = await post(publicKey, '/sessions');
    const further = await Promise.all(TRIALS.map(({ makeTargets: make }) => make?.(app, tenant)));
    return Object.assign({ applicationId, keyId, tokenId, nonce, sessionId, templateId }, ...further);
  }

  async function makeSessionKey(authorizer: string, permissions: readonly string[]): Promise<string> {
    const { json } = await app.call('POST', '/sessions', { key: publicKey });
    const body = { nonce: json.nonce, permissions };
    assert.equal((await app.call('POST', '/sessions/authorize', { key: authorizer, body })).status, 200);
    return json.session_key;
  }

  function call({ method, path, params, body }: TriedRoute, key: string | undefined, targets: Targets, raw?: string) {
    const values = params?.(targets) ?? {};
    const address = path.replace(/:([a-z_]+)/g, (_, name: string) => values[name] ?? assert.fail(`${path}: ${name}`));
    const sent = raw === undefined ? body && { body: body(targets) } : { raw };
    return app.call(method, address, { ...(key !== undefined && { key }), ...sent });
  }

  /** Tries every route: what is closed first, all of it without a trace, then what is open. */
  async function tryAll(key: string, holder: ApplicationType | 'session', permissions: readonly string[]) {
    const untouched = await storedDigest(app, tenant);
    const closed = ROUTES.filter((one) => !isOpen(one, holder, permissions));
    const refusals = await Promise.all(closed.map((route) => call(route, key, lasting)));
    closed.forEach(({ method, path, needs }, n) => {
      const isAboutKeys = needs.endsWith('key');
      const code = isAboutKeys ? 'wrong_application_type' : 'permission_denied';
      assert.deepEqual([refusals[n]?.status, refusals[n]?.json.code], [403, code], `${method} ${path}`);
      if (!isAboutKeys) assert.match(refusals[n]?.json.detail, new RegExp(`\\b${needs}\\b`));
    });
    assert.equal(await storedDigest(app, tenant), untouched, 'a refused request changed something');
    for (const route of ON_THE_TENANT.filter((one) => isOpen(one, holder, permissions))) {
      const isSpent = route.method !== 'GET' && !route.leavesTarget;
      const targets = isSpent ? await makeTargets() : lasting;
      const expected = route.toFew ?? route.toOthers ?? route.status;
      assert.equal((await call(route, key, targets)).status, expected, `${route.method} ${route.path}`);
    }
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

  it('has a line for every route of the product, with what the route itself asks for', () => {
    const lines = ROUTES.map(({ method, path, needs, status }) => `${method} ${path} ${needs} ${status}`);
    const routes = idleRoutes(app).map(
      ({ method, path, permission, status }) => `${method} ${path} ${permission} ${status}`,
    );
    assert.deepEqual(lines.sort(), routes.sort());
  });

  for (const { permission, type } of PAIRS) {
    const held = isAllowed(permission, type) ? [permission] : [];
    const opens = ROUTES.filter(({ needs }) => needs.split(' or ').some((each) => held.includes(each))).map(
      ({ method, path }) => `${method} ${path}`,
    );
    const opened = ['what any such key opens', ...opens].join(', ');
    it(`403 for a ${type} application with only ${permission} everywhere but on ${opened}`, async () => {
      const make = isAllowed(permission, type) ? app.makeKey : smuggleKey;
      await tryAll(await make(tenant.id, type, [permission]), type, held);
    });
  }

  for (const [permission, types] of Object.entries(HOLDERS).filter(([name]) => name.startsWith('token:'))) {
    for (const type of types) {
      it(`a rule that gives a ${type} application ${permission} opens what the plain permission opens`, async () => {
        const rule = { priority: 1, container: '/', transform: 'reveal', permissions: [permission] } as const;
        await tryAll(await app.makeKey(tenant.id, type, [], [rule]), type, [permission]);
      });
    }
    it(`403 for a session with only ${permission} everywhere but on what that opens`, async () => {
      await tryAll(await makeSessionKey(privateKey, [permission]), 'session', [permission]);
    });

    it(`403 everywhere for a session given ${permission} by an application that does not hold it`, async () => {
      const [other = ''] = TOKEN_PERMISSIONS.filter((name) => name !== permission);
      const authorizer = await app.makeKey(tenant.id, 'private', [other]);
      const { json } = await app.call('POST', '/sessions', { key: publicKey });
      const body = { nonce: json.nonce, permissions: [permission] };
      await app.call('POST', '/sessions/authorize', { key: authorizer, body });
      await tryAll(json.session_key, 'session', []);
    });
  }

  it('403 everywhere for a session nobody has authorized yet', async () => {
    const { json } = await app.call('POST', '/sessions', { key: publicKey });
    await tryAll(json.session_key, 'session', []);
  });

  it('204 for ending the tenant with tenant:delete alone', async () => {
    const doomed = await app.makeTenant();
    const key = await app.makeKey(doomed.id, 'management', ['tenant:delete']);
    assert.equal((await app.call('DELETE', '/tenants/self', { key })).status, 204);
  });

  for (const type of TYPES) {
    it(`success everywhere it may go for a ${type} application with every permission it may hold`, async () => {
      const permissions = Object.keys(HOLDERS).filter((permission) => isAllowed(permission, type));
      const key = await app.makeKey(tenant.id, type, permissions);
      const closed = ROUTES.filter((route) => !isOpen(route, type, permissions));
      for (const route of closed) assert.equal((await call(route, key, lasting)).status, 403, route.path);
      for (const route of ON_THE_TENANT.filter((one) => !closed.includes(one))) {
        const { status } = await call(route, key, await makeTargets());
        assert.equal(status, route.toOthers ?? route.status, `${route.method} ${route.path}`);
      }
    });
  }

  it('401 on every route without a key and with one that is none', async () => {
    for (const route of ROUTES) {
      for (const key of [undefined, 'x', `key_mgt_${'0'.repeat(32)}`]) {
        assert.equal((await call(route, key, lasting)).status, 401, `${route.method} ${route.path}`);
      }
    }
  });

  it('403 before the body is looked at: a caller without the right learns nothing about its input', async () => {
    const key = await app.makeKey(tenant.id, 'management', ['tenant:read']);
    const closed = ROUTES.filter((route) => route.method !== 'GET' && !isOpen(route, 'management', ['tenant:read']));
    for (const route of closed) {
      const { json } = await call(route, key, lasting, '{');
      assert.match(json.code, /^(permission_denied|wrong_application_type)$/, route.path);
    }
    assert.equal((await app.call('GET', '/logs?size=0', { key })).json.code, 'permission_denied');
    assert.equal((await app.call('GET', '/tokens?size=0', { key })).json.code, 'permission_denied');
  });

  it('403 before existence is looked at: a caller without the right learns no id', async () => {
    const key = await app.makeKey(tenant.id, 'management', ['tenant:read']);
    const ids = Object.fromEntries(Object.keys(lasting).map((name) => [name, newId()]));
    const nothing = { ...lasting, ...ids, nonce: 'a'.repeat(22) };
    for (const route of ROUTES.filter(({ path, needs }) => path.includes(':id') && needs !== 'any key')) {
      const answers = await Promise.all([call(route, key, lasting), call(route, key, nothing)]);
      const [there, missing] = answers.map(({ json }) => ({ ...json, trace_id: '' }));
      assert.deepEqual(missing, there);
    }
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
      createApplication(tx, app.keyStore.systemKeys, operatorContext(Date.now()), { name: 'A', type, permissions }),
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
