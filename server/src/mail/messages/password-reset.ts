import type { MailMessage } from '../mailer.js';
import { composeMessage } from './layout.js';
import { instantText, line } from './line.js';
import type { PortalLink } from './portal-link.js';

export interface PasswordResetValues {
  readonly expiresAtMs: number;
  readonly link: PortalLink;
}

export function passwordResetMessage({ expiresAtMs, link }: PasswordResetValues): MailMessage {
  return composeMessage({
    kind: 'password_reset_link',
    subject: line`Set a new password for Strongroom`,
    before: [line`Somebody asked to set a new password for your account.`],
    link: { label: 'Set a new password', to: link },
    after: [
      line`The link works once, until ${instantText(expiresAtMs)}.`,
      line`If it was not you, ignore this: your password stays as it is.`,
    ],
  });
}
