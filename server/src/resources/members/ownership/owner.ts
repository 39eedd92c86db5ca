import type { KeyObject } from 'node:crypto';
import type { MemberRole } from '../../../access/roles.js';
import type { AuditContext } from '../../../audit/entry.js';
import { operatorContext } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import { storageUnavailable } from '../../../kernel/errors.js';
import { FIRST_OWNER_ID } from '../../../people/first-owner.js';
import { listOwnedTenants } from '../../../people/users/queries.js';
import type { Database } from '../../../storage/database.js';
import type { TenantTx } from '../../../storage/scope.js';
import { MEMBER_EVENTS } from '../events.js';
import type { StoredMember } from '../queries.js';
import { countMembers, lockOwnersAndUser, updateMember } from '../queries.js';
import type { MembersOptions, StoryOfMember } from '../service.js';
import { memberStoryOf, verifiedMember } from '../service.js';
import { addMember, memberInRole } from '../stored/member.js';

export type OwnershipOptions = Pick<MembersOptions, 'systemKeys' | 'onMemberAltered'>;

export interface NewOwner {
  readonly userId: string;
  /** The operator makes whomever it wants a member first. An owner gives its tenant to who is one. */
  readonly mustBeMember: boolean;
}

/**
 * Makes a user the one owner of a tenant, inside the caller's transaction and with the entries; whoever was an owner becomes an
 * ADMIN. Who that is the members say, whose rows have a MAC, and not the tenant's own row. Undefined, with nothing written, for who
 * is no member and must be one.
 */
export async function makeOwner(
  tx: TenantTx,
  options: OwnershipOptions,
  auditContext: AuditContext,
  { userId, mustBeMember }: NewOwner,
): Promise<StoryOfMember[] | undefined> {
  const { tenantId } = tx;
  const { rowMac } = options.systemKeys;
  const stories: StoryOfMember[] = [];
  const change = async (member: StoredMember, role: MemberRole): Promise<void> => {
    const changed = memberInRole(tenantId, rowMac, auditContext, { member, role });
    if (!(await updateMember(tx, member, changed))) throw changedMeanwhile();
    await record(tx, auditContext, { event: MEMBER_EVENTS.role_changed, entityId: member.id, outcome: 'success' });
    stories.push(memberStoryOf(MEMBER_EVENTS.role_changed, member, role));
  };
  // Tried first, because a member that is being added at this moment cannot be seen.
  const added = mustBeMember ? undefined : await addMember(tx, rowMac, auditContext, { userId, role: 'OWNER' });
  if (added) {
    stories.push({ event: MEMBER_EVENTS.added, memberId: added.id, userId, after: 'OWNER' });
  }
  const members = (await lockOwnersAndUser(tx, userId)).map((member) => verifiedMember(options, tenantId, member));
  if (!members.some(({ user_id }) => user_id === userId)) {
    if (mustBeMember) return undefined;
    throw changedMeanwhile();
  }
  for (const member of members) {
    const role = member.user_id === userId ? 'OWNER' : 'ADMIN';
    if (member.role !== role) await change(member, role);
  }
  return stories;
}

/** By a change in the same transaction: this one then runs again, alone. */
function changedMeanwhile(): Error {
  return storageUnavailable(new Error('the member was changed or removed at this moment'));
}

/**
 * Tenants that were made before there were members have none. Their row has no MAC, so it is believed for the first owner alone,
 * whose link the operator has, and only where there is no member at all; others are given theirs by `tenant transfer`.
 */
export async function makeOwnerOfOlderTenants(
  database: Database,
  rowMacKey: KeyObject,
  userId: string,
  atMs: number,
): Promise<void> {
  if (userId !== FIRST_OWNER_ID) return;
  const tenants = await database.readPeople((tx) => listOwnedTenants(tx, userId));
  for (const tenantId of tenants) {
    await database.write(tenantId, async (tx) => {
      if ((await countMembers(tx, undefined)) > 0) return;
      await addMember(tx, rowMacKey, operatorContext(atMs), { userId, role: 'OWNER' });
    });
  }
}
