import { stepUpRequired } from '../../access/authorize.js';
import type { PasswordHasher } from '../../crypto/password-hash.js';
import type { SystemKeys } from '../../crypto/system-keys.js';
import type { Clock } from '../../kernel/clock.js';
import { type AppError, storageUnavailable, validationFailed } from '../../kernel/errors.js';
import type { Database } from '../../storage/database.js';
import { isUniqueViolation } from '../../storage/faults.js';
import type { PeopleTx } from '../../storage/scope.js';
import { emailKeyOf } from '../email.js';
import type { OneTimeCodes } from '../factors/one-time-codes.js';
import type { SecondFactorOptions } from '../factors/proven-factor.js';
import { requireProvenFactor } from '../factors/proven-factor.js';
import { FIRST_OWNER_ID } from '../first-owner.js';
import { deadLink } from '../links/dead-link.js';
import type { Links } from '../links/links.js';
import { OPERATOR_LINK_MS } from '../links/links.js';
import type { Notices } from '../notices/notices.js';
import type { UserIdentities } from '../oidc/user-identities.js';
import type { UserPasskeys } from '../passkeys/user-passkeys.js';
import type { PasswordPolicy } from '../password/policy.js';
import type { PeopleSecurity } from '../security.js';
import { isFreshSignIn } from '../sessions/fresh.js';
import { requireOpenSession } from '../sessions/open-session.js';
import type { PortalSessions, SignedIn } from '../sessions/portal-sessions.js';
import { isAddressSound } from '../users/address-mac.js';
import { findAddressOf } from '../users/address-queries.js';
import { lockUser } from '../users/lock-queries.js';
import type { UserProfile, UserRow } from '../users/queries.js';
import { insertUser, listUsersById, setUpUser } from '../users/queries.js';
import type { MailBounds } from '../way-back/mail-bounds.js';
import type { ReplacePassword } from '../way-back/new-password.js';
import { countRegistration, countSetUp } from './address-guesses.js';
import type { Entered, Entrance, Proven, Visitor } from './entrance.js';
import type { SignInFailures, Tried } from './failures.js';
import type { ChosenCredential } from './first-credential.js';
import { firstCredential, refuseWeak } from './first-credential.js';
import type { PasswordProof, Typed } from './password-proof.js';
import { createPasswordProof, typedPassword } from './password-proof.js';
import type { SignInRow } from './queries.js';
import { findSignIn, findSignInOf, holdSignIn } from './queries.js';
import { wrongSignIn } from './wrong-sign-in.js';

export interface Accounts {
  /** 401 for every cause alike, after the same work; 429 after too many. */
  signIn(given: SignInInput, visitor: Visitor, earlier: SignedIn | undefined): Promise<Entered>;
  /** Proves once more who is signed in. The session gets a new secret. */
  stepUp(signedIn: SignedIn, given: Typed, visitor: Visitor): Promise<Entered>;
  /** Ends every session of the user, and opens one. */
  changePassword(signedIn: SignedIn, given: PasswordChange, visitor: Visitor): Promise<Entered>;
  /** Whose the link of the operator is; 404 for one that does not work. */
  setUpOwner(secret: string): Promise<string>;
  /** The owner's first sign-in, by that link. */
  setUp(given: SetUpInput, visitor: Visitor): Promise<Entered>;
  /** A newcomer, whose address a link has proven. */
  register(given: InvitedAccount, visitor: Visitor): Promise<Entered>;
  /** Another secret for a session that has more rights now; undefined for one that has ended meanwhile. */
  rotate(signedIn: SignedIn, visitor: Visitor): Promise<Entered | undefined>;
  signOut(signedIn: SignedIn, visitor: Visitor): Promise<void>;
  profile(userId: string): Promise<UserRow | undefined>;
  /** The same where the address decides about something: 503 for one that the product did not write. */
  soundProfile(userId: string): Promise<UserRow | undefined>;
}

export interface SignInInput extends Typed {
  readonly email: string;
}

export interface PasswordChange {
  /** Undefined of a user who has none yet. */
  readonly current: Typed | undefined;
  readonly newPassword: string;
}

export interface NewAccount extends UserProfile {
  readonly credential: ChosenCredential;
}

export interface InvitedAccount extends NewAccount {
  readonly invitation: { readonly secret: string; readonly ownerId: string };
}

export interface SetUpInput extends Omit<NewAccount, 'isEmailVerified'> {
  readonly secret: string;
}

