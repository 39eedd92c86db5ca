import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Sent } from './client.js';
import { assertProblem } from './client.js';
import { joined } from './registration.js';
import type { Resource } from './resource.js';
import { endpoint, LIST, ONE, READ, SENT } from './resource.js';
import type { Subject } from './subject.js';
import { DATE, listed, logged, UNKNOWN_ID, UUID } from './vault.js';

interface Member {
  readonly id: string;
  readonly tenant_id: string;
  readonly role: string;
  readonly user: { readonly id: string; readonly email?: string; readonly first_name?: string };
  readonly created_at: string;
  readonly created_date: string;
}

const ALL = '/tenants/self/members';
let invited = 0;

/** Somebody new who is a member. */
async function makeMember({ call, keys }: Subject): Promise<Member> {
  invited += 1;
  const id = await joined(call, keys.management, `member-${invited}-${Date.now()}@example.com`);
  const [member] = listed<Member>(await call('GET', `${ALL}?user_id=${id}`, { key: keys.management })).data;
  return member ?? assert.fail('who registers is a member');
}

function suite(subject: () => Subject): void {
  const call = (method: string, path: string, sent: Sent = {}) =>
    subject().call(method, path, { key: subject().keys.management, ...sent });

  describe('members', () => {
    it('200 for the list: the owner, and who accepted an invitation', async () => {
      const made = await makeMember(subject());
      for (const id of [made.id, made.tenant_id, made.user.id]) assert.match(id, UUID);
      assert.match(made.created_at, DATE);
      assert.deepEqual([made.created_date, made.role, made.user.first_name], [made.created_at, 'ADMIN', 'Ada']);
      const { data } = listed<Member>(await call('GET', `${ALL}?size=100`));
      assert.equal(data[0]?.id, made.id);
      assert.equal(data.filter(({ role }) => role === 'OWNER').length, 1);
      assertProblem(await call('GET', `${ALL}?size=0`), 400, 'validation_failed');
    });

    it('200 for another role, 204 for the removal, each with its entry; 404 from then on', async () => {
      const { id } = await makeMember(subject());
      const put = await call('PUT', `${ALL}/${id}`, { body: { role: 'READ_ONLY' } });
      assert.deepEqual([put.status, put.as<Member>().role], [200, 'READ_ONLY']);
      assert.equal((await call('DELETE', `${ALL}/${id}`)).status, 204);
      assertProblem(await call('DELETE', `${ALL}/${id}`), 404, 'not_found');
      assert.deepEqual(await logged(subject(), id), [
        'tenant_member create: Member added',
        'tenant_member update: Member role changed',
        'tenant_member delete: Member removed',
      ]);
    });

    it('422 for the owner, 404 for nobody', async () => {
      const { data } = listed<Member>(await call('GET', `${ALL}?size=100`));
      const owner = data.find(({ role }) => role === 'OWNER')?.id ?? assert.fail('a Tenant has an owner');
      const body = { role: 'ADMIN' };
      assertProblem(await call('PUT', `${ALL}/${owner}`, { body }), 422, 'owner_protected');
      assertProblem(await call('DELETE', `${ALL}/${owner}`), 422, 'owner_protected');
      assertProblem(await call('PUT', `${ALL}/${UNKNOWN_ID}`, { body }), 404, 'not_found');
    });

    it('200 for the roles, the highest first', async () => {
      const answer = await call('GET', '/roles');
      assert.deepEqual(answer.as(), [{ name: 'OWNER' }, { name: 'ADMIN' }, { name: 'READ_ONLY' }]);
    });
  });
}

export const members: Resource = {
  endpoints: [
    endpoint(['GET', ALL], 'tenant:member:read', 200, LIST),
    endpoint(['PUT', `${ALL}/{id}`], 'tenant:member:update', 200, [...SENT, 404, 422], { role: 'READ_ONLY' }),
    endpoint(['DELETE', `${ALL}/{id}`], 'tenant:member:delete', 204, [...ONE, 422]),
    endpoint(
      ['GET', '/roles'],
      'any key',
      200,
      READ.filter((status) => status !== 403),
    ),
  ],
  suite,
  make: async (subject) => (await makeMember(subject)).id,
};
