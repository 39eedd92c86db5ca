import type { AuditContext } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import { AppError, validationFailed } from '../../../kernel/errors.js';
import { announce } from '../../../storage/changes.js';
import type { Database } from '../../../storage/database.js';
import type { MembersOptions } from '../../members/index.js';
import { findMemberByUser, makeOwner } from '../../members/index.js';
import { TENANT_EVENTS } from '../events.js';
import { lockTenantOwner, setTenantOwner } from './queries.js';

export interface OwnershipTransferOptions
  extends Pick<MembersOptions, 'systemKeys' | 'onMemberAltered' | 'onMemberChanged'> {
  readonly database: Database;
  /** Drops what this process remembers of the tenant and its rights. */
  readonly forgetTenant: (tenantId: string) => void;
}

/**
 * Gives a tenant to another user, who must exist. Whether the caller may do that is asked before; an owner who gives it away must
 * still be the owner then, and the other one a member.
 */
export type TransferOwnership = (
  tenantId: string,
  toUserId: string,
  auditContext: AuditContext,
  givenBy?: string,
) => Promise<void>;

export function createOwnershipTransfer(options: OwnershipTransferOptions): TransferOwnership {
  return async (tenantId, toUserId, auditContext, givenBy) => {
    // A refusal is handed back, so that what shares its transaction goes on.
    const outcome = await options.database.write(tenantId, async (tx) => {
      const ownerId = await lockTenantOwner(tx);
      if (ownerId === undefined) return new AppError('not_found', 'There is no such Tenant.');
      if (givenBy !== undefined && ownerId !== givenBy) {
        return new AppError('permission_denied', 'Only the owner can give a Tenant away.');
      }
      // An owner from before there were members is none yet.
      const isMember = ownerId === toUserId && (await findMemberByUser(tx, toUserId)) !== undefined;
      if (isMember) return validationFailed({ to: ['owns the Tenant already'] });
      const newOwner = { userId: toUserId, mustBeMember: givenBy !== undefined };
      const stories = await makeOwner(tx, options, auditContext, newOwner);
      if (!stories) return validationFailed({ member_id: ['is no member of this Tenant any more'] });
      await setTenantOwner(tx, { ownerId: toUserId, modifiedBy: auditContext.actor?.id, atMs: auditContext.atMs });
      await Promise.all([
        record(tx, auditContext, { event: TENANT_EVENTS.updated, entityId: tenantId, outcome: 'success' }),
        announce(tx, { kind: 'tenant', tenantId }),
        announce(tx, { kind: 'access', tenantId }),
      ]);
      return stories;
    });
    if (outcome instanceof AppError) throw outcome;
    options.forgetTenant(tenantId);
    for (const story of outcome) options.onMemberChanged({ ...story, tenantId }, auditContext);
  };
}
