import type { MailMessage } from '../mailer.js';
import { composeMessage } from './layout.js';
import { instantText, line } from './line.js';
import type { PortalLink } from './portal-link.js';

export interface InvitationValues {
  readonly tenantName: string;
  /** Who invites, by name or address; undefined where a key did. */
  readonly inviter: string | undefined;
  readonly role: string;
  readonly expiresAtMs: number;
  readonly link: PortalLink;
}

export function invitationMessage({ tenantName, inviter, role, expiresAtMs, link }: InvitationValues): MailMessage {
  return composeMessage({
    kind: 'invitation',
    subject: line`Invitation to ${tenantName} on Strongroom`,
    before: [
      inviter === undefined
        ? line`You are invited to join the tenant “${tenantName}” with the role ${role}.`
        : line`${inviter} invites you to join the tenant “${tenantName}” with the role ${role}.`,
    ],
    link: { label: 'Accept the invitation', to: link },
    after: [
      line`The link works once, until ${instantText(expiresAtMs)}.`,
      line`If you did not expect this, ignore it: nothing happens without the link.`,
    ],
  });
}
