import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../kernel/clock.js';
import { isMailAddress } from '../../mail/address.js';
import type { Mail } from '../../mail/mail.js';
import type { MailMessage } from '../../mail/mailer.js';
import type { AccountChange } from '../../mail/messages/account-change.js';
import { accountChangeMessage } from '../../mail/messages/account-change.js';
import { newDeviceMessage } from '../../mail/messages/new-device.js';
import { PortalLink } from '../../mail/messages/portal-link.js';
import type { PeopleTx } from '../../storage/scope.js';
import type { PeopleSecurity } from '../security.js';
import type { PortalClient } from '../sessions/portal-sessions.js';
import { isAddressSound } from '../users/address-mac.js';
import { findAddressOf } from '../users/address-queries.js';

/**
 * Tells users by mail what happened to their accounts. The mail is in the queue when the change is committed. A queue that is
 * full stops no change: whoever fills it must not keep somebody from replacing a stolen password.
 */
export interface Notices {
  /** To the address that the user has at this point of the transaction. */
  tell(tx: PeopleTx, userId: string, change: AccountChange): Promise<void>;
  tellOfDevice(tx: PeopleTx, userId: string, client: PortalClient): Promise<void>;
}

export type PeopleMail = Pick<Mail, 'offer' | 'pretend' | 'wake'>;

export interface NoticesOptions {
  /** Undefined where nothing can be sent: then nobody is told. */
  readonly mail: PeopleMail | undefined;
  readonly portalUrl: () => string;
  readonly clock: Clock;
  readonly rowMacKey: KeyObject;
  readonly security: Pick<PeopleSecurity, 'onNoticeDropped'>;
}

export const ACCOUNT_PAGE = '/portal/account';
const SESSIONS_PAGE = '/portal/account/sessions';

export function createNotices({ mail, portalUrl, clock, rowMacKey, security }: NoticesOptions): Notices {
  async function send(tx: PeopleTx, userId: string, messageOf: () => MailMessage): Promise<void> {
    if (!mail) return;
    const row = await findAddressOf(tx, userId);
    // The owner has no address before the set-up.
    if (!row || row.email === null) return;
    const message = messageOf();
    const isReachable = isAddressSound(rowMacKey, row) && isMailAddress(row.email);
    const isQueued = isReachable && (await mail.offer(tx, { recipient: row.email, message }));
    if (isQueued) return;
    security.onNoticeDropped({ userId, mailKind: message.kind, reason: isReachable ? 'queue full' : 'no address' });
  }

  return {
    tell: (tx, userId, change) =>
      send(tx, userId, () =>
        accountChangeMessage({ change, atMs: clock.nowMs(), link: new PortalLink(portalUrl(), ACCOUNT_PAGE) }),
      ),
    tellOfDevice: (tx, userId, { address, agent }) =>
      send(tx, userId, () =>
        newDeviceMessage({
          ...{ atMs: clock.nowMs(), address: address ?? 'unknown', device: agent },
          link: new PortalLink(portalUrl(), SESSIONS_PAGE),
        }),
      ),
  };
}
