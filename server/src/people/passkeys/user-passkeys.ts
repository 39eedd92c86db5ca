import type { KeyObject } from 'node:crypto';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { macEquals, macOf } from '../../crypto/keyed-hash.js';
import type { Clock } from '../../kernel/clock.js';
import { AppError, storageUnavailable, validationFailed } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import type { Database } from '../../storage/database.js';
import type { PeopleTx } from '../../storage/scope.js';
import type { SecondFactorOptions } from '../factors/proven-factor.js';
import { enterAgain, requireProvenFactor } from '../factors/proven-factor.js';
import type { Notices } from '../notices/notices.js';
import type { PeopleSecurity } from '../security.js';
import type { PortalSessions, SignedIn } from '../sessions/portal-sessions.js';
import type { Entered, Entrance, Visitor } from '../sign-in/entrance.js';
import type { SignInFailures } from '../sign-in/failures.js';
import { findSignInOf } from '../sign-in/queries.js';
import { holdUser } from '../users/lock-queries.js';
import { listUsersById } from '../users/queries.js';
import type { PasskeyTransport } from './browser-answer.js';
import type { ChallengePurpose, Challenges } from './challenges.js';
import type { NewPasskey, Passkeys, PasskeyUser } from './passkeys.js';
import type { FoundPasskeyRow, PasskeyRow } from './queries.js';
import { countWaysIn, deletePasskey, findPasskey, insertPasskey, listPasskeys, usePasskey } from './queries.js';

/** What a browser made, and how the user calls it. */
export interface GivenPasskey {
  readonly name: string;
  readonly answer: unknown;
}

/** The passkeys of users. One of them is a first and a second factor in one. */
export interface UserPasskeys {
  /** They are bound to a name: on an address of numbers browsers have none. */
  areUsable(): boolean;
  /** For a user who just proved who it is. */
  optionsFor(userId: string): Promise<PublicKeyCredentialCreationOptionsJSON>;
  /** The session gets a new secret, and counts as one with a second factor. */
  add(signedIn: SignedIn, given: GivenPasskey, visitor: Visitor): Promise<Entered>;
  list(tx: PeopleTx, userId: string): Promise<readonly FoundPasskeyRow[]>;
  /** The last thing that a user can sign in with stays. Every session ends; this browser gets a new one. */
  remove(signedIn: SignedIn, id: string, visitor: Visitor): Promise<Entered>;
  signInOptions(): Promise<PublicKeyCredentialRequestOptionsJSON>;
  /** 401 for every cause alike. */
  signIn(answer: unknown, visitor: Visitor, earlier: SignedIn | undefined): Promise<Entered>;
  /** For somebody whom a link vouches for, and who has no account yet. */
  newcomerOptions(user: PasskeyUser, purpose: ChallengePurpose): Promise<PublicKeyCredentialCreationOptionsJSON>;
  /** The passkey of a newcomer, and the id that its account has to have. 400 for one that is not right. */
  verify(answer: unknown, purpose: ChallengePurpose): Promise<{ readonly userId: string; readonly made: NewPasskey }>;
  store(tx: PeopleTx, userId: string, name: string, made: NewPasskey): Promise<void>;
}

export interface UserPasskeysOptions extends SecondFactorOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly rowMacKey: KeyObject;
  readonly passkeys: Passkeys;
  readonly challenges: Challenges;
  readonly sessions: Pick<PortalSessions, 'hold' | 'endAll'>;
  readonly entrance: Entrance;
  readonly notices: Pick<Notices, 'tell'>;
  readonly failures: SignInFailures;
  readonly security: PeopleSecurity;
}

const PASSKEYS_OF_USER_MAX = 20;

export function createUserPasskeys(options: UserPasskeysOptions): UserPasskeys {
  return { ...signInOf(options), ...changesOf(options), ...newcomersOf(options) };
}

