import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../kernel/clock.js';
import { AppError } from '../../kernel/errors.js';
import type { PeopleTx } from '../../storage/scope.js';
import { deleteEmailChange } from '../email-change/queries.js';
import { findSecondFactor } from '../factors/second-factor-queries.js';
import { deleteAllLinksOf } from '../links/queries.js';
import type { Notices } from '../notices/notices.js';
import type { PeopleSecurity } from '../security.js';
import { requireOpenSession } from '../sessions/open-session.js';
import type { PortalSessions, SignedIn } from '../sessions/portal-sessions.js';
import { addressMacOf, isAddressSound } from './address-mac.js';
import { findAddressOf, setAddressVerified } from './address-queries.js';
import { deleteAllButPassword, deleteDevicesOf, deletePortalSessionsBut } from './administration-queries.js';
import { lockUser } from './lock-queries.js';

/** What came of a proof; told to the security log once it is committed. */
export interface ProofOutcome {
  readonly isFirst: boolean;
  /** There was something of before that could have been another's. */
  readonly hasDropped: boolean;
}

/**
 * Somebody has the mailbox of a user. An account whose address nobody had proven may have been made by somebody else, who
 * waits inside for the person to come: with the first proof everything goes by which that one could come back.
 */
export interface MailboxProof {
  /** Whether the address is proven. One that was edited is not, and is told. */
  isVerified(tx: PeopleTx, userId: string): Promise<boolean>;
  /** By a link for a new password, which the caller sets. */
  prove(tx: PeopleTx, userId: string): Promise<ProofOutcome>;
  /**
   * By somebody who is signed in: that session stays, and so does the password. 403 where there is none, because nothing would be
   * left to sign in with.
   */
  proveBySession(tx: PeopleTx, signedIn: SignedIn): Promise<ProofOutcome>;
  tell(userId: string, outcome: ProofOutcome, address: string | undefined): void;
}

export interface MailboxProofOptions {
  readonly clock: Clock;
  readonly sessions: Pick<PortalSessions, 'hold' | 'demote'>;
  readonly rowMacKey: KeyObject;
  readonly notices: Pick<Notices, 'tell'>;
  readonly security: Pick<PeopleSecurity, 'onSignIn' | 'onPeopleAltered'>;
}

/** Of no session. */
const NONE = '00000000-0000-0000-0000-000000000000';
const NOTHING: ProofOutcome = { isFirst: false, hasDropped: false };

export function createMailboxProof(options: MailboxProofOptions): MailboxProof {
  const { clock, rowMacKey, notices, security } = options;
  async function soundAddress(tx: PeopleTx, userId: string) {
    const row = await findAddressOf(tx, userId);
    if (!row || row.email === null) return undefined;
    if (isAddressSound(rowMacKey, row)) return { email: row.email, isVerified: row.email_verified_at !== null };
    security.onPeopleAltered({ userId });
    return undefined;
  }

  /** Of a user who is locked. */
  async function proven(tx: PeopleTx, userId: string, sessionId: string): Promise<ProofOutcome> {
    await deleteEmailChange(tx, userId);
    const address = await soundAddress(tx, userId);
    if (!address || address.isVerified) return NOTHING;
    const verifiedAt = new Date(clock.nowMs());
    const mac = addressMacOf(rowMacKey, userId, { email: address.email, verifiedAt });
    await setAddressVerified(tx, userId, verifiedAt, mac);
    const hadFactors = await deleteAllButPassword(tx, userId);
    const hadSessions = await deletePortalSessionsBut(tx, userId, sessionId);
    await deleteDevicesOf(tx, userId);
    await deleteAllLinksOf(tx, userId);
    const hasDropped = hadFactors || hadSessions;
    if (hasDropped) await notices.tell(tx, userId, 'mailbox_proven');
    return { isFirst: true, hasDropped };
  }

  return {
    isVerified: async (tx, userId) => (await soundAddress(tx, userId))?.isVerified === true,

    async prove(tx, userId) {
      await lockUser(tx, userId);
      return proven(tx, userId, NONE);
    },

    async proveBySession(tx, signedIn) {
      const { userId, sessionId } = await requireOpenSession(options, tx, signedIn);
      if (!(await findSecondFactor(tx, userId, [])).has_password) throw nothingLeft();
      const outcome = await proven(tx, userId, sessionId);
      if (outcome.isFirst) await options.sessions.demote(tx, signedIn);
      return outcome;
    },

    tell(userId, { isFirst, hasDropped }, address) {
      if (isFirst) security.onSignIn({ event: 'email_verified', userId, address });
      if (hasDropped) security.onSignIn({ event: 'credentials_dropped', userId, address });
    },
  };
}

function nothingLeft(): AppError {
  return new AppError(
    'access_denied',
    'The first proof of your address removes your passkeys and linked issuers. Give your account a password first, then try again.',
  );
}
