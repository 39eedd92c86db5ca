import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Person } from './portal-fixture.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

describe('a user who wants more than it has', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp();
  });
  after(() => app.close());

  /** A tenant that somebody owns, with a member of each other role. */
  async function household() {
    const owner = await makePerson(app, (await app.makeTenant('Home')).id, 'READ_ONLY');
    const { json } = await owner.browser.call('POST', '/portal/api/tenants', { name: 'Ours' });
    const tenantId = json.id as string;
    const { rows } = await app.db.owner.query('SELECT id FROM members WHERE tenant_id = $1', [tenantId]);
    const [admin, reader] = [await makePerson(app, tenantId, 'ADMIN'), await makePerson(app, tenantId, 'READ_ONLY')];
    return { tenantId, ownerMemberId: rows[0].id as string, owner, admin, reader };
  }
  const rolesIn = async (tenantId: string) => {
    const { rows } = await app.db.owner.query('SELECT user_id, role FROM members WHERE tenant_id = $1', [tenantId]);
    const { rows: invited } = await app.db.owner.query('SELECT role FROM invitations WHERE tenant_id = $1', [tenantId]);
    return { members: rows.map(({ user_id, role }) => `${user_id} ${role}`).sort(), invited };
  };

  function tries({ browser }: Person, tenantId: string) {
    const as = { 'SVC-TENANT-ID': tenantId };
    const coded = async (method: string, path: string, body: object) => {
      const { status, json } = await browser.call(method, path, body, as);
      return [status, json?.code];
    };
    return {
      role: (memberId: string, role: string) => coded('PUT', `/tenants/self/members/${memberId}`, { role }),
      invite: (role: string) =>
        coded('POST', '/tenants/self/invitations', { email: `${randomUUID()}@example.com`, role }),
      own: (memberId: string) => coded('POST', `/portal/api/tenants/${tenantId}/owner`, { member_id: memberId }),
    };
  }

  it('403 for a READ_ONLY member who raises itself, lowers others, or invites in any role; nothing changes', async () => {
    const { tenantId, ownerMemberId, admin, reader } = await household();
    const before = await rolesIn(tenantId);
    const { role, invite, own } = tries(reader, tenantId);
    for (const answer of [
      ...[await role(reader.memberId, 'ADMIN'), await role(admin.memberId, 'READ_ONLY')],
      ...[await role(ownerMemberId, 'READ_ONLY'), await invite('ADMIN'), await invite('READ_ONLY')],
      await own(reader.memberId),
    ]) {
      assert.deepEqual(answer, [403, 'permission_denied']);
    }
    assert.deepEqual(await rolesIn(tenantId), before);
  });

  it('an ADMIN makes nobody an owner, itself neither, and does not touch the one there is', async () => {
    const { tenantId, ownerMemberId, admin, reader } = await household();
    const before = await rolesIn(tenantId);
    const { role, invite, own } = tries(admin, tenantId);
    assert.deepEqual(await role(admin.memberId, 'OWNER'), [400, 'validation_failed']);
    assert.deepEqual(await role(reader.memberId, 'OWNER'), [400, 'validation_failed']);
    assert.deepEqual(await role(ownerMemberId, 'READ_ONLY'), [422, 'owner_protected']);
    assert.deepEqual(await invite('OWNER'), [400, 'validation_failed']);
    assert.deepEqual(await own(admin.memberId), [403, 'permission_denied']);
    const as = { 'SVC-TENANT-ID': tenantId };
    const gone = await admin.browser.call('DELETE', `/tenants/self/members/${ownerMemberId}`, undefined, as);
    assert.equal(gone.json.code, 'owner_protected');
    assert.equal((await admin.browser.call('DELETE', '/tenants/self', undefined, as)).json.code, 'permission_denied');
    assert.deepEqual(await rolesIn(tenantId), before);
  });

  it('a role is the one of the tenant that is named: the owner of one is a reader in another', async () => {
    const { tenantId, reader } = await household();
    const { json } = await reader.browser.call('POST', '/portal/api/tenants', { name: 'Own' });
    assert.equal((await tries(reader, json.id).invite('ADMIN'))[0], 201);
    assert.deepEqual(await tries(reader, tenantId).invite('ADMIN'), [403, 'permission_denied']);
  });

  it('a cookie that was planted in a browser is not the one of who signs in there, and opens nothing', async () => {
    const { owner, admin, reader } = await household();
    const invented = `__Host-strongroom_session=${'A'.repeat(43)}`;
    for (const planted of [invented, reader.browser.cookie]) {
      const victim = openBrowser(app);
      victim.cookie = planted;
      const { email } = planted === invented ? owner : admin;
      assert.equal((await victim.call('POST', '/portal/api/sign-in', { email, password: PASSWORD })).status, 200);
      assert.notEqual(victim.cookie, planted);
      assert.equal((await victim.call('GET', '/portal/api/me')).json.user.email, email);
      const thief = await openBrowser(app).call('GET', '/portal/api/me', undefined, { Cookie: planted });
      assert.equal(thief.status, 401, 'the session of before has ended too');
    }
  });
});
