import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makePerson } from './portal-fixture.js';
import { whileHeld } from './waiting-fixture.js';

describe('a tenant that its owner gives away', () => {
  let clock: FakeClock;
  let app: TestApp;
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock });
  });
  after(() => app.close());

  /** A tenant that somebody made in the Portal, with an ADMIN beside it. */
  async function ownTenant() {
    const home = await app.makeTenant('Home');
    const owner = await makePerson(app, home.id, 'ADMIN');
    const { json } = await owner.browser.call('POST', '/portal/api/tenants', { name: 'Mine' });
    const admin = await makePerson(app, json.id, 'ADMIN');
    const path = `/portal/api/tenants/${json.id}/owner`;
    return { tenantId: json.id as string, owner, admin, path };
  }

  async function ownersOf(tenantId: string): Promise<string[]> {
    const { rows } = await app.db.owner.query(`SELECT user_id FROM members WHERE tenant_id = $1 AND role = 'OWNER'`, [
      tenantId,
    ]);
    return rows.map(({ user_id }) => user_id);
  }

  it('has the member as its owner then, who gave it away as an ADMIN, and both in the log', async () => {
    const { tenantId, owner, admin, path } = await ownTenant();
    assert.equal((await owner.browser.call('POST', path, { member_id: admin.memberId })).status, 204);
    const as = { 'SVC-TENANT-ID': tenantId };
    const self = await admin.browser.call('GET', '/tenants/self', undefined, as);
    assert.equal(self.json.owner_id, admin.userId);
    const members = (await admin.browser.call('GET', '/tenants/self/members', undefined, as)).json.data;
    const roles = new Map(
      members.map((member: { user: { id: string }; role: string }) => [member.user.id, member.role]),
    );
    assert.deepEqual([roles.get(admin.userId), roles.get(owner.userId)], ['OWNER', 'ADMIN']);
    const logs = (await admin.browser.call('GET', '/logs?entity_type=tenant_member&operation=update', undefined, as))
      .json.data;
    assert.equal(logs.length, 2);
    assert.ok(logs.every(({ actor_id }: { actor_id: string }) => actor_id === owner.userId));
    assert.equal((await owner.browser.call('POST', path, { member_id: admin.memberId })).status, 403, 'not any more');
  });

  it('403 for an ADMIN, 403 without a fresh sign-in, 404 for strangers, 400 for who is no member', async () => {
    const { owner, admin, path } = await ownTenant();
    const stranger = await ownTenant();
    const give = (by: typeof owner, memberId: string) => by.browser.call('POST', path, { member_id: memberId });
    assert.equal((await give(admin, admin.memberId)).json.code, 'permission_denied');
    assert.equal((await give(stranger.owner, stranger.admin.memberId)).status, 404);
    for (const memberId of [stranger.admin.memberId, randomUUID(), 'x']) {
      const { status, json } = await give(owner, memberId);
      assert.deepEqual([status, Object.keys(json.errors)], [400, ['member_id']]);
    }
    clock.advance(11 * 60_000);
    assert.equal((await give(owner, admin.memberId)).json.code, 'step_up_required');
  });

  it('400 for a member who is locked out, and the owner stays', async () => {
    const { tenantId, owner, admin, path } = await ownTenant();
    await app.db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [admin.userId]);
    const { status, json } = await owner.browser.call('POST', path, { member_id: admin.memberId });
    assert.deepEqual([status, Object.keys(json.errors)], [400, ['member_id']]);
    assert.deepEqual(await ownersOf(tenantId), [owner.userId]);
  });

  it('400 for a member who is removed at this moment: it does not come back as the owner', async () => {
    const { tenantId, owner, admin, path } = await ownTenant();
    const db = app.db.owner;
    // Noted before, so that nothing but the gift waits.
    await owner.browser.call('GET', `/portal/api/tenants/${tenantId}/members`);
    const given = await whileHeld(
      app,
      () => db.query('SELECT FROM tenants WHERE id = $1 FOR UPDATE', [tenantId]),
      () => owner.browser.call('POST', path, { member_id: admin.memberId }),
      () => db.query('DELETE FROM members WHERE tenant_id = $1 AND id = $2', [tenantId, admin.memberId]),
    );
    assert.deepEqual([given.status, Object.keys(given.json.errors)], [400, ['member_id']]);
    assert.deepEqual(await ownersOf(tenantId), [owner.userId]);
  });

  it('503 for a member whose row was edited to be another user, who does not own it then', async () => {
    const { tenantId, owner, admin, path } = await ownTenant();
    const stranger = await ownTenant();
    await app.db.owner.query('UPDATE members SET user_id = $3 WHERE tenant_id = $1 AND id = $2', [
      ...[tenantId, admin.memberId, stranger.admin.userId],
    ]);
    assert.equal((await owner.browser.call('POST', path, { member_id: admin.memberId })).status, 503);
    assert.deepEqual(await ownersOf(tenantId), [owner.userId]);
  });

  it('goes to one of two when it is given to both at the same time', async () => {
    const { tenantId, owner, admin, path } = await ownTenant();
    const second = await makePerson(app, tenantId, 'ADMIN');
    const give = (memberId: string) => owner.browser.call('POST', path, { member_id: memberId });
    const statuses = (await Promise.all([give(admin.memberId), give(second.memberId)])).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [204, 403]);
    assert.equal((await ownersOf(tenantId)).length, 1);
  });
});