export interface AccountsOptions extends SecondFactorOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly systemKeys: Pick<SystemKeys, 'rowMac'>;
  readonly passwords: PasswordHasher;
  readonly codes: OneTimeCodes;
  readonly policy: PasswordPolicy;
  readonly userPasskeys: UserPasskeys;
  readonly identities: UserIdentities;
  readonly sessions: PortalSessions;
  readonly entrance: Entrance;
  readonly links: Links;
  readonly failures: SignInFailures;
  readonly notices: Pick<Notices, 'tell'>;
  readonly replacePassword: ReplacePassword;
  readonly bounds: Pick<MailBounds, 'pass' | 'takeBack'>;
  readonly security: Pick<PeopleSecurity, 'onSignIn' | 'onPeopleAltered'>;
}

export function createAccounts(options: AccountsOptions): Accounts {
  const { database, sessions, security, entrance } = options;
  const prove = createPasswordProof(options);
  return {
    ...signInsOf(options, prove),
    ...newAccountsOf(options),
    async changePassword(signedIn, { current, newPassword }, visitor) {
      const { userId } = signedIn;
      const { row, proven } = await provenForNewPassword(options, prove, signedIn, current, visitor);
      refuseWeak(options.policy, 'new_password', newPassword, row.email ?? '');
      const hash = await options.passwords.hash(userId, typedPassword(newPassword));
      const entered = await database.people(async (tx) => {
        await (current ? requireOpenSession : requireProvenFactor)(options, tx, signedIn);
        // Somebody else was faster.
        if ((await findSignInOf(tx, userId))?.hash !== row.hash) throw wrongSignIn();
        await options.replacePassword(tx, userId, hash, 'password_changed');
        const { expiresAtMs } = signedIn;
        return entrance.enter(tx, { ...proven, expiresAtMs, occasion: 'signed in already' }, visitor);
      });
      security.onSignIn({ event: 'password_changed', userId, address: visitor.address });
      return entered;
    },
    rotate: (signedIn, visitor) =>
      database.people(async (tx) => {
        await lockUser(tx, signedIn.userId);
        const now = await sessions.hold(tx, signedIn);
        if (!now) return undefined;
        const proven = { ...now, provenAtMs: now.signedInAtMs, occasion: 'signed in already' } as const;
        return entrance.enter(tx, proven, visitor, now);
      }),
    async signOut({ userId, sessionId }, { address }) {
      await database.people((tx) => sessions.end(tx, userId, sessionId));
      security.onSignIn({ event: 'signed_out', userId, address });
    },
    profile: async (userId) => (await database.readPeople((tx) => listUsersById(tx, [userId])))[0],
    soundProfile: (userId) => soundProfile(options, userId),
  };
}

/** Under the name that a sign-in counts under: who is signed in has no second set of guesses. */
async function triedBy({ database }: AccountsOptions, userId: string, { limitKey }: Visitor): Promise<Tried> {
  const [user] = await database.readPeople((tx) => listUsersById(tx, [userId]));
  return { account: user?.email ? emailKeyOf(user.email) : userId, limitKey };
}

async function soundProfile({ database, systemKeys, security }: AccountsOptions, userId: string) {
  const [user, address] = await database.readPeople(async (tx) => [
    (await listUsersById(tx, [userId]))[0],
    await findAddressOf(tx, userId),
  ]);
  if (!user || user.email === null || (address && isAddressSound(systemKeys.rowMac, address))) return user;
  security.onPeopleAltered({ userId });
  throw storageUnavailable(new Error('an address was changed outside the product'));
}

/**
 * With what the session has proven afterwards: the password, and the code beside it, but neither an issuer nor a passkey that
 * opened it once. A user without a password gives itself one by a fresh sign-in of another kind, which is then what counts.
 */
async function provenForNewPassword(
  options: AccountsOptions,
  prove: PasswordProof,
  signedIn: SignedIn,
  current: Typed | undefined,
  visitor: Visitor,
): Promise<{ readonly row: SignInRow; readonly proven: Proven }> {
  const { database, clock } = options;
  const { userId, signedInAtMs: provenAtMs, hasSecondFactor, issuer } = signedIn;
  const find = (tx: PeopleTx) => findSignInOf(tx, userId);
  if (current) {
    const { row, ...proven } = await prove(await triedBy(options, userId, visitor), current, visitor, find);
    return { row, proven: { userId, ...proven } };
  }
  const row = await database.readPeople(find);
  if (!row || row.hash !== null) throw validationFailed({ current_password: ['is required'] });
  if (!isFreshSignIn(signedIn, clock.nowMs())) throw stepUpRequired();
  return { row, proven: { userId, provenAtMs, hasSecondFactor, issuer } };
}