function signInOf(options: UserPasskeysOptions): Pick<UserPasskeys, 'areUsable' | 'signInOptions' | 'signIn'> {
  const { database, clock, passkeys, challenges, entrance, failures, security } = options;
  return {
    areUsable: () => passkeys.areUsable(),
    async signInOptions() {
      const made = await passkeys.signInOptions();
      await challenges.keep(made.challenge, 'sign-in');
      return made;
    },
    async signIn(answer, visitor, earlier) {
      const credentialId = passkeys.credentialIdOf(answer);
      const tried = { account: `passkey ${credentialId}`, limitKey: visitor.limitKey };
      const used = await failures.attempt(tried, async () => {
        const found = await usedPasskey(options, answer, credentialId);
        if (!('refused' in found)) return found;
        const event = found.refused === 'cloned' ? 'passkey_cloned' : 'sign_in_failed';
        security.onSignIn({ event, userId: found.userId, address: visitor.address });
        return undefined;
      });
      if (used === undefined) throw wrongPasskey();
      const { userId, id, newCounter } = used;
      const entered = await database.people(async (tx) => {
        await holdUser(tx, userId);
        if (!(await usePasskey(tx, id, newCounter, clock.nowMs()))) throw wrongPasskey();
        return entrance.enter(tx, { userId, hasSecondFactor: true }, visitor, earlier);
      });
      security.onSignIn({ event: 'signed_in', userId, address: visitor.address });
      return entered;
    },
  };
}

type UsedPasskey =
  | { readonly userId: string; readonly id: string; readonly newCounter: number }
  | { readonly userId: string | undefined; readonly refused: string };

async function usedPasskey(
  options: UserPasskeysOptions,
  answer: unknown,
  credentialId: string | undefined,
): Promise<UsedPasskey> {
  const { database, passkeys, challenges } = options;
  const taken = await challenges.take(answer, 'sign-in');
  if (taken === undefined || credentialId === undefined) return { userId: undefined, refused: 'challenge' };
  const found = await database.readPeople(async (tx) => {
    const passkey = await findPasskey(tx, credentialId);
    return passkey && { passkey, user: await findSignInOf(tx, passkey.user_id) };
  });
  if (!found?.user) return { userId: undefined, refused: 'unknown' };
  const { id, user_id: userId, public_key: publicKey, counter } = sound(options, found.passkey);
  if (found.user.is_disabled) return { userId, refused: 'disabled' };
  const verdict = await passkeys.verifySignIn(answer, taken.challenge, { userId, credentialId, publicKey, counter });
  return 'refused' in verdict ? { userId, refused: verdict.refused } : { userId, id, newCounter: verdict.newCounter };
}

function changesOf(options: UserPasskeysOptions): Pick<UserPasskeys, 'optionsFor' | 'add' | 'list' | 'remove'> {
  const { database, passkeys, challenges, entrance, notices, security } = options;
  const list = (tx: PeopleTx, userId: string) => listPasskeys(tx, userId, PASSKEYS_OF_USER_MAX);
  return {
    list,
    async optionsFor(userId) {
      const [user, existing] = await database.readPeople(async (tx) => [
        (await listUsersById(tx, [userId]))[0],
        (await list(tx, userId)).map((row) => ({
          credentialId: row.credential_id,
          transports: row.transports as PasskeyTransport[], // Written from a list in which there is no other word.
        })),
      ]);
      const made = await passkeys.registrationOptions({ id: userId, email: user?.email ?? userId }, existing);
      await challenges.keep(made.challenge, 'new passkey', userId);
      return made;
    },
    async add(signedIn, { name, answer }, visitor) {
      const { userId, made } = await verified(options, answer, 'new passkey');
      if (userId !== signedIn.userId) throw badPasskey();
      const entered = await database.people(async (tx) => {
        await requireProvenFactor(options, tx, signedIn);
        if ((await list(tx, userId)).length >= PASSKEYS_OF_USER_MAX) throw tooMany();
        await store(options, tx, { userId, name, made });
        await notices.tell(tx, userId, 'passkey_added');
        const { signedInAtMs: provenAtMs } = signedIn;
        const proven = { ...signedIn, provenAtMs, hasSecondFactor: true, occasion: 'signed in already' } as const;
        return entrance.enter(tx, proven, visitor, signedIn);
      });
      security.onSignIn({ event: 'passkey_added', userId, address: visitor.address });
      return entered;
    },
    async remove(signedIn, id, visitor) {
      const { userId } = signedIn;
      const entered = await database.people(async (tx) => {
        await requireProvenFactor(options, tx, signedIn);
        const left = await countWaysIn(tx, userId);
        if (!(await deletePasskey(tx, userId, id))) throw new AppError('not_found', 'There is no such passkey.');
        if (left <= 1) throw lastWayIn();
        await notices.tell(tx, userId, 'passkey_removed');
        return enterAgain(options, tx, signedIn, visitor);
      });
      security.onSignIn({ event: 'passkey_removed', userId, address: visitor.address });
      return entered;
    },
  };
}

