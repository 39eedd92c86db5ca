import type { AuditContext } from '../../../audit/entry.js';
import { AppError } from '../../../kernel/errors.js';
import { emailKeyOf } from '../../../people/email.js';
import type { SignedIn } from '../../../people/sessions/portal-sessions.js';
import type { NewAccount } from '../../../people/sign-in/accounts.js';
import type { Entered, Visitor } from '../../../people/sign-in/entrance.js';
import type { UserRow } from '../../../people/users/queries.js';
import { findTenantOwner } from '../../../people/users/queries.js';
import { isMailedInvitation } from '../../invitations/index.js';
import type { MemberBody } from '../../members/index.js';
import type { PortalOptions } from '../service.js';

type Newcomer = Omit<NewAccount, 'email' | 'isEmailVerified'>;
const REGISTRATION = ['registration'] as const;

/** Those who were sent the link of an invitation. */
export interface Invited {
  /** A newcomer: an account for the address that was invited, and the membership with it. */
  register(secret: string, given: Newcomer, visitor: Visitor, auditContext: AuditContext): Promise<Entered>;
  accept(signedIn: SignedIn, user: UserRow, secret: string, auditContext: AuditContext): Promise<MemberBody>;
}

export function createInvited(options: PortalOptions): Invited {
  const { database, people, invitationLinks } = options;
  const { mailbox } = people;

  /** Whoever has a link that was mailed has the mailbox; everybody else must have proven it before. */
  async function proveAddress(signedIn: SignedIn, secret: string): Promise<void> {
    const { userId } = signedIn;
    const isVerified = () => database.readPeople((tx) => mailbox.isVerified(tx, userId));
    if (await isVerified()) return;
    if (!isMailedInvitation(secret)) {
      // The account was made by this very link, and something came in between.
      const maker = await database.readPeople((tx) => people.links.look(tx, secret, 'registration'));
      if (maker === userId) return;
      throw notVerified();
    }
    const outcome = await database.people((tx) => mailbox.proveBySession(tx, signedIn));
    mailbox.tell(userId, outcome, undefined);
    // Another request was first, or the row was edited.
    if (!outcome.isFirst && !(await isVerified())) throw notVerified();
  }

  return {
    async register(secret, given, visitor, auditContext) {
      const { email, tenantId } = await invitationLinks.preview(secret, auditContext.atMs);
      const ownerId = (await database.readPeople((tx) => findTenantOwner(tx, tenantId))) ?? tenantId;
      const invitation = { secret, ownerId };
      const newcomer = { ...given, email, isEmailVerified: isMailedInvitation(secret), invitation };
      const entered = await people.accounts.register(newcomer, visitor);
      const actor = { type: 'user', id: entered.user.id } as const;
      try {
        await invitationLinks.accept(secret, entered.user, { ...auditContext, actor });
      } catch (error) {
        // Two roles cannot share a transaction. Whoever was refused must not be left with an account that belongs nowhere.
        await people.undoRegistration(entered.user.id, visitor.address);
        throw error;
      }
      await database.people((tx) => people.links.drop(tx, entered.user.id, REGISTRATION));
      return entered;
    },

    async accept(signedIn, user, secret, auditContext) {
      const { email } = await invitationLinks.preview(secret, auditContext.atMs);
      const isTheirs = user.email !== null && emailKeyOf(user.email) === emailKeyOf(email);
      if (isTheirs) await proveAddress(signedIn, secret);
      return invitationLinks.accept(secret, user, auditContext);
    },
  };
}

/** With mail the user proves it itself; without, the operator does. */
export function notVerified(): AppError {
  const how = 'Set a new password by the link of a forgotten password, or ask the operator for one, then try again';
  return new AppError('access_denied', `Nobody has proven yet that the address of your account is yours. ${how}.`);
}
