import type { MailMessage } from '../mailer.js';
import { composeMessage } from './layout.js';
import { instantText, line } from './line.js';
import type { PortalLink } from './portal-link.js';

export interface EmailChangeValues {
  readonly newEmail: string;
  readonly expiresAtMs: number;
  readonly link: PortalLink;
}

/** To the address that an account has: whoever only took over the session cannot take over the account. */
export function emailChangeMessageToOld({ newEmail, expiresAtMs, link }: EmailChangeValues): MailMessage {
  return composeMessage({
    kind: 'email_change_old',
    subject: line`Confirm the change of your address for Strongroom`,
    before: [line`Somebody asked to change the address of your account to ${newEmail}.`],
    link: { label: 'Confirm the change', to: link },
    after: [
      line`The link works once, until ${instantText(expiresAtMs)}. The new address has to be confirmed as well.`,
      line`If it was not you, do not follow the link, and change your password: somebody may know it.`,
    ],
  });
}

/** To the address that it shall have. */
export function emailChangeMessageToNew({ expiresAtMs, link }: Omit<EmailChangeValues, 'newEmail'>): MailMessage {
  return composeMessage({
    kind: 'email_change_new',
    subject: line`Confirm your new address for Strongroom`,
    before: [line`Somebody asked to use this address for an account.`],
    link: { label: 'Confirm this address', to: link },
    after: [
      line`The link works once, until ${instantText(expiresAtMs)}.`,
      line`If it was not you, ignore this: the address is not used without the link.`,
    ],
  });
}
