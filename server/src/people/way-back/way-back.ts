import type { KeyObject } from 'node:crypto';
import type { PasswordHasher } from '../../crypto/password-hash.js';
import type { Clock } from '../../kernel/clock.js';
import { AppError, validationFailed } from '../../kernel/errors.js';
import type { Secret } from '../../kernel/secret.js';
import { isMailAddress } from '../../mail/address.js';
import { passwordResetMessage } from '../../mail/messages/password-reset.js';
import { PortalLink } from '../../mail/messages/portal-link.js';
import type { Database } from '../../storage/database.js';
import type { PeopleTx } from '../../storage/scope.js';
import { emailKeyOf } from '../email.js';
import { deleteEmailChange } from '../email-change/queries.js';
import type { SecondFactorOptions } from '../factors/proven-factor.js';
import { findSecondFactor } from '../factors/second-factor-queries.js';
import { deadLink } from '../links/dead-link.js';
import type { Links, PasswordLinkPurpose } from '../links/links.js';
import { PASSWORD_LINKS } from '../links/links.js';
import type { PeopleMail } from '../notices/notices.js';
import type { PasswordPolicy } from '../password/policy.js';
import type { PeopleSecurity } from '../security.js';
import type { Backoff } from '../sign-in/backoff.js';
import { ADDRESS_BACKOFF } from '../sign-in/backoff.js';
import type { Visitor } from '../sign-in/entrance.js';
import type { SignInFailures } from '../sign-in/failures.js';
import { typedPassword } from '../sign-in/password-proof.js';
import { findSignInOf } from '../sign-in/queries.js';
import { isAddressSound } from '../users/address-mac.js';
import { findAddressByKey } from '../users/address-queries.js';
import { lockUser } from '../users/lock-queries.js';
import type { MailboxProof } from '../users/mailbox-proof.js';
import type { MailBounds } from './mail-bounds.js';
import type { ReplacePassword } from './new-password.js';

/** What somebody does who cannot sign in. */
export interface WayBack {
  /** Mails a link to the user of this address. The same work, and no word, whether or not there is one. */
  forgotten(email: string, visitor: Visitor): Promise<void>;
  /** Sets a password by a link. It opens no session: whoever reads the mailbox still needs the second factor. */
  reset(given: ResetInput, visitor: Visitor): Promise<void>;
}

export interface ResetInput {
  readonly secret: string;
  readonly password: string;
}

export interface WayBackOptions extends SecondFactorOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly rowMacKey: KeyObject;
  readonly mail: PeopleMail | undefined;
  readonly portalUrl: () => string;
  readonly links: Links;
  readonly bounds: MailBounds;
  readonly failures: Pick<SignInFailures, 'forget'>;
  readonly passwords: Pick<PasswordHasher, 'hash'>;
  readonly policy: PasswordPolicy;
  readonly replacePassword: ReplacePassword;
  readonly mailbox: Pick<MailboxProof, 'isVerified' | 'prove' | 'tell'>;
  readonly security: Pick<PeopleSecurity, 'onSignIn' | 'onPeopleAltered' | 'onNoticeDropped'>;
}

export const RESET_PAGE = '/portal/reset-password';
export const MAILED_RESET_LIFE_MS = 3_600_000;
/** The longest wait is as long as a link lives: whoever keeps asking for mail to others leaves them one link that works. */
export const FORGOTTEN_BACKOFF: Backoff = {
  freeFailures: 0,
  firstDelayMs: 60_000,
  delayMaxMs: MAILED_RESET_LIFE_MS,
};
/** Gets the same mail where there is nobody to write to, and never receives it. */
const NOBODY = 'nobody@example.com';

export function createWayBack(options: WayBackOptions): WayBack {
  return { forgotten: forgottenOf(options), reset: resetOf(options) };
}

