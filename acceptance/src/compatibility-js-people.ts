import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BasisTheory } from '@basis-theory/basis-theory-js';
import { createClient } from './client.js';
import { isApiError } from './compatibility-js-checks.js';
import type { Reference } from './compatibility-subject.js';
import { joined } from './registration.js';

export function jsPeople(management: () => BasisTheory, reference: () => Reference): void {
  it('creates, resends, reads, lists and deletes an invitation', async () => {
    const { tenants } = management();
    const made = await tenants.createInvitation({ email: 'js@example.com' });
    assert.deepEqual([made.email, made.status], ['js@example.com', 'PENDING']);
    const again = await tenants.resendInvitation(made.id);
    assert.equal(again.id, made.id);
    const found = await tenants.retrieveInvitation(made.id);
    assert.deepEqual([found.id, found.createdBy], [made.id, made.createdBy]);
    const { data } = await tenants.listInvitations({ status: 'PENDING', size: 5 });
    assert.deepEqual(data, [found]);
    await tenants.deleteInvitation(made.id);
    await assert.rejects(tenants.retrieveInvitation(made.id), (error) => isApiError(error, 404));
  });

  it('lists members, of one user too, and removes one', async () => {
    const { tenants } = management();
    const { baseUrl, managementKeys } = reference();
    const userId = await joined(createClient(baseUrl), managementKeys.js, 'js-member@example.com');
    const { data } = await tenants.listMembers({ userId });
    const [member] = data;
    assert.deepEqual([member?.user.id, member?.user.email, member?.role], [userId, 'js-member@example.com', 'ADMIN']);
    assert.equal((await tenants.listMembers()).pagination.totalItems, 2);
    await tenants.deleteMember(member?.id ?? '');
    assert.deepEqual((await tenants.listMembers({ userId: [userId] })).data, []);
  });
}
