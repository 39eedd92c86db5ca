import { isInvitationMacValid } from '../../../access/row-macs.js';
import type { AuditContext } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import { macEquals } from '../../../crypto/keyed-hash.js';
import { AppError } from '../../../kernel/errors.js';
import { emailKeyOf } from '../../../people/email.js';
import type { UserRow } from '../../../people/users/queries.js';
import { announce } from '../../../storage/changes.js';
import type { TenantTx } from '../../../storage/scope.js';
import type { MemberBody } from '../../members/index.js';
import { addMember, memberBodyOf } from '../../members/index.js';
import { INVITATION_EVENTS } from '../events.js';
import type { StoredInvitation } from '../queries.js';
import { deleteInvitationsOf, findInvitation, findInvitationBySecret, lockInvitation } from '../queries.js';
import type { InvitationsOptions } from '../service.js';
import { grantOf, hashInvitationSecret } from '../stored/invitation.js';

/** What whoever has the link is shown. */
export interface InvitationPreview {
  readonly tenantId: string;
  readonly email: string;
  readonly role: string;
}

/** Invitations as those see them who were sent the link. */
export interface InvitationLinks {
  /** 404 for a secret that is unknown, used, replaced or over. */
  preview(secret: string, nowMs: number): Promise<InvitationPreview>;
  /** Makes the user a member, in the role of the invitation. */
  accept(secret: string, user: UserRow, auditContext: AuditContext): Promise<MemberBody>;
}

type LinksOptions = Pick<InvitationsOptions, 'database' | 'systemKeys' | 'forgetAccess'>;

const SECRET_PATTERN = /^[0-9A-Za-z]{43}$/;

export function createInvitationLinks({ database, systemKeys, forgetAccess }: LinksOptions): InvitationLinks {
  async function place(secret: string) {
    if (!SECRET_PATTERN.test(secret)) throw deadInvitation();
    const hash = hashInvitationSecret(systemKeys, secret);
    const found = await database.readPeople((tx) => findInvitationBySecret(tx, hash));
    if (!found) throw deadInvitation();
    return { tenantId: found.tenant_id, id: found.id, hash };
  }

  /** Whether it is still what the secret was made for. */
  function isGood(tenantId: string, row: StoredInvitation | undefined, hash: Buffer, nowMs: number): boolean {
    if (!row || !macEquals(row.secret_hash, hash) || row.expires_at.getTime() <= nowMs) return false;
    return isInvitationMacValid(systemKeys.rowMac, grantOf(tenantId, row), row.mac);
  }

  async function join(
    tx: TenantTx,
    { row, user, auditContext }: { row: StoredInvitation; user: UserRow; auditContext: AuditContext },
  ): Promise<MemberBody | AppError> {
    const role = row.role === 'ADMIN' ? 'ADMIN' : 'READ_ONLY';
    const member = await addMember(tx, systemKeys.rowMac, auditContext, { userId: user.id, role });
    if (!member) return alreadyMember();
    await deleteInvitationsOf(tx, row.email_key);
    await Promise.all([
      record(tx, auditContext, { event: INVITATION_EVENTS.accepted, entityId: row.id, outcome: 'success' }),
      announce(tx, { kind: 'access', tenantId: tx.tenantId }),
    ]);
    return memberBodyOf(tx.tenantId, member, user);
  }

  return {
    async preview(secret, nowMs) {
      const { tenantId, id, hash } = await place(secret);
      const row = await database.read(tenantId, (tx) => findInvitation(tx, id));
      if (!row || !isGood(tenantId, row, hash, nowMs)) throw deadInvitation();
      return { tenantId, email: row.email, role: row.role };
    },

    async accept(secret, user, auditContext) {
      const { tenantId, id, hash } = await place(secret);
      const outcome = await database.write(tenantId, async (tx) => {
        const row = await lockInvitation(tx, id);
        if (!row || !isGood(tenantId, row, hash, auditContext.atMs)) return deadInvitation();
        if (user.email === null || emailKeyOf(user.email) !== row.email_key) return forAnother();
        return join(tx, { row, user, auditContext });
      });
      if (outcome instanceof AppError) throw outcome;
      forgetAccess(tenantId);
      return outcome;
    },
  };
}

/** The same for every cause. */
function deadInvitation(): AppError {
  return new AppError(
    'not_found',
    'This invitation does not work: it was used, replaced, or is too old. Ask for a new one.',
  );
}

function forAnother(): AppError {
  return new AppError(
    'access_denied',
    'This invitation is for another address. Sign in with the address it was sent to.',
  );
}

function alreadyMember(): AppError {
  return new AppError('already_member', 'You are a member of this Tenant already.');
}
