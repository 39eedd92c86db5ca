// needs: time

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { operatorContext } from '../audit/entry.js';
import { LIMITS } from '../limits/catalogue.js';
import { countUsage } from '../vault/index.js';
import { insertBareToken, usageOf } from './bare-tokens.js';
import { createFakeClock } from './fake-clock.js';
import type { TestApp, TestTenant } from './test-app.js';
import { startTestApp } from './test-app.js';

/** The tables are written out again here, so that a slip in the product's own copy is seen. */
const PERMISSIONS: readonly [type: string, description: string, ...applicationTypes: string[]][] = [
  ['token:create', 'Create tokens', 'public', 'private'],
  ['token:update', 'Update tokens', 'public', 'private'],
  ['token:read', 'Read tokens', 'private'],
  ['token:search', 'Search tokens', 'private'],
  ['token:delete', 'Delete tokens', 'private'],
  ['token:use', "Use tokens in the service's own features (for example Proxy, Reactors)", 'private'],
  ['tenant:read', 'Read Tenants', 'management'],
  ['tenant:update', 'Update Tenants', 'management'],
  ['tenant:delete', 'Delete Tenants', 'management'],
  ['application:read', 'Read Applications', 'management'],
  ['application:create', 'Create Applications', 'management'],
  ['application:update', 'Update Applications and regenerate their API keys', 'management'],
  ['application:delete', 'Delete Applications', 'management'],
  ['log:read', 'Read audit logs', 'management'],
  ['reactor:read', 'Read Reactors', 'management'],
  ['reactor:create', 'Create Reactors', 'management'],
  ['reactor:update', 'Update Reactors', 'management'],
  ['reactor:delete', 'Delete Reactors', 'management'],
  ['proxy:read', 'Read Proxies', 'management'],
  ['proxy:create', 'Create Proxies', 'management'],
  ['proxy:update', 'Update Proxies', 'management'],
  ['proxy:delete', 'Delete Proxies', 'management'],
  ['tenant:member:read', 'Read Tenant members', 'management'],
  ['tenant:member:update', 'Update Tenant members', 'management'],
  ['tenant:member:delete', 'Delete Tenant members', 'management'],
  ['tenant:invitation:create', 'Create Tenant invitations', 'management'],
  ['tenant:invitation:read', 'Read Tenant invitations', 'management'],
  ['tenant:invitation:update', 'Update Tenant invitations', 'management'],
  ['tenant:invitation:delete', 'Delete Tenant invitations', 'management'],
  ['report:read', 'Read reports', 'management'],
];

const ENTITY_TYPES: readonly [value: string, displayName: string][] = [
  ['application', 'Application'],
  ['bank', 'Bank'],
  ['card', 'Card'],
  ['card_number', 'Card Number'],
  ['employer_id_number', 'Employer ID Number'],
  ['proxy', 'Proxy'],
  ['reactor', 'Reactor'],
  ['session', 'Session'],
  ['social_security_number', 'Social Security Number'],
  ['tenant', 'Tenant'],
  ['tenant_invitation', 'Tenant Invitation'],
  ['tenant_member', 'Tenant Member'],
  ['token', 'Token'],
  ['us_bank_account_number', 'US Bank Account Number'],
  ['us_bank_routing_number', 'US Bank Routing Number'],
];

const FIELDS = {
  tenant: ['id', 'owner_id', 'name', 'settings', 'created_by', 'created_at', 'modified_by', 'modified_at'],
  settings: ['fingerprint_tokens', 'deduplicate_tokens'],
  log: ['tenant_id', 'actor_id', 'actor_type', 'entity_type', 'entity_id', 'operation', 'message', 'created_at'],
  list: ['pagination', 'data'],
  usageReport: ['token_report'],
  tokenReport: ['metrics_by_type', 'included_monthly_active_tokens', 'monthly_active_tokens'],
  tokenTypeMetrics: ['count', 'last_created_at'],
};

const TEN_SECONDS_MS = 10_000;

/** The portal has no endpoint yet, but its pages are known by their path. */
const RATE_LIMITS: readonly [policy: string, requests: number, ...targets: [method: string, path: string][]][] = [
  ['global', 1_000, ['GET', '/healthz'], ['DELETE', '/nowhere']],
  ['portal', 600, ['GET', '/portal/sign-in']],
  ['tokens-search', 50, ['POST', '/tokens/search']],
  ['tokens-list', 100, ['GET', '/tokens']],
  ['tokens-create', 200, ['POST', '/tokens'], ['POST', '/tokenize']],
];

