import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { MEMBER_ROLES } from '../../access/roles.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Person } from '../portal/portal-fixture.js';
import { makePerson, openBrowser } from '../portal/portal-fixture.js';

interface Operation {
  readonly permission: string;
  readonly is_granted: boolean;
  readonly transform?: string;
  readonly rule_priority?: number;
}
interface Shown {
  readonly container: string;
  readonly has_tokens: boolean;
  readonly sees: string;
  readonly operations: readonly Operation[];
}

describe('Applications on the pages of the Portal', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let person: Person;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    person = await makePerson(app, tenant.id, 'READ_ONLY');
  });
  after(() => app.close());

  const list = (query = '', by = person, of = tenant.id) =>
    by.browser.call('GET', `/portal/api/tenants/${of}/applications${query}`);
  const preview = (body: unknown, by = person, of = tenant.id) =>
    by.browser.call('POST', `/portal/api/tenants/${of}/access-preview`, body);

  async function applicationOf(id: string) {
    const { status, json, text } = await list('?size=100');
    assert.equal(status, 200, text);
    return json.data.find((one: { id: string }) => one.id === id);
  }

  for (const role of MEMBER_ROLES) {
    it(`200 for ${role}, newest first, as GET /applications pages`, async () => {
      const { id } = await app.makeApplication(tenant.id, 'private', ['token:read']);
      const by = await makePerson(app, tenant.id, role);
      const { status, json } = await list('?size=1', by);
      assert.equal(status, 200);
      assert.deepEqual([json.data[0].id, json.pagination.page_size, json.data.length], [id, 1, 1]);
      const { json: next } = await list('?size=1&page=2', by);
      assert.notEqual(next.data[0].id, id);
      assert.equal((await preview({ type: 'private', permissions: ['token:read'] }, by)).status, 200);
    });
  }

  it('has the newest use of its keys, and no use before the first', async () => {
    const { id } = await app.makeApplication(tenant.id, 'private', ['token:read']);
    await app.call('POST', `/applications/${id}/keys`, { key: tenant.key, body: {} });
    const unused = await applicationOf(id);
    assert.deepEqual([unused.key_count, unused.last_used_at, unused.next_end_at], [2, undefined, undefined]);
    await app.db.owner.query(
      `UPDATE api_keys SET last_used_at = CASE WHEN id = (SELECT min(id::text)::uuid FROM api_keys WHERE application_id = $1)
         THEN timestamptz '2024-02-03 04:00Z' ELSE timestamptz '2024-02-03 05:00Z' END WHERE application_id = $1`,
      [id],
    );
    assert.equal((await applicationOf(id)).last_used_at, '2024-02-03T05:00:00.000+00:00');
  });

  it('has what ends next: a key that is being replaced, or the Application', async () => {
    const { id } = await app.makeApplication(tenant.id, 'private', ['token:read']);
    const body = { name: 'a', permissions: ['token:read'], expires_at: '2090-01-01' };
    assert.equal((await app.call('PUT', `/applications/${id}`, { key: tenant.key, body })).status, 200);
    assert.equal((await applicationOf(id)).next_end_at, '2090-01-01T00:00:00.000+00:00');
    const regenerate = { key: tenant.key, body: { overlap_seconds: 600 } };
    assert.equal((await app.call('POST', `/applications/${id}/regenerate`, regenerate)).status, 200);
    const keys = (await app.call('GET', `/applications/${id}/keys`, { key: tenant.key })).json;
    const ending = keys.find((key: { expires_at?: string }) => key.expires_at);
    const shown = await applicationOf(id);
    assert.deepEqual([shown.next_end_at, shown.key_count], [ending.expires_at, 2]);
  });

  it('never shows a key or a hash of one', async () => {
    const { key } = await app.makeApplication(tenant.id, 'private', ['token:read']);
    const { text } = await list('?size=100');
    assert.equal(text.includes(key), false);
    assert.equal(/"(key|hash|mac)"/.test(text), false);
  });

  it('404 for a member of another tenant, 401 for nobody and for a key, 403 for another origin', async () => {
    const other = await makePerson(app, (await app.makeTenant()).id, 'OWNER');
    assert.equal((await list('', other)).status, 404);
    assert.equal((await preview({ type: 'private', permissions: ['token:read'] }, other)).status, 404);
    const asked = [
      ['GET', `/portal/api/tenants/${tenant.id}/applications`, undefined],
      ['POST', `/portal/api/tenants/${tenant.id}/access-preview`, { type: 'private', permissions: ['token:read'] }],
    ] as const;
    for (const [method, path, body] of asked) {
      assert.equal((await openBrowser(app).call(method, path, body)).status, 401);
      assert.equal((await openBrowser(app).call(method, path, body, { 'SVC-API-KEY': tenant.key })).status, 401);
      const evil = await person.browser.call(method, path, body, { Origin: 'https://evil.example' });
      assert.equal(evil.json.code, 'cross_site_refused');
    }
  });

  it('503 for an Application whose row was changed in the database', async () => {
    const of = await app.makeTenant();
    const { id } = await app.makeApplication(of.id, 'private', ['token:read']);
    await app.db.owner.query(`UPDATE applications SET permissions = '{token:read,token:use}' WHERE id = $1`, [id]);
    assert.equal((await list('', await makePerson(app, of.id, 'OWNER'), of.id)).status, 503);
  });

  const RULES = [
    { priority: 2, container: '/pci/', transform: 'mask', permissions: ['token:read', 'token:use'] },
    { priority: 1, container: '/PCI/high/', transform: 'reveal', permissions: ['token:read'] },
    { priority: 3, container: '/bank/', transform: 'redact', permissions: ['token:read', 'token:create'] },
  ] as const;

  it('previews what the first rule that covers a container says, then the plain permission, then nothing', async () => {
    const containers = ['/pci/high/', '/pci/low/', '/BANK/', '/pii/'];
    const { status, json, text } = await preview({
      type: 'private',
      permissions: ['token:search', 'token:use'],
      rules: RULES,
      containers,
    });
    assert.equal(status, 200, text);
    const at = (container: string): Shown => json.containers.find((one: Shown) => one.container === container);
    const by = (container: string, permission: string) =>
      at(container).operations.find((one) => one.permission === permission);
    assert.deepEqual(
      ['/pci/high/', '/pci/low/', '/bank/', '/pii/'].map((container) => at(container).sees),
      ['reveal', 'mask', 'redact', 'nothing'],
    );
    assert.equal(by('/pci/high/', 'token:read')?.rule_priority, 1);
    assert.equal(by('/pci/high/', 'token:use')?.rule_priority, 2);
    assert.deepEqual(by('/pii/', 'token:use'), { permission: 'token:use', is_granted: true, transform: 'reveal' });
    assert.deepEqual(by('/pii/', 'token:search')?.transform, 'mask');
    assert.deepEqual(by('/pii/', 'token:read'), { permission: 'token:read', is_granted: false });
    assert.deepEqual(by('/bank/', 'token:create')?.rule_priority, 3);
    assert.equal(by('/pci/low/', 'token:delete')?.is_granted, false);
  });

  it('agrees with what an Application with these rights then gets', async () => {
    const creator = await app.makeKey(tenant.id, 'private', ['token:create']);
    const key = await app.makeKey(tenant.id, 'private', ['token:delete'], [...RULES]);
    for (const container of ['/pci/high/', '/pci/low/', '/bank/x/', '/pii/']) {
      const body = { data: 'plain', mask: 'masked', containers: [container] };
      const { json: token } = await app.call('POST', '/tokens', { key: creator, body });
      const read = await app.call('GET', `/tokens/${token.id}`, { key });
      const got =
        read.status === 403 ? 'nothing' : ({ plain: 'reveal', masked: 'mask' }[read.json.data as string] ?? 'redact');
      const { json } = await preview({
        type: 'private',
        permissions: ['token:delete'],
        rules: RULES,
        containers: [container],
      });
      const shown: Shown = json.containers.find((one: Shown) => one.container === container);
      assert.deepEqual([shown.sees, shown.has_tokens], [got, true], container);
      const isDeleted = (await app.call('DELETE', `/tokens/${token.id}`, { key })).status === 204;
      const deletes = shown.operations.find(({ permission }) => permission === 'token:delete');
      assert.equal(deletes?.is_granted, isDeleted, container);
    }
  });

  it('names faults at the fields where POST /applications names them', async () => {
    const bodies = [
      {},
      { type: 'private' },
      { type: 'nothing', permissions: ['token:read'] },
      { type: 'public', permissions: ['token:read'] },
      { type: 'management', permissions: ['tenant:read'], rules: RULES },
      { type: 'private', rules: [RULES[0], { ...RULES[0], container: 'pci' }] },
      { type: 'private', rules: [{ priority: 0, permissions: [] }] },
      { type: 'private', permissions: ['nothing:read'], rules: [{ ...RULES[0], conditions: [{ attribute: 'x' }] }] },
      { type: 'private', permissions: 'token:read' },
    ];
    for (const body of bodies) {
      const created = await app.call('POST', '/applications', { key: tenant.key, body: { name: 'a', ...body } });
      const { status, json } = await preview(body);
      assert.equal(status, 400, JSON.stringify(body));
      assert.deepEqual(json.errors, created.json.errors, JSON.stringify(body));
    }
    const { json } = await preview({ type: 'private', permissions: ['token:read'], containers: ['/a/', 'b'] });
    assert.deepEqual(Object.keys(json.errors), ['containers[1]']);
  });

  it('looks at no more than fifty containers besides those given, says that there are more, and writes nothing', async () => {
    const of = await app.makeTenant();
    const owner = await makePerson(app, of.id, 'OWNER');
    const creator = await app.makeKey(of.id, 'private', ['token:create']);
    const before = await preview({ type: 'private', permissions: ['token:read'] }, owner, of.id);
    assert.deepEqual(before.json, { containers: [], has_more: false });
    for (let n = 0; n < 51; n += 1) {
      await app.call('POST', '/tokens', { key: creator, body: { data: 'x', containers: [`/c/${n}/`] } });
    }
    const count = async () =>
      (await app.db.owner.query('SELECT count(*) FROM logs WHERE tenant_id = $1', [of.id])).rows;
    const written = await count();
    const { json } = await preview({ type: 'private', permissions: ['token:read'], containers: ['/z/'] }, owner, of.id);
    assert.deepEqual([json.containers.length, json.has_more, json.containers[50].container], [51, true, '/z/']);
    assert.deepEqual(await count(), written);
    const given = Array.from({ length: 51 }, (_, n) => `/c/${n}/`);
    const refused = await preview({ type: 'private', permissions: ['token:read'], containers: given });
    assert.equal(refused.status, 400);
  });
});