function newcomersOf(options: UserPasskeysOptions): Pick<UserPasskeys, 'newcomerOptions' | 'verify' | 'store'> {
  return {
    async newcomerOptions(user, purpose) {
      const made = await options.passkeys.registrationOptions(user, []);
      await options.challenges.keep(made.challenge, purpose, user.id);
      return made;
    },
    verify: (answer, purpose) => verified(options, answer, purpose),
    store: (tx, userId, name, made) => store(options, tx, { userId, name, made }),
  };
}

async function verified(
  { passkeys, challenges }: UserPasskeysOptions,
  answer: unknown,
  purpose: ChallengePurpose,
): Promise<{ userId: string; made: NewPasskey }> {
  const taken = await challenges.take(answer, purpose);
  if (taken?.userId === undefined) throw badPasskey();
  const made = await passkeys.verifyRegistration(answer, taken.challenge);
  if ('refused' in made) throw badPasskey();
  return { userId: taken.userId, made };
}

async function store(
  { rowMacKey, clock }: UserPasskeysOptions,
  tx: PeopleTx,
  given: { readonly userId: string; readonly name: string; readonly made: NewPasskey },
): Promise<void> {
  const { userId, name, made } = given;
  const fresh = {
    ...{ id: newId(), user_id: userId, credential_id: made.credentialId, public_key: Buffer.from(made.publicKey) },
    ...{ transports: made.transports, name, is_synced: made.isSynced, created_at: new Date(clock.nowMs()) },
  };
  const row = { ...fresh, mac: passkeyMac(rowMacKey, fresh) };
  if (!(await insertPasskey(tx, row, made.counter))) throw badPasskey();
}

type SignedPasskey = Pick<PasskeyRow, 'id' | 'user_id' | 'credential_id' | 'public_key'>;

/** Whether the product wrote it. */
export function isPasskeySound(rowMacKey: KeyObject, row: SignedPasskey & Pick<PasskeyRow, 'mac'>): boolean {
  return macEquals(passkeyMac(rowMacKey, row), row.mac);
}

/** A row that was written here, or given to another user, opens nothing. */
function passkeyMac(key: KeyObject, row: SignedPasskey): Buffer {
  return macOf(key, ['passkey-1', row.id, row.user_id, row.credential_id, row.public_key]);
}

function sound({ rowMacKey, security }: UserPasskeysOptions, row: FoundPasskeyRow): FoundPasskeyRow {
  if (isPasskeySound(rowMacKey, row)) return row;
  security.onPeopleAltered({ passkeyId: row.id, userId: row.user_id });
  throw storageUnavailable(new Error('a passkey was changed outside the product'));
}

function wrongPasskey(): AppError {
  return new AppError('invalid_portal_session', 'The passkey was not accepted. Try again, or sign in another way.');
}

function badPasskey(): AppError {
  return validationFailed({ passkey: ['was not accepted: begin again'] });
}

function tooMany(): AppError {
  return validationFailed({ $: [`there are ${PASSKEYS_OF_USER_MAX} passkeys already: remove one first`] });
}

export function lastWayIn(): AppError {
  return validationFailed({ $: ['it is the last thing you can sign in with: add another one first'] });
}
