import type { KeyObject } from 'node:crypto';
import { ALPHANUMERICS, randomText } from '../../crypto/random-text.js';
import type { Clock } from '../../kernel/clock.js';
import { AppError, overloaded, storageUnavailable, validationFailed } from '../../kernel/errors.js';
import { Secret } from '../../kernel/secret.js';
import { isMailAddress } from '../../mail/address.js';
import type { MailMessage } from '../../mail/mailer.js';
import { emailChangeMessageToNew, emailChangeMessageToOld } from '../../mail/messages/email-change.js';
import { PortalLink } from '../../mail/messages/portal-link.js';
import type { Database } from '../../storage/database.js';
import { isUniqueViolation } from '../../storage/faults.js';
import type { PeopleTx } from '../../storage/scope.js';
import { emailKeyOf } from '../email.js';
import { deadLink } from '../links/dead-link.js';
import type { Links } from '../links/links.js';
import type { Notices, PeopleMail } from '../notices/notices.js';
import type { PeopleSecurity } from '../security.js';
import type { OpenSessionOptions } from '../sessions/open-session.js';
import { requireOpenSession } from '../sessions/open-session.js';
import type { SignedIn } from '../sessions/portal-sessions.js';
import type { Backoff } from '../sign-in/backoff.js';
import { ADDRESS_BACKOFF } from '../sign-in/backoff.js';
import type { Visitor } from '../sign-in/entrance.js';
import { addressMacOf, isAddressSound } from '../users/address-mac.js';
import type { AddressRow } from '../users/address-queries.js';
import { findAddressOf, setAddress } from '../users/address-queries.js';
import { lockUser } from '../users/lock-queries.js';
import type { MailBounds } from '../way-back/mail-bounds.js';
import type { StoredEmailChange } from './queries.js';
import { deleteThisEmailChange, findEmailChange, lockEmailChange, replaceEmailChange } from './queries.js';
import { changeHashOf, isChangeSound, withChangeMac } from './stored-change.js';

/** Changes of addresses, which both the old and the new one have to confirm. */
export interface EmailChanges {
  /** Mails a link to each side. Whether another user has the address is not said. */
  ask(signedIn: SignedIn, email: string, visitor: Visitor): Promise<void>;
  /** By one of the links; true once both sides have confirmed and the address is changed. */
  confirm(secret: string, visitor: Visitor): Promise<boolean>;
  /** The address that is not confirmed yet. */
  pending(userId: string): Promise<string | undefined>;
}

export interface EmailChangesOptions extends OpenSessionOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly keys: { readonly apiKeyPepper: KeyObject; readonly rowMac: KeyObject };
  readonly mail: PeopleMail | undefined;
  readonly portalUrl: () => string;
  readonly bounds: MailBounds;
  readonly links: Pick<Links, 'drop'>;
  readonly notices: Pick<Notices, 'tell'>;
  readonly security: Pick<PeopleSecurity, 'onSignIn' | 'onPeopleAltered'>;
}

export const CONFIRM_PAGE = '/portal/confirm-email';
export const EMAIL_CHANGE_LIFE_MS = 24 * 3_600_000;
/** People mistype an address. Then a minute, two, four, up to an hour. */
const ASK_BACKOFF: Backoff = { freeFailures: 3, firstDelayMs: 60_000, delayMaxMs: 3_600_000 };
/** 256 random bits. */
const SECRET_LENGTH = 43;
const SECRET_PATTERN = /^[0-9A-Za-z]{43}$/;

export function createEmailChanges(options: EmailChangesOptions): EmailChanges {
  const { database, clock, keys } = options;
  return {
    ask: askOf(options),
    confirm: confirmOf(options),
    async pending(userId) {
      const row = await database.readPeople((tx) => findEmailChange(tx, userId));
      const isPending = row && row.expires_at.getTime() > clock.nowMs() && isChangeSound(keys.rowMac, row);
      return isPending ? row.email : undefined;
    },
  };
}

function askOf(options: EmailChangesOptions): EmailChanges['ask'] {
  const { database, bounds, mail, security } = options;
  return async (signedIn, email, { limitKey, address }) => {
    const { userId } = signedIn;
    if (!mail) throw noMail();
    if (!isMailAddress(email)) throw validationFailed({ email: ['cannot be sent mail'] });
    const waitMs = await database.people(async (tx) => {
      const wait = await bounds.pass(tx, [
        { kind: 'email change by address', text: limitKey, backoff: ADDRESS_BACKOFF },
        { kind: 'email change by user', text: userId, backoff: ASK_BACKOFF },
      ]);
      if (wait > 0) return wait;
      await requireOpenSession(options, tx, signedIn);
      const user = await findAddressOf(tx, userId);
      if (!user) throw storageUnavailable(new Error('a session has a user'));
      // Nothing was counted where it throws.
      refuseAsked(options, user, email);
      await mailBoth(options, tx, mail, user, email);
      return 0;
    });
    if (waitMs > 0) throw tooManyMails(waitMs);
    security.onSignIn({ event: 'email_change_asked', userId, address });
  };
}

function refuseAsked({ keys, security }: EmailChangesOptions, user: AddressRow, email: string): void {
  if (user.email === email) throw validationFailed({ email: ['is the address of your account already'] });
  if (user.email === null) return;
  if (!isAddressSound(keys.rowMac, user)) {
    security.onPeopleAltered({ userId: user.id });
    throw storageUnavailable(new Error('the address of a user was changed outside the product'));
  }
  if (!isMailAddress(user.email)) throw noMail();
}

