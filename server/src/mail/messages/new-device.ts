import type { MailMessage } from '../mailer.js';
import { composeMessage } from './layout.js';
import { instantText, line } from './line.js';
import type { PortalLink } from './portal-link.js';

export interface NewDeviceValues {
  readonly atMs: number;
  /** Of the client. */
  readonly address: string;
  /** What the browser says of itself, in a few words; undefined where it says nothing. */
  readonly device: string | undefined;
  /** The page of the user's sessions. */
  readonly link: PortalLink;
}

export function newDeviceMessage({ atMs, address, device, link }: NewDeviceValues): MailMessage {
  return composeMessage({
    kind: 'new_device',
    subject: line`New sign-in to Strongroom`,
    before: [
      line`Somebody signed in to your account from a device that was not used before.`,
      line`Time: ${instantText(atMs)}`,
      line`Address: ${address}`,
      ...(device === undefined ? [] : [line`Device: ${device}`]),
    ],
    link: { label: 'See your sessions', to: link },
    after: [line`If it was not you, end that session and change your password.`],
  });
}
