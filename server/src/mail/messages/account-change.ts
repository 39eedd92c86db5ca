import type { MailMessage } from '../mailer.js';
import { composeMessage } from './layout.js';
import { instantText, line } from './line.js';
import type { PortalLink } from './portal-link.js';

/** What was changed, in the words of the mail. */
const CHANGES = {
  password_changed: line`The password of your account was changed.`,
  password_reset: line`The password of your account was set anew by a link for a forgotten password.`,
  authenticator_added: line`An authenticator was added to your account.`,
  authenticator_removed: line`The authenticator was removed from your account.`,
  recovery_codes_made: line`New recovery codes were made for your account. Earlier ones do not work any more.`,
  recovery_code_used: line`A recovery code was used to sign in to your account.`,
  passkey_added: line`A passkey was added to your account.`,
  passkey_removed: line`A passkey was removed from your account.`,
  identity_linked: line`A sign-in with another provider was linked to your account.`,
  identity_unlinked: line`A sign-in with another provider was taken away from your account.`,
  mailbox_proven: line`The address of your account was proven for the first time. Passkeys, authenticator, recovery codes, linked sign-ins and sessions from before were removed, because others could have added them. Add yours anew.`,
  operator_reset: line`The operator had the password of your account forgotten, and ended every session. A link of the operator sets a new one.`,
  operator_reset_all: line`The operator had the password of your account forgotten, and removed its authenticator, recovery codes, passkeys and linked sign-ins. A link of the operator sets a new password.`,
  email_changed: line`The address of your account was changed. This one is not used any more.`,
} as const;

export type AccountChange = keyof typeof CHANGES;

export const ACCOUNT_CHANGES = Object.keys(CHANGES) as readonly AccountChange[]; // The keys are what the type is made of.

export interface AccountChangeValues {
  readonly change: AccountChange;
  readonly atMs: number;
  /** The page of the user's account. */
  readonly link: PortalLink;
}

export function accountChangeMessage({ change, atMs, link }: AccountChangeValues): MailMessage {
  return composeMessage({
    kind: change,
    subject: line`Your account for Strongroom was changed`,
    before: [CHANGES[change], line`Time: ${instantText(atMs)}`],
    link: { label: 'See your account', to: link },
    after: [line`If it was not you, set a new password and tell the owner of your tenant.`],
  });
}
