import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BasisTheoryClient } from '@basis-theory/node-sdk';
import { BasisTheory } from '@basis-theory/node-sdk';
import { createClient } from './client.js';
import { isError } from './compatibility-node-sdk-checks.js';
import type { Reference } from './compatibility-subject.js';
import { given } from './compatibility-subject.js';
import { joined } from './registration.js';

export function nodeSdkPeople(management: () => BasisTheoryClient, reference: () => Reference): void {
  it('creates, resends, reads, lists and deletes an invitation', async () => {
    const { invitations } = management().tenants;
    const made = await invitations.create({ email: 'sdk@example.com', role: 'READ_ONLY' });
    const id = given(made.id);
    assert.deepEqual([made.email, made.role, made.status], ['sdk@example.com', 'READ_ONLY', 'PENDING']);
    assert.equal((await invitations.resend(id)).id, id);
    const found = await invitations.get(id);
    assert.equal(found.email, made.email);
    assert.deepEqual((await invitations.list({ status: 'PENDING' })).data, [found]);
    await invitations.delete(id);
    await assert.rejects(invitations.get(id), (error) => isError(error, BasisTheory.NotFoundError));
  });

  it('lists, changes and removes a member, and lists roles', async () => {
    const { members } = management().tenants;
    const { baseUrl, managementKeys } = reference();
    const userId = await joined(createClient(baseUrl), managementKeys.nodeSdk, 'sdk-member@example.com');
    const [member] = given((await members.list({ userId })).data);
    const id = given(member?.id);
    assert.deepEqual([member?.user?.email, member?.role], ['sdk-member@example.com', 'ADMIN']);
    assert.equal((await members.update(id, { role: 'READ_ONLY' })).role, 'READ_ONLY');
    await members.delete(id);
    assert.deepEqual((await members.list({ userId })).data, []);
    assert.deepEqual(
      (await management().roles.list()).map(({ name }) => name),
      ['OWNER', 'ADMIN', 'READ_ONLY'],
    );
  });
}
