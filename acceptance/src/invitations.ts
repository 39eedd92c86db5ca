import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Sent } from './client.js';
import { assertProblem } from './client.js';
import type { Resource } from './resource.js';
import { endpoint, LIST, ONE, SENT } from './resource.js';
import type { Subject } from './subject.js';
import { DATE, listed, logged, post, UNKNOWN_ID, UUID } from './vault.js';

interface Invitation {
  readonly id: string;
  readonly tenant_id: string;
  readonly email: string;
  readonly role: string;
  readonly status: string;
  readonly expires_at: string;
  readonly created_by: string;
  readonly created_at: string;
  readonly link?: string;
}

const ALL = '/tenants/self/invitations';
const INVITED = { email: 'ada@example.com', role: 'READ_ONLY' };

function suite(subject: () => Subject): void {
  const call = (method: string, path: string, sent: Sent = {}) =>
    subject().call(method, path, { key: subject().keys.management, ...sent });

  describe('invitations', () => {
    it('201 with exactly the fields, good for 72 hours, and the link once', async () => {
      const answer = await call('POST', ALL, { body: { email: 'Grace@Example.com' } });
      assert.equal(answer.status, 201, answer.text);
      const { id, tenant_id, created_by, created_at, expires_at, link, ...rest } = answer.as<Invitation>();
      for (const each of [id, tenant_id, created_by]) assert.match(each, UUID);
      for (const each of [created_at, expires_at]) assert.match(each, DATE);
      assert.equal(Date.parse(expires_at) - Date.parse(created_at), 72 * 3_600_000);
      assert.deepEqual(rest, { email: 'Grace@Example.com', role: 'ADMIN', status: 'PENDING' });
      assert.match(link ?? '', /\/portal\/invitations\/accept#\S{43}$/);
      assert.equal(answer.headers.get('location'), `${ALL}/${id}`);
      const got = await call('GET', `${ALL}/${id}`);
      assert.deepEqual(got.as(), { id, tenant_id, created_by, created_at, expires_at, ...rest });
    });

    it('200 for another link and for the list, 204 for the deletion, 404 from then on', async () => {
      const { id, link } = await post<Invitation>(subject().call, subject().keys.management, ALL, INVITED);
      const again = await call('POST', `${ALL}/${id}/resend`);
      assert.equal(again.status, 200);
      assert.notEqual(again.as<Invitation>().link, link);
      const { data } = listed<Invitation>(await call('GET', `${ALL}?status=PENDING&size=100`));
      assert.ok(data.some((each) => each.id === id && each.link === undefined));
      assert.equal((await call('DELETE', `${ALL}/${id}`)).status, 204);
      assertProblem(await call('GET', `${ALL}/${id}`), 404, 'not_found');
      assertProblem(await call('POST', `${ALL}/${UNKNOWN_ID}/resend`), 404, 'not_found');
      assert.deepEqual(await logged(subject(), id), [
        'tenant_invitation create: Invitation created',
        'tenant_invitation update: Invitation resent',
        'tenant_invitation delete: Invitation deleted',
      ]);
    });

    it('400 for what is no address, no role and no status', async () => {
      for (const [field, body] of [
        ['email', { email: 'ada' }],
        ['role', { ...INVITED, role: 'OWNER' }],
      ] as const) {
        const { errors } = assertProblem(await call('POST', ALL, { body }), 400, 'validation_failed');
        assert.deepEqual(Object.keys(errors ?? {}), [field]);
      }
      assertProblem(await call('GET', `${ALL}?status=x`), 400, 'validation_failed');
    });
  });
}

const BOTH = 'tenant:invitation:create and tenant:invitation:update';

export const invitations: Resource = {
  endpoints: [
    endpoint(['GET', ALL], 'tenant:invitation:read', 200, LIST),
    endpoint(['POST', ALL], 'tenant:invitation:create', 201, SENT, INVITED),
    endpoint(['GET', `${ALL}/{id}`], 'tenant:invitation:read', 200, ONE),
    endpoint(['POST', `${ALL}/{id}/resend`], BOTH, 200, ONE),
    endpoint(['DELETE', `${ALL}/{id}`], 'tenant:invitation:delete', 204, ONE),
  ],
  suite,
  make: async ({ call, keys }) => (await post<Invitation>(call, keys.management, ALL, INVITED)).id,
};
