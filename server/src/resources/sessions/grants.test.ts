import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createAuthenticate } from '../../access/authenticate.js';
import type { RuleDraft } from '../../access/check-rules.js';
import type { Credential } from '../../access/credential.js';
import { decide, decideAll } from '../../access/decide.js';
import type { Session } from '../../access/principal.js';
import type { SessionGrants } from '../../access/session-key-reader.js';
import { systemClock } from '../../kernel/clock.js';
import { createMemory } from '../../storage/memory.js';
import { eventually } from '../../testing/eventually.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';

const REVEAL_ALL: RuleDraft = {
  priority: 1,
  container: '/',
  transform: 'reveal',
  permissions: ['token:read', 'token:use'],
};
const at = (...containers: string[]) => ({ id: 'tok_1', containers });

describe('what a session may do', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let shop: string;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    shop = await app.makeKey(tenant.id, 'public', ['token:create']);
  });
  after(() => app.close());

  /** Who a key acts as, looked up anew each time. */
  async function principalOf(key: string, sessionGrants: SessionGrants): Promise<Session> {
    const { systemKeys } = app.keyStore;
    const authenticate = createAuthenticate({
      database: app.database,
      clock: systemClock,
      memory: createMemory<Credential>({ entriesMax: 1, tenantOf: () => '', isTrusted: () => false }),
      pepper: systemKeys.apiKeyPepper,
      rowMacKey: systemKeys.rowMac,
      sessionGrants,
      noteUse: () => {},
      onIntegrityFault: () => assert.fail('nothing was altered'),
    });
    const found = await authenticate(key);
    assert.equal(found.kind, 'session');
    return found;
  }

  async function sessionBy(backend: string, grant: object): Promise<{ id: string; session_key: string }> {
    const { json } = await app.call('POST', '/sessions', { key: shop });
    const body = { nonce: json.nonce, ...grant };
    assert.equal((await app.call('POST', '/sessions/authorize', { key: backend, body })).status, 200);
    return json;
  }

  it('is nothing before it is authorized, in the name of the Application that made it', async () => {
    const { json } = await app.call('POST', '/sessions', { key: shop });
    const principal = await principalOf(json.session_key, 'held');
    assert.deepEqual(principal.actor, { type: 'session', id: json.id });
    assert.equal(principal.isAuthorized, false);
    assert.equal(principal.permissions.size, 0);
    for (const permission of ['token:create', 'token:read', 'token:use'] as const) {
      assert.equal(decide(principal, permission, at('/a/')), undefined);
    }
  });

  it('is what it was granted and its authorizer holds, shown as the stricter of both says', async () => {
    const backend = await app.makeApplication(
      tenant.id,
      'private',
      ['token:read', 'token:create'],
      [{ priority: 1, container: '/pci/', transform: 'redact', permissions: ['token:read'] }],
    );
    const session = await sessionBy(backend.key, {
      permissions: ['token:delete', 'token:create'],
      rules: [REVEAL_ALL],
    });
    const held = await principalOf(session.session_key, 'held');
    assert.deepEqual(held.actor, { type: 'session', id: session.id });
    assert.deepEqual([held.applicationId, held.isAuthorized], [backend.id, true]);
    assert.deepEqual([...held.permissions].sort(), ['token:create', 'token:read']);
    assert.equal(decide(held, 'token:read', at('/bank/')), 'mask');
    assert.equal(decide(held, 'token:read', at('/pci/')), 'redact');
    assert.equal(decide(held, 'token:use', at('/bank/')), undefined);
    assert.equal(decide(held, 'token:delete', at('/bank/')), undefined);
    assert.equal(decideAll(held, 'token:create', at('/bank/', '/pci/')), 'mask');
  });

  it('is all it was granted where the operator lifted the cap', async () => {
    const backend = await app.makeKey(tenant.id, 'private', ['token:read']);
    const session = await sessionBy(backend, { permissions: ['token:delete'], rules: [REVEAL_ALL] });
    const any = await principalOf(session.session_key, 'any');
    assert.deepEqual([...any.permissions].sort(), ['token:delete', 'token:read', 'token:use']);
    assert.equal(decide(any, 'token:use', at('/bank/')), 'reveal');
    assert.equal(decide(any, 'token:read', at('/bank/')), 'reveal');
  });

  it('may go by conditions', async () => {
    const backend = await app.makeKey(tenant.id, 'private', [], [REVEAL_ALL]);
    const conditions = [
      { attribute: 'id', operator: 'starts_with', value: 'tok_' },
      { attribute: 'container', operator: 'equals', value: '/PCI/' },
    ];
    const rules = [{ priority: 1, conditions, transform: 'reveal', permissions: ['token:read'] }];
    const { session_key } = await sessionBy(backend, { rules });
    const principal = await principalOf(session_key, 'held');
    assert.equal(decide(principal, 'token:read', at('/pci/')), 'reveal');
    assert.equal(decide(principal, 'token:read', at('/bank/')), undefined);
    assert.equal(decide(principal, 'token:read', { id: 'x', containers: ['/pci/'] }), undefined);
  });

  it('shrinks with the rights of its authorizer, from the next request on', async () => {
    const backend = await app.makeApplication(tenant.id, 'private', ['token:read', 'token:search']);
    const { session_key } = await sessionBy(backend.key, { permissions: ['token:read', 'token:search'] });
    const body = { name: 'B', permissions: ['token:search'] };
    await app.call('PUT', `/applications/${backend.id}`, { key: tenant.key, body });
    const principal = await principalOf(session_key, 'held');
    assert.deepEqual([...principal.permissions], ['token:search']);
    assert.equal(decide(principal, 'token:read', at('/a/')), undefined);
  });

  it('holds in every process at once: what was refused before the authorization is not remembered', async () => {
    const second = await startTestApp({ beside: { db: app.db, rootKey: rootKeyOf(app) } });
    try {
      const isHearing = () => /^strongroom_changes_heard 1$/m.test(second.metrics.render());
      await eventually('the second process hears', isHearing);
      const backend = await app.makeKey(tenant.id, 'private', ['token:read']);
      const { json } = await app.call('POST', '/sessions', { key: shop });
      const remembered = () => /^strongroom_credentials_remembered (\d+)$/m.exec(second.metrics.render())?.[1];
      assert.equal((await second.call('GET', '/permissions', { key: json.session_key })).status, 200);
      assert.equal(remembered(), '0');
      const body = { nonce: json.nonce, permissions: ['token:read'] };
      await app.call('POST', '/sessions/authorize', { key: backend, body });
      assert.equal((await second.call('GET', '/permissions', { key: json.session_key })).status, 200);
      assert.equal(remembered(), '1');
    } finally {
      await second.close();
    }
  });
});
