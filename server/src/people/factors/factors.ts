import type { Clock } from '../../kernel/clock.js';
import { AppError, validationFailed } from '../../kernel/errors.js';
import { Secret } from '../../kernel/secret.js';
import type { Database } from '../../storage/database.js';
import type { PeopleTx } from '../../storage/scope.js';
import type { Notices } from '../notices/notices.js';
import type { PeopleSecurity } from '../security.js';
import type { PortalSessions, SignedIn } from '../sessions/portal-sessions.js';
import type { Entered, Entrance, Visitor } from '../sign-in/entrance.js';
import { listUsersById } from '../users/queries.js';
import type { OneTimeCodes } from './one-time-codes.js';
import type { SecondFactorOptions } from './proven-factor.js';
import { enterAgain, requireProvenFactor } from './proven-factor.js';
import {
  confirmAuthenticator,
  countRecoveryCodes,
  deleteAuthenticator,
  deleteRecoveryCodes,
  findAuthenticator,
  offerAuthenticator,
  replaceRecoveryCodes,
} from './queries.js';
import { newRecoveryCodes } from './recovery-codes.js';
import { newTotpSecret, totpUri } from './totp.js';

/** An authenticator as it is offered. It counts from its first code on. */
export interface OfferedAuthenticator {
  readonly secret: Secret<string>;
  /** What a QR code shows. */
  readonly uri: Secret<string>;
}

export interface FactorsState {
  /** When it was added; undefined where there is none. */
  readonly authenticatorSinceMs: number | undefined;
  readonly recoveryCodesLeft: number;
}

/** A user's authenticator and recovery codes. Whoever calls has seen a fresh sign-in. */
export interface Factors {
  state(tx: PeopleTx, userId: string): Promise<FactorsState>;
  offer(signedIn: SignedIn): Promise<OfferedAuthenticator>;
  /** From now on a sign-in with the password asks for a code. Every session ends; this browser gets a new one. */
  confirm(
    signedIn: SignedIn,
    code: string,
    visitor: Visitor,
  ): Promise<{ readonly entered: Entered; readonly recoveryCodes: readonly Secret<string>[] }>;
  /** With the recovery codes, which stand in for it. Every session ends; this browser gets a new one. */
  remove(signedIn: SignedIn, visitor: Visitor): Promise<Entered>;
  /** Those of before do not work any more. */
  newRecoveryCodes(signedIn: SignedIn, visitor: Visitor): Promise<readonly Secret<string>[]>;
}

export interface FactorsOptions extends SecondFactorOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly codes: OneTimeCodes;
  readonly sessions: PortalSessions;
  readonly entrance: Entrance;
  readonly notices: Pick<Notices, 'tell'>;
  readonly security: Pick<PeopleSecurity, 'onSignIn'>;
}

const ISSUER = 'Strongroom';
const OFFER_MS_MAX = 15 * 60_000;

export function createFactors(options: FactorsOptions): Factors {
  const { database, clock, codes, notices, security } = options;
  return {
    async state(tx, userId) {
      const row = await findAuthenticator(tx, userId);
      const authenticatorSinceMs = row?.sealed ? row.created_at.getTime() : undefined;
      return { authenticatorSinceMs, recoveryCodesLeft: await countRecoveryCodes(tx, userId) };
    },
    async offer(signedIn) {
      const { userId } = signedIn;
      const secret = newTotpSecret();
      const [user] = await database.people(async (tx) => {
        // It is asked for beside a password: without one it would be a factor that nobody can prove.
        if (!(await requireProvenFactor(options, tx, signedIn)).has_password) throw noPassword();
        await offerAuthenticator(tx, userId, codes.sealOffered(userId, secret), clock.nowMs());
        return listUsersById(tx, [userId]);
      });
      return { secret, uri: new Secret(totpUri(secret, { issuer: ISSUER, account: user?.email ?? userId })) };
    },
    confirm: (signedIn, code, visitor) => confirmOffered(options, signedIn, code, visitor),
    async remove(signedIn, visitor) {
      const { userId } = signedIn;
      const entered = await database.people(async (tx) => {
        await requireProvenFactor(options, tx, signedIn);
        if (!(await deleteAuthenticator(tx, userId))) throw noAuthenticator();
        await deleteRecoveryCodes(tx, userId);
        await notices.tell(tx, userId, 'authenticator_removed');
        return enterAgain(options, tx, signedIn, visitor);
      });
      security.onSignIn({ event: 'authenticator_removed', userId, address: visitor.address });
      return entered;
    },
    async newRecoveryCodes(signedIn, { address }) {
      const { userId } = signedIn;
      const made = newRecoveryCodes();
      await database.people(async (tx) => {
        await requireProvenFactor(options, tx, signedIn);
        if (!(await findAuthenticator(tx, userId))?.sealed) throw noAuthenticator();
        await replaceRecoveryCodes(tx, userId, codes.hashesOf(userId, made), clock.nowMs());
        await notices.tell(tx, userId, 'recovery_codes_made');
      });
      security.onSignIn({ event: 'recovery_codes_made', userId, address });
      return made;
    },
  };
}

async function confirmOffered(
  options: FactorsOptions,
  signedIn: SignedIn,
  code: string,
  visitor: Visitor,
): Promise<{ entered: Entered; recoveryCodes: readonly Secret<string>[] }> {
  const { database, clock, codes, notices, security } = options;
  const { userId } = signedIn;
  const recoveryCodes = newRecoveryCodes();
  const entered = await database.people(async (tx) => {
    await requireProvenFactor(options, tx, signedIn);
    const row = await findAuthenticator(tx, userId);
    const nowMs = clock.nowMs();
    if (!row?.pending || !row.pending_at || nowMs - row.pending_at.getTime() >= OFFER_MS_MAX) throw noOffer();
    const confirmed = codes.confirm(userId, row.pending, code);
    if (!confirmed) throw validationFailed({ code: ['is not the one that the authenticator shows now'] });
    if (!(await confirmAuthenticator(tx, userId, row.pending, confirmed, nowMs))) throw noOffer();
    await replaceRecoveryCodes(tx, userId, codes.hashesOf(userId, recoveryCodes), nowMs);
    await notices.tell(tx, userId, 'authenticator_added');
    return enterAgain(options, tx, { ...signedIn, hasSecondFactor: true }, visitor);
  });
  security.onSignIn({ event: 'authenticator_added', userId, address: visitor.address });
  return { entered, recoveryCodes };
}

function noOffer(): AppError {
  return new AppError('not_found', 'No authenticator waits for its first code, or not any more. Begin again.');
}

function noPassword(): AppError {
  return validationFailed({ $: ['an authenticator is asked for beside a password: give yourself one first'] });
}

function noAuthenticator(): AppError {
  return new AppError('not_found', 'There is no authenticator.');
}