/** The old address agrees, so that whoever took over a session cannot take over the account. */
async function mailBoth(
  { clock, keys, portalUrl }: EmailChangesOptions,
  tx: PeopleTx,
  mail: PeopleMail,
  user: AddressRow,
  email: string,
): Promise<void> {
  const nowMs = clock.nowMs();
  const expiresAtMs = nowMs + EMAIL_CHANGE_LIFE_MS;
  const [oldSecret, newSecret] = [newSecretOfSide(), newSecretOfSide()];
  const hashOf = (secret: Secret<string>) => changeHashOf(keys.apiKeyPepper, secret.reveal());
  const row = {
    ...{ user_id: user.id, email, old_email: user.email, new_hash: hashOf(newSecret) },
    ...{ old_hash: user.email === null ? null : hashOf(oldSecret) },
    ...{ expires_at: new Date(expiresAtMs), created_at: new Date(nowMs) },
  };
  await replaceEmailChange(tx, withChangeMac(keys.rowMac, row));
  const linkOf = (secret: Secret<string>) => new PortalLink(portalUrl(), CONFIRM_PAGE, secret);
  const send = async (recipient: string, message: MailMessage) => {
    if (!(await mail.offer(tx, { recipient, message }))) throw overloaded();
  };
  if (user.email !== null) {
    await send(user.email, emailChangeMessageToOld({ newEmail: email, expiresAtMs, link: linkOf(oldSecret) }));
  }
  await send(email, emailChangeMessageToNew({ expiresAtMs, link: linkOf(newSecret) }));
}

function newSecretOfSide(): Secret<string> {
  return new Secret(randomText(ALPHANUMERICS, SECRET_LENGTH));
}

function confirmOf(options: EmailChangesOptions): EmailChanges['confirm'] {
  const { database, keys, security } = options;
  return async (secret, { address }) => {
    if (!SECRET_PATTERN.test(secret)) throw deadLink();
    const hash = changeHashOf(keys.apiKeyPepper, secret);
    let change: StoredEmailChange | undefined;
    try {
      const isChanged = await database.people(async (tx) => {
        change = await lockEmailChange(tx, hash);
        return change ? confirmSide(options, tx, change, hash) : undefined;
      });
      if (!change || isChanged === undefined) throw deadLink();
      if (isChanged) security.onSignIn({ event: 'email_changed', userId: change.user_id, address });
      return isChanged;
    } catch (error) {
      const dead = change;
      if (!dead || !isUniqueViolation(error)) throw error;
      await database.people(async (tx) => {
        await lockUser(tx, dead.user_id);
        await deleteThisEmailChange(tx, dead);
      });
      throw taken();
    }
  };
}

/** Undefined where the change is dead. */
async function confirmSide(
  options: EmailChangesOptions,
  tx: PeopleTx,
  change: StoredEmailChange,
  hash: Buffer,
): Promise<boolean | undefined> {
  const { clock, keys, security } = options;
  if (!isChangeSound(keys.rowMac, change)) {
    security.onPeopleAltered({ userId: change.user_id });
    return undefined;
  }
  const user = await findAddressOf(tx, change.user_id);
  const isLive = user && !user.is_disabled && user.email === change.old_email;
  if (!isLive || change.expires_at.getTime() <= clock.nowMs()) return undefined;
  const leftOf = (side: Buffer | null) => (side?.equals(hash) ? null : side);
  const left = { old_hash: leftOf(change.old_hash), new_hash: leftOf(change.new_hash) };
  if (left.old_hash || left.new_hash) {
    await replaceEmailChange(tx, withChangeMac(keys.rowMac, { ...change, ...left }));
    return false;
  }
  await apply(options, tx, change);
  return true;
}

async function apply({ clock, keys, links, notices }: EmailChangesOptions, tx: PeopleTx, change: StoredEmailChange) {
  const { user_id: userId, email } = change;
  await deleteThisEmailChange(tx, change);
  // It went to a mailbox that is no longer the user's.
  await links.drop(tx, userId, ['password-reset-by-mail']);
  // Before the change: the old address hears of it.
  await notices.tell(tx, userId, 'email_changed');
  // The link to the new address was followed.
  const verifiedAt = new Date(clock.nowMs());
  const mac = addressMacOf(keys.rowMac, userId, { email, verifiedAt });
  await setAddress(tx, userId, { email, emailKey: emailKeyOf(email), mac, verifiedAt }, clock.nowMs());
}

/** The catalogue has no code of its own for these: they are the Portal's alone. */
const UNPROCESSABLE = 422;

function noMail(): AppError {
  const story = 'cannot be changed here, because no mail can be sent: ask the operator to change it';
  return new AppError('validation_failed', `The address ${story}.`, {
    status: UNPROCESSABLE,
    errors: { email: [story] },
  });
}

function taken(): AppError {
  return new AppError('validation_failed', 'The address belongs to another user. Your address stays as it is.', {
    status: UNPROCESSABLE,
    errors: { email: ['belongs to another user'] },
  });
}

function tooManyMails(waitMs: number): AppError {
  const seconds = Math.ceil(waitMs / 1_000);
  return new AppError('sign_in_delayed', `Too many mails were asked for. Wait ${seconds} second(s), then try again.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}
