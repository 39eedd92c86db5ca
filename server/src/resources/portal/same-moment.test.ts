import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createDeferred } from '../../kernel/deferred.js';
import { eventually } from '../../testing/eventually.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makePerson } from './portal-fixture.js';

/** Two changes of one member that share a transaction: row locks do not keep them apart there. */
describe('a member that is changed twice at the same moment', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp({ env: { STRONGROOM_DATABASE_WRITE_CONNECTIONS_MAX: '1' } });
  });
  after(() => app.close());

  /** Sends requests in this order while the one connection for changes is busy: what they change goes into one batch. */
  async function inOneBatch(...sends: (() => ReturnType<TestApp['call']>)[]) {
    const other = await app.makeTenant();
    const [begun, open] = [createDeferred<void>(), createDeferred<void>()];
    const busy = app.database.write(other.id, async () => {
      begun.resolve();
      await open.promise;
    });
    await begun.promise;
    const answers: ReturnType<TestApp['call']>[] = [];
    for (const send of sends) {
      answers.push(send());
      await eventually('it waits for its commit', () => app.database.writesPending() === 1 + answers.length);
    }
    open.resolve();
    await busy;
    return Promise.all(answers);
  }

  async function ownTenant() {
    const home = await app.makeTenant();
    const owner = await makePerson(app, home.id, 'ADMIN');
    const { json } = await owner.browser.call('POST', '/portal/api/tenants', { name: 'Ours' });
    const tenantId = json.id as string;
    const person = await makePerson(app, tenantId, 'ADMIN');
    const as = { 'SVC-TENANT-ID': tenantId };
    // Noted once an hour; so no visit is written with what the test sends.
    await owner.browser.call('GET', '/tenants/self', undefined, as);
    await person.browser.call('GET', `/portal/api/tenants/${tenantId}/members`);
    const member = `/tenants/self/members/${person.memberId}`;
    return {
      ...{ tenantId, owner, person },
      byOwner: (method: string, body?: object) => () => owner.browser.call(method, member, body, as),
      leave: () => person.browser.call('DELETE', `/portal/api/memberships/${tenantId}`),
      giveAway: () =>
        owner.browser.call('POST', `/portal/api/tenants/${tenantId}/owner`, { member_id: person.memberId }),
    };
  }

  const eventsOf = async (memberId: string) => {
    const found = await app.db.owner.query<{ message: string }>(
      'SELECT message FROM logs WHERE entity_id = $1 ORDER BY created_at, id',
      [memberId],
    );
    return found.rows.map(({ message }) => message);
  };
  const rolesOf = async (tenantId: string) => {
    const found = await app.db.owner.query('SELECT user_id, role FROM members WHERE tenant_id = $1', [tenantId]);
    return new Map(found.rows.map(({ user_id, role }) => [user_id, role]));
  };

  it('204 and 404 for one that leaves and is removed, with one entry', async () => {
    const { person, byOwner, leave } = await ownTenant();
    const answers = await inOneBatch(leave, byOwner('DELETE'));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [204, 404],
    );
    assert.deepEqual(await eventsOf(person.memberId), ['Member added', 'Signed in to the Portal', 'Member removed']);
  });

  it('204 and 404 for one that leaves and gets another role, which no entry tells of', async () => {
    const { person, byOwner, leave } = await ownTenant();
    const answers = await inOneBatch(leave, byOwner('PUT', { role: 'READ_ONLY' }));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [204, 404],
    );
    assert.deepEqual(await eventsOf(person.memberId), ['Member added', 'Signed in to the Portal', 'Member removed']);
  });

  it('200 and 204 for one that gets another role and leaves, with both entries', async () => {
    const { person, byOwner, leave } = await ownTenant();
    const answers = await inOneBatch(byOwner('PUT', { role: 'READ_ONLY' }), leave);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 204],
    );
    assert.deepEqual(await eventsOf(person.memberId), [
      ...['Member added', 'Signed in to the Portal', 'Member role changed', 'Member removed'],
    ]);
  });

  it('one outcome for one that leaves and is given the tenant: the tenant has an owner who is a member', async () => {
    for (const isLeavingFirst of [true, false]) {
      const { tenantId, owner, person, leave, giveAway } = await ownTenant();
      await inOneBatch(...(isLeavingFirst ? [leave, giveAway] : [giveAway, leave]));
      const roles = await rolesOf(tenantId);
      const stored = await app.db.owner.query('SELECT owner_id FROM tenants WHERE id = $1', [tenantId]);
      const ownerId = stored.rows[0]?.owner_id;
      assert.equal(roles.get(ownerId), 'OWNER');
      assert.equal([...roles.values()].filter((role) => role === 'OWNER').length, 1);
      const hasLeft = (await eventsOf(person.memberId)).includes('Member removed');
      assert.equal(ownerId === owner.userId || roles.has(person.userId), true);
      assert.equal(hasLeft && ownerId === owner.userId, !roles.has(person.userId));
    }
  });
});
