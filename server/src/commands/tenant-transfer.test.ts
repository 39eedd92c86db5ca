import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { newId } from '../kernel/ids.js';
import { makeMember, makeUser } from '../resources/members/member-fixture.js';
import type { Person } from '../resources/portal/portal-fixture.js';
import { makePerson } from '../resources/portal/portal-fixture.js';
import { urlOf } from '../testing/command-runner.js';
import { BEFORE_ECHO_MS, eventually } from '../testing/eventually.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../testing/test-app.js';
import type { Desk } from './command-cases-fixture.js';
import { runHere, sitDown } from './command-cases-fixture.js';

describe('strongroom tenant transfer', () => {
  let app: TestApp;
  let folder: string;
  let desk: Desk;
  before(async () => {
    app = await startTestApp();
    folder = await mkdtemp(join(tmpdir(), 'sr-transfer-'));
    desk = sitDown(folder);
    desk.settle({ STRONGROOM_DATABASE_URL: urlOf(app.db.target), STRONGROOM_ROOT_KEY: rootKeyOf(app).reveal() });
  });
  after(async () => {
    desk?.leave();
    await rm(folder, { recursive: true, force: true });
    await app.close();
  });

  const transfer = (tenantId: string, to: string) => runHere('tenant transfer', ['--tenant', tenantId, '--to', to]);
  const rolesIn = async ({ id }: TestTenant): Promise<Record<string, string>> => {
    const { rows } = await app.db.owner.query('SELECT user_id, role FROM members WHERE tenant_id = $1', [id]);
    return Object.fromEntries(rows.map(({ user_id, role }) => [user_id, role]));
  };
  const ownerIn = async ({ id }: TestTenant): Promise<string> =>
    (await app.db.owner.query('SELECT owner_id FROM tenants WHERE id = $1', [id])).rows[0].owner_id;
  const entriesIn = async ({ key }: TestTenant): Promise<string[]> => {
    const { json } = await app.call('GET', '/logs?size=100', { key });
    return json.data.map((entry: Record<string, string>) =>
      [entry.entity_type, entry.operation, entry.message, entry.actor_type ?? 'operator'].join(' / '),
    );
  };
  const canDelete = async ({ browser }: Person, { id }: TestTenant) =>
    (await browser.call('DELETE', '/tenants/self', undefined, { 'SVC-TENANT-ID': id })).status;
  const stateOf = async (tenant: TestTenant) => [await ownerIn(tenant), await rolesIn(tenant), await entriesIn(tenant)];

  it('0: a user who is no member becomes the owner, the owner an ADMIN; the Tenant’s log has an entry for each', async () => {
    const [tenant, neighbour] = [await app.makeTenant(), await app.makeTenant()];
    const before = await entriesIn(tenant);
    const untouched = await stateOf(neighbour);
    const email = `${newId()}@example.com`;
    const userId = await makeUser(app, email);
    const { code, stdout, stderr } = await transfer(tenant.id.toUpperCase(), email.toUpperCase());
    assert.deepEqual([code, stdout], [0, ''], stderr);
    assert.deepEqual(await rolesIn(tenant), { [userId]: 'OWNER', [tenant.ownerId]: 'ADMIN' });
    assert.equal(await ownerIn(tenant), userId);
    const added = (await entriesIn(tenant)).slice(0, -before.length);
    assert.deepEqual(added.sort(), [
      'tenant / update / Tenant updated / operator',
      'tenant_member / create / Member added / operator',
      'tenant_member / update / Member role changed / operator',
    ]);
    assert.deepEqual(await stateOf(neighbour), untouched);
    const lines = stderr.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
    assert.deepEqual(
      lines.map(({ event, userId: whose, before: was, after: is }) => [event, whose, was, is]),
      [
        ['tenant_member_added', userId, undefined, 'OWNER'],
        ['tenant_member_role_changed', tenant.ownerId, 'OWNER', 'ADMIN'],
      ],
    );
  });

  it('a running server hears of it: GET /tenants/self shows the new owner', async () => {
    const tenant = await app.makeTenant();
    const userId = await makeUser(app, `${newId()}@example.com`);
    const shown = async () => (await app.call('GET', '/tenants/self', { key: tenant.key })).json.owner_id;
    assert.equal(await shown(), tenant.ownerId);
    assert.equal((await transfer(tenant.id, userId)).code, 0);
    await eventually('the new owner', async () => (await shown()) === userId, BEFORE_ECHO_MS);
  });

  it('403 for the owner of before at what only an owner may do, 204 for the new one, in the sessions they have', async () => {
    const tenant = await app.makeTenant();
    const [former, next] = [await makePerson(app, tenant.id, 'ADMIN'), await makePerson(app, tenant.id, 'READ_ONLY')];
    assert.equal((await transfer(tenant.id, former.userId)).code, 0);
    assert.equal((await transfer(tenant.id, next.email)).code, 0);
    assert.deepEqual(await rolesIn(tenant), {
      [tenant.ownerId]: 'ADMIN',
      [former.userId]: 'ADMIN',
      [next.userId]: 'OWNER',
    });
    assert.equal(await canDelete(former, tenant), 403);
    assert.equal(await canDelete(next, tenant), 204);
  });

  it('an owner from before there were members is made none', async () => {
    const tenant = await app.makeTenant();
    await app.db.owner.query('DELETE FROM members WHERE tenant_id = $1', [tenant.id]);
    const userId = await makeUser(app, `${newId()}@example.com`);
    assert.equal((await transfer(tenant.id, userId)).code, 0);
    assert.deepEqual(await rolesIn(tenant), { [userId]: 'OWNER' });
  });

  it('64 for the same owner, a user or a Tenant that does not exist, and a deleted Tenant; nothing changes', async () => {
    const tenant = await app.makeTenant();
    const userId = await makeUser(app, `${newId()}@example.com`);
    const gone = await app.makeTenant();
    assert.equal((await app.call('DELETE', '/tenants/self', { key: gone.key })).status, 204);
    const before = await stateOf(tenant);
    const wrong: readonly (readonly [string, string, string])[] = [
      [tenant.id, tenant.ownerId, 'to: owns the Tenant already'],
      [tenant.id, newId(), 'to: is neither the id nor the address of a user'],
      [tenant.id, 'nobody@example.com', 'to: is neither the id nor the address of a user'],
      [newId(), userId, 'tenant: is not the id of a Tenant'],
      [gone.id, userId, 'tenant: is not the id of a Tenant'],
    ];
    for (const [tenantId, to, sentence] of wrong) {
      const { code, stdout, stderr } = await transfer(tenantId, to);
      assert.deepEqual([code, stdout], [64, ''], stderr);
      assert.ok(stderr.includes(sentence), stderr);
    }
    assert.deepEqual(await stateOf(tenant), before);
    assert.equal(await ownerIn(gone), gone.ownerId);
  });

  it('69 where a role was written in the database: it is named in the security log, and nothing changes', async () => {
    const tenant = await app.makeTenant();
    const { memberId, userId } = await makeMember(app, tenant.id, 'READ_ONLY');
    await app.db.owner.query(`UPDATE members SET role = 'OWNER' WHERE id = $1`, [memberId]);
    const before = await stateOf(tenant);
    const { code, stderr } = await transfer(tenant.id, userId);
    assert.equal(code, 69, stderr);
    assert.ok(stderr.includes('"integrity_fault"') && stderr.includes(memberId), stderr);
    assert.deepEqual(await stateOf(tenant), before);
  });

  it('whoever edits the owner in the Tenant’s row keeps no second owner: members say who it was', async () => {
    const tenant = await app.makeTenant();
    const thief = await makeMember(app, tenant.id, 'READ_ONLY');
    await app.db.owner.query('UPDATE tenants SET owner_id = $2 WHERE id = $1', [tenant.id, thief.userId]);
    const userId = await makeUser(app, `${newId()}@example.com`);
    assert.equal((await transfer(tenant.id, userId)).code, 0);
    assert.deepEqual(await rolesIn(tenant), {
      [tenant.ownerId]: 'ADMIN',
      [thief.userId]: 'READ_ONLY',
      [userId]: 'OWNER',
    });
  });

  it('of several at once one owner is left, whom the Tenant’s row names', async () => {
    const tenant = await app.makeTenant();
    const users: string[] = [];
    for (let n = 0; n < 3; n += 1) users.push(await makeUser(app, `${newId()}@example.com`));
    const ended = await Promise.all(users.map((userId) => transfer(tenant.id, userId)));
    assert.deepEqual(
      ended.map(({ code }) => code),
      [0, 0, 0],
    );
    const roles = await rolesIn(tenant);
    const owners = Object.keys(roles).filter((userId) => roles[userId] === 'OWNER');
    assert.deepEqual(owners, [await ownerIn(tenant)]);
    assert.equal(Object.keys(roles).length, 4);
  });
});
