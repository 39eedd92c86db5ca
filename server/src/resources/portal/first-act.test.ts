import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makePerson } from './portal-fixture.js';

const SIGNED_IN = 'Signed in to the Portal';

describe('the log of a tenant and the first act of a session there', () => {
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const messagesOf = async (userId: string, tenantId = tenant.id) => {
    const { rows } = await app.db.owner.query(
      'SELECT message FROM logs WHERE actor_id = $1 AND tenant_id = $2 ORDER BY created_at, id',
      [userId, tenantId],
    );
    return rows.map(({ message }) => message);
  };

  it('says that somebody was here who only leaves', async () => {
    const { browser, userId } = await makePerson(app, tenant.id, 'ADMIN');
    assert.equal((await browser.call('DELETE', `/portal/api/memberships/${tenant.id}`)).status, 204);
    assert.deepEqual((await messagesOf(userId)).sort(), ['Member removed', SIGNED_IN]);
  });

  it('says that somebody was here who accepts an invitation, and who makes the tenant', async () => {
    const elsewhere = await app.makeTenant();
    const { browser, userId, email } = await makePerson(app, elsewhere.id, 'READ_ONLY');
    const { json } = await app.call('POST', '/tenants/self/invitations', { key: tenant.key, body: { email } });
    const secret = json.link.split('#')[1];
    assert.equal((await browser.call('POST', '/portal/api/invitations/accept', { secret })).status, 200);
    assert.deepEqual((await messagesOf(userId)).sort(), ['Invitation accepted', 'Member added', SIGNED_IN].sort());
    const { json: own } = await browser.call('POST', '/portal/api/tenants', { name: 'Own' });
    assert.ok((await messagesOf(userId, own.id)).includes(SIGNED_IN));
  });

  it('is kept from saying so by no visit that was written into the database beforehand', async () => {
    const { browser, userId } = await makePerson(app, tenant.id, 'ADMIN');
    const { id } = (await browser.call('GET', '/portal/api/me')).json.session;
    await app.db.owner.query(
      `INSERT INTO portal_visits (tenant_id, session_id, expires_at) VALUES ($1, $2, now() + interval '7 days')`,
      [tenant.id, id],
    );
    for (let n = 0; n < 2; n += 1) {
      const { status } = await browser.call('GET', '/applications', undefined, { 'SVC-TENANT-ID': tenant.id });
      assert.equal(status, 200);
    }
    assert.equal((await messagesOf(userId)).filter((message) => message === SIGNED_IN).length, 1);
  });

  it('one session acts in two tenants, in each as what it is there, and is in the log of both', async () => {
    const other = await app.makeTenant('Other');
    const { browser, userId, email } = await makePerson(app, tenant.id, 'ADMIN');
    const body = { email, role: 'READ_ONLY' };
    const { json } = await app.call('POST', '/tenants/self/invitations', { key: other.key, body });
    const secret = json.link.split('#')[1];
    assert.equal((await browser.call('POST', '/portal/api/invitations/accept', { secret })).status, 200);
    const { id: sessionId } = (await browser.call('GET', '/portal/api/me')).json.session;
    const create = async (tenantId: string) => {
      const application = { name: 'A', type: 'private', permissions: ['token:read'] };
      const made = await browser.call('POST', '/applications', application, { 'SVC-TENANT-ID': tenantId });
      return [made.status, made.json.code];
    };
    assert.deepEqual(await create(tenant.id), [201, undefined]);
    assert.deepEqual(await create(other.id), [403, 'permission_denied']);
    assert.deepEqual(await create(tenant.id), [201, undefined]);
    for (const { id } of [tenant, other]) {
      const { json: self } = await browser.call('GET', '/tenants/self', undefined, { 'SVC-TENANT-ID': id });
      assert.equal(self.id, id);
      assert.ok((await messagesOf(userId, id)).includes(SIGNED_IN));
    }
    assert.equal((await browser.call('GET', '/portal/api/me')).json.session.id, sessionId);
    const made = await app.call('GET', '/applications', { key: other.key });
    assert.ok(!made.json.data.some(({ name }: { name: string }) => name === 'A'));
  });
});
