import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { permissionsOf } from '../../access/permissions.js';
import { permissionsOfRole } from '../../access/roles.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makeMember } from './member-fixture.js';

const ALL = '/tenants/self/members';

describe('members', () => {
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const call = (method: string, path: string, body?: object, key = tenant.key) =>
    app.call(method, path, { key, ...(body && { body }) });
  const change = (id: string, role: unknown, key?: string) => call('PUT', `${ALL}/${id}`, { role }, key);
  const eventsOf = async (id: string) => {
    const { json } = await call('GET', `/logs?entity_type=tenant_member&entity_id=${id}`);
    return json.data.map(({ operation, message }: { operation: string; message: string }) => [operation, message]);
  };

  it('the owner of a tenant is its first member', async () => {
    const fresh = await app.makeTenant();
    const { status, json } = await call('GET', ALL, undefined, fresh.key);
    assert.equal(status, 200);
    assert.deepEqual(json.pagination, { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 });
    const [owner] = json.data;
    assert.deepEqual(Object.keys(owner).sort(), ['created_at', 'created_date', 'id', 'role', 'tenant_id', 'user']);
    assert.deepEqual([owner.tenant_id, owner.role, owner.user], [fresh.id, 'OWNER', { id: fresh.ownerId }]);
    assert.equal(owner.created_at, owner.created_date);
  });

  it('are listed newest first, with who they are, and by user', async () => {
    const { key, id } = await app.makeTenant();
    const older = await makeMember(app, id, 'ADMIN');
    const newer = await makeMember(app, id, 'READ_ONLY');
    const { json } = await call('GET', ALL, undefined, key);
    assert.deepEqual(
      json.data.slice(0, 2).map(({ user, role }: { user: { email: string }; role: string }) => [user.email, role]),
      [
        [newer.email, 'READ_ONLY'],
        [older.email, 'ADMIN'],
      ],
    );
    const page = await call('GET', `${ALL}?page=2&size=1`, undefined, key);
    assert.deepEqual([page.json.data.length, page.json.pagination.total_items], [1, 3]);
    const both = await call(
      'GET',
      `${ALL}?user_id=${older.userId.toUpperCase()}&user_id=${newer.userId}`,
      undefined,
      key,
    );
    assert.equal(both.json.pagination.total_items, 2);
    const none = await call('GET', `${ALL}?user_id=nobody`, undefined, key);
    assert.deepEqual(none.json.data, []);
  });

  it('200 for another role, with its entry; 404 for a member there is not', async () => {
    const { memberId, email } = await makeMember(app, tenant.id, 'ADMIN');
    const { status, json } = await change(memberId, 'READ_ONLY');
    assert.equal(status, 200);
    assert.deepEqual([json.role, json.user.email, typeof json.modified_at], ['READ_ONLY', email, 'string']);
    assert.deepEqual(await eventsOf(memberId), [
      ['update', 'Member role changed'],
      ['create', 'Member added'],
    ]);
    for (const id of [randomUUID(), 'x']) assert.equal((await change(id, 'READ_ONLY')).status, 404);
    const { id: other } = await app.makeTenant();
    const stranger = await makeMember(app, other, 'ADMIN');
    assert.equal((await change(stranger.memberId, 'READ_ONLY')).status, 404);
  });

  for (const role of ['OWNER', 'admin', '', null, 7, ['ADMIN']]) {
    it(`400 for the role ${JSON.stringify(role)}`, async () => {
      const { memberId } = await makeMember(app, tenant.id, 'ADMIN');
      const { status, json } = await change(memberId, role);
      assert.deepEqual([status, Object.keys(json.errors)], [400, ['role']]);
    });
  }

  it('204 once for the removal, 404 from then on', async () => {
    const { memberId } = await makeMember(app, tenant.id, 'ADMIN');
    const remove = () => call('DELETE', `${ALL}/${memberId}`);
    assert.deepEqual([(await remove()).status, (await remove()).status], [204, 404]);
    assert.deepEqual((await eventsOf(memberId))[0], ['delete', 'Member removed']);
  });

  it('422 for the owner, whatever is tried', async () => {
    const { json } = await call('GET', `${ALL}?user_id=${tenant.ownerId}`);
    const [{ id }] = json.data;
    for (const { status, json: problem } of [await change(id, 'ADMIN'), await call('DELETE', `${ALL}/${id}`)]) {
      assert.deepEqual([status, problem.code], [422, 'owner_protected']);
    }
  });

  it('403 for a role with more than the caller has, and nothing is changed', async () => {
    const { memberId } = await makeMember(app, tenant.id, 'READ_ONLY');
    const reader = [...permissionsOfRole('READ_ONLY'), 'tenant:member:update'];
    const key = await app.makeKey(tenant.id, 'management', reader);
    const refused = await change(memberId, 'ADMIN', key);
    assert.deepEqual([refused.status, refused.json.code], [403, 'role_not_grantable']);
    assert.equal((await change(memberId, 'READ_ONLY', key)).status, 200);
    const narrow = await app.makeKey(tenant.id, 'management', ['tenant:member:update']);
    assert.equal((await change(memberId, 'READ_ONLY', narrow)).json.code, 'role_not_grantable');
    const withoutDelete = permissionsOf('management').filter((name) => name !== 'tenant:delete');
    assert.equal(
      (await change(memberId, 'ADMIN', await app.makeKey(tenant.id, 'management', withoutDelete))).status,
      200,
    );
  });

  it('503 and a line in the security log for a role that was edited in the database', async () => {
    const altered = await app.makeTenant();
    const { memberId } = await makeMember(app, altered.id, 'READ_ONLY');
    await app.db.owner.query(`UPDATE members SET role = 'ADMIN' WHERE id = $1`, [memberId]);
    assert.equal((await call('GET', ALL, undefined, altered.key)).status, 503);
    assert.ok(app.logLines.some((line) => line.includes('a stored member was altered') && line.includes(memberId)));
  });

  it('GET /roles tells the three', async () => {
    const { json } = await call('GET', '/roles');
    assert.deepEqual(json, [{ name: 'OWNER' }, { name: 'ADMIN' }, { name: 'READ_ONLY' }]);
  });
});