describe('the tables of the specification, as served', () => {
  const clock = createFakeClock(Date.UTC(2030, 0, 15));
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const get = async (path: string) => (await app.call('GET', path, { key: tenant.key })).json;
  const assertFields = (body: object, fields: readonly string[]) =>
    assert.deepEqual(Object.keys(body).sort(), [...fields].sort());

  it('200 with the thirty permissions in the order of the table', async () => {
    const expected = PERMISSIONS.map(([type, description, ...application_types]) => ({
      type,
      description,
      application_types,
    }));
    assert.equal(expected.length, 30);
    assert.deepEqual(await get('/permissions'), expected);
  });

  it('200 with the fifteen entity types', async () => {
    const expected = ENTITY_TYPES.map(([value, display_name]) => ({ display_name, value }));
    assert.equal(expected.length, 15);
    assert.deepEqual(await get('/logs/entity-types'), expected);
  });

  it('200 with every field of a tenant and its settings, and no other', async () => {
    await app.db.owner.query('UPDATE tenants SET created_by = owner_id WHERE id = $1', [tenant.id]);
    clock.advance(1);
    await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'N' } });
    const body = await get('/tenants/self');
    assertFields(body, FIELDS.tenant);
    assertFields(body.settings, FIELDS.settings);
    assert.deepEqual(body.settings, { fingerprint_tokens: 'false', deduplicate_tokens: 'false' });
  });

  it('200 with every field of a log in a wrapper of two, and no other', async () => {
    clock.advance(1);
    await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'N' } });
    const body = await get('/logs?entity_type=tenant');
    assertFields(body, FIELDS.list);
    assertFields(body.data[0], FIELDS.log);
    assert.deepEqual([body.data[0].actor_type, body.data[0].entity_id], ['application', tenant.id]);
    const optional = FIELDS.log.filter((field) => !field.startsWith('actor_'));
    assertFields(body.data.at(-1), optional);
  });

  it('200 with every field of a usage report, and no other', async () => {
    const usage = usageOf({ card: 1 }, ['c']);
    await insertBareToken(app.db, { tenantId: tenant.id, id: 'c', type: 'card', createdAt: 'now' });
    await app.database.write(tenant.id, (tx) => countUsage(tx, operatorContext(clock.nowMs()), usage));
    const body = await get('/tenants/self/reports/usage');
    assertFields(body, FIELDS.usageReport);
    assertFields(body.token_report, FIELDS.tokenReport);
    assertFields(body.token_report.metrics_by_type, ['token', 'card', 'bank']);
    assertFields(body.token_report.metrics_by_type.card, FIELDS.tokenTypeMetrics);
    assertFields(body.token_report.metrics_by_type.bank, ['count']);
  });
});

describe('the rate limits of the specification, as enforced', () => {
  const clock = createFakeClock(Date.now());
  let app: TestApp;
  before(async () => {
    app = await startTestApp({ clock, env: { STRONGROOM_RATE_LIMITS: 'on' } });
  });
  after(() => app.close());

  it('has the five rows and no sixth', () => {
    const names = Object.values(LIMITS).map(({ name }) => name);
    assert.deepEqual(names.sort(), RATE_LIMITS.map(([policy]) => policy).sort());
  });

  for (const [policy, requests, ...targets] of RATE_LIMITS) {
    const where = targets.map(([method, path]) => `${method} ${path}`).join(' and ');
    it(`429 for request ${requests + 1} in ten seconds (${where}), for ten seconds, then served again`, async () => {
      clock.advance(3 * TEN_SECONDS_MS);
      const send = async (turn: number) => {
        const [method, path] = targets[turn % targets.length] ?? ['GET', '/'];
        return app.call(method, path);
      };
      for (let sent = 0; sent < requests; sent += 50) {
        const answers = await Promise.all(Array.from({ length: 50 }, (_, turn) => send(turn)));
        assert.ok(
          answers.every(({ status }) => status !== 429),
          `refused within the first ${sent + 50}`,
        );
      }
      const refused = await send(0);
      assert.deepEqual([refused.status, refused.json.code], [429, 'rate_limited']);
      assert.equal(refused.headers.get('ratelimit-policy'), `"${policy}";q=${requests};w=10`);
      assert.equal(refused.headers.get('retry-after'), '10');
      clock.advance(TEN_SECONDS_MS - 1);
      for (const turn of targets.keys()) assert.equal((await send(turn)).status, 429);
      clock.advance(1);
      for (const turn of targets.keys()) assert.notEqual((await send(turn)).status, 429);
    });
  }
});