function forgottenOf(options: WayBackOptions): WayBack['forgotten'] {
  const { database, clock, bounds, links, mail, security } = options;
  return async (email, { limitKey, address }) => {
    if (!mail) return;
    const account = emailKeyOf(email);
    const asked = await database.people(async (tx) => {
      const waitMs = await bounds.pass(tx, [
        { kind: 'forgotten by address', text: limitKey, backoff: ADDRESS_BACKOFF },
        { kind: 'forgotten by account', text: account, backoff: FORGOTTEN_BACKOFF },
      ]);
      if (waitMs > 0) return undefined;
      const found = await findReachable(options, tx, account);
      const [purpose, lifeMs] = ['password-reset-by-mail', MAILED_RESET_LIFE_MS] as const;
      const secret = await (found ? links.make(tx, found.id, purpose, lifeMs) : links.pretend(tx, purpose, lifeMs));
      const message = messageOf(options, secret, clock.nowMs() + lifeMs);
      // A queue that is full is told to the operator alone: an answer of its own would say that there is such a user.
      const isQueued = found ? await mail.offer(tx, { recipient: found.email, message }) : true;
      if (!found) await mail.pretend(tx, { recipient: NOBODY, message });
      if (found && !isQueued) {
        security.onNoticeDropped({ userId: found.id, mailKind: message.kind, reason: 'queue full' });
      }
      return { userId: found?.id };
    });
    if (asked) security.onSignIn({ event: 'password_forgotten', userId: asked.userId, address });
  };
}

function messageOf({ portalUrl }: WayBackOptions, secret: Secret<string>, expiresAtMs: number) {
  return passwordResetMessage({ expiresAtMs, link: new PortalLink(portalUrl(), RESET_PAGE, secret) });
}

/** Who may be sent a link, at the address that the product wrote down, however this one was typed. */
async function findReachable({ rowMacKey, security }: WayBackOptions, tx: PeopleTx, account: string) {
  const row = await findAddressByKey(tx, account);
  if (!row || row.email === null) return undefined;
  const isSound = isAddressSound(rowMacKey, row);
  if (!isSound) security.onPeopleAltered({ userId: row.id });
  return isSound && !row.is_disabled && isMailAddress(row.email) ? { id: row.id, email: row.email } : undefined;
}

function resetOf(options: WayBackOptions): WayBack['reset'] {
  const { database, bounds, failures, links, mailbox, policy, passwords, security } = options;
  return async ({ secret, password }, { address }) => {
    const found = await database.readPeople(async (tx) => {
      const link = await lookAtAny(links, tx, secret);
      const user = link && (await findSignInOf(tx, link.userId));
      return user && !user.is_disabled ? { ...link, email: user.email ?? '' } : undefined;
    });
    if (!found) throw deadLink();
    const { userId, purpose, email } = found;
    const faults = policy.faultsOf(password, { email });
    if (faults.length > 0) throw validationFailed({ password: faults });
    const hash = await passwords.hash(userId, typedPassword(password));
    const proof = await database.people(async (tx) => {
      // In the order in which others lock these rows: what is counted, the user, then what is the user's.
      await failures.forget(tx, emailKeyOf(email));
      await failures.forget(tx, userId);
      await bounds.clear(tx, { kind: 'forgotten by account', text: emailKeyOf(email) });
      await lockUser(tx, userId);
      await deleteEmailChange(tx, userId);
      if ((await links.take(tx, secret, purpose)) !== userId) throw deadLink();
      if (purpose === 'password-reset-by-mail') await refuseFirstPassword(options, tx, userId);
      // The link was mailed to the address, or passed on by the operator, who vouches for whoever it was given to.
      const proven = await mailbox.prove(tx, userId);
      await options.replacePassword(tx, userId, hash, 'password_reset');
      return proven;
    });
    mailbox.tell(userId, proof, address);
    security.onSignIn({ event: 'password_reset', userId, address });
  };
}

/**
 * A user who signs in with a passkey, or an issuer that asks for two factors, chose to have no password: with one, the mailbox alone
 * would open the account. As long as nobody has proven the address, what is there may be that of somebody who waits inside.
 */
async function refuseFirstPassword(
  { mailbox, secondFactorIssuers }: WayBackOptions,
  tx: PeopleTx,
  userId: string,
): Promise<void> {
  const state = await findSecondFactor(tx, userId, secondFactorIssuers());
  if (state.has_password || !state.has_whole_factor || !(await mailbox.isVerified(tx, userId))) return;
  throw new AppError(
    'access_denied',
    'This account has no password: sign in with your passkey or issuer. If you have lost it, ask the operator for a link.',
  );
}

async function lookAtAny(
  links: Links,
  tx: PeopleTx,
  secret: string,
): Promise<{ readonly userId: string; readonly purpose: PasswordLinkPurpose } | undefined> {
  for (const purpose of PASSWORD_LINKS) {
    const userId = await links.look(tx, secret, purpose);
    if (userId !== undefined) return { userId, purpose };
  }
  return undefined;
}