function signInsOf(options: AccountsOptions, prove: PasswordProof): Pick<Accounts, 'signIn' | 'stepUp'> {
  const { database, entrance, security } = options;
  const entered = (row: SignInRow, proven: Proven, visitor: Visitor, earlier: SignedIn | undefined) =>
    database.people(async (tx) => {
      // Whoever changes it meanwhile ends every session: this one must not come right behind that.
      if (!(await holdSignIn(tx, row))) throw wrongSignIn();
      return entrance.enter(tx, proven, visitor, earlier);
    });
  return {
    async signIn({ email, ...typed }, visitor, earlier) {
      const tried = { account: emailKeyOf(email), limitKey: visitor.limitKey };
      const { row, hasSecondFactor } = await prove(tried, typed, visitor, (tx) => findSignIn(tx, tried.account));
      const userId = row.id;
      const done = await entered(row, { userId, hasSecondFactor }, visitor, earlier);
      security.onSignIn({ event: 'signed_in', userId, address: visitor.address });
      return done;
    },
    async stepUp(signedIn, typed, visitor) {
      const { userId } = signedIn;
      const tried = await triedBy(options, userId, visitor);
      const { row, hasSecondFactor } = await prove(tried, typed, visitor, (tx) => findSignInOf(tx, userId));
      const proven = { ...signedIn, hasSecondFactor: hasSecondFactor || signedIn.hasSecondFactor };
      const done = await entered(row, { ...proven, occasion: 'signed in already' }, visitor, signedIn);
      security.onSignIn({ event: 'stepped_up', userId, address: visitor.address });
      return done;
    },
  };
}

function newAccountsOf(options: AccountsOptions): Pick<Accounts, 'setUpOwner' | 'setUp' | 'register'> {
  const { database, clock, systemKeys, links, security, entrance } = options;
  const setUpOwner = async (secret: string): Promise<string> => {
    const userId = await database.readPeople(async (tx) => {
      const owner = await links.look(tx, secret, 'set-up');
      return owner !== undefined && (await isLockedOut(tx, owner)) ? undefined : owner;
    });
    if (userId === undefined) throw deadLink();
    return userId;
  };
  return {
    setUpOwner,
    async setUp({ secret, credential, ...profile }, visitor) {
      const owner = await setUpOwner(secret);
      const newcomer = { userId: owner, email: profile.email, purpose: 'set-up' } as const;
      const { userId, proven, store } = await firstCredential(options, credential, newcomer);
      await countSetUp(options, userId);
      const entered = await database
        .people(async (tx) => {
          const isTaken = (await links.take(tx, secret, 'set-up')) === userId;
          if (!isTaken || (await isLockedOut(tx, userId))) throw deadLink();
          // Only the link of the first start is for who runs the service. Whoever has another one may type any address.
          const isEmailVerified = userId === FIRST_OWNER_ID;
          await setUpUser(tx, systemKeys.rowMac, userId, { ...profile, isEmailVerified }, clock.nowMs());
          await store(tx);
          return entrance.enter(tx, { ...proven, occasion: 'new account' }, visitor);
        })
        .catch((error: unknown) => {
          throw isUniqueViolation(error) ? validationFailed({ email: ['belongs to another user'] }) : error;
        });
      security.onSignIn({ event: 'set_up', userId, address: visitor.address });
      return entered;
    },
    async register({ credential, invitation, ...profile }, visitor) {
      const newcomer = { userId: undefined, email: profile.email, purpose: 'registration' } as const;
      const { userId, proven, store } = await firstCredential(options, credential, newcomer);
      const { email, isEmailVerified } = profile;
      const counted = { email, invitedBy: invitation.ownerId, limitKey: visitor.limitKey };
      const takeBack = await countRegistration(options, counted);
      const entered = await database.people(async (tx) => {
        if (!(await insertUser(tx, systemKeys.rowMac, userId, profile, clock.nowMs()))) throw hasAccount();
        await store(tx);
        // Until the membership is there the link is good for this account, also where it proves no mailbox.
        if (!isEmailVerified) await links.keep(tx, userId, 'registration', invitation.secret, OPERATOR_LINK_MS);
        return entrance.enter(tx, { ...proven, occasion: 'new account' }, visitor);
      });
      await takeBack();
      security.onSignIn({ event: 'registered', userId, address: visitor.address });
      return entered;
    },
  };
}

async function isLockedOut(tx: PeopleTx, userId: string): Promise<boolean> {
  return (await findAddressOf(tx, userId))?.is_disabled === true;
}

function hasAccount(): AppError {
  return validationFailed({ $: ['this address has an account already: sign in with it'] });
}
