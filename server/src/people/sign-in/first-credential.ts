import type { PasswordHasher } from '../../crypto/password-hash.js';
import type { Clock } from '../../kernel/clock.js';
import { validationFailed } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import type { PeopleTx } from '../../storage/scope.js';
import type { UserIdentities, Voucher } from '../oidc/user-identities.js';
import { provenBy } from '../oidc/user-identities.js';
import type { GivenPasskey, UserPasskeys } from '../passkeys/user-passkeys.js';
import type { PasswordPolicy } from '../password/policy.js';
import type { Proven } from './entrance.js';
import { typedPassword } from './password-proof.js';
import { setPassword } from './queries.js';

/** What somebody chose to sign in with from now on: exactly one of them. A voucher comes from an issuer, never from a body. */
export interface ChosenCredential {
  readonly password?: string | undefined;
  readonly passkey?: GivenPasskey | undefined;
  readonly voucher?: Voucher | undefined;
}

/** For whom, and by which kind of link. */
export interface Newcomer {
  /** Undefined where the account is yet to be made. */
  readonly userId: string | undefined;
  readonly email: string;
  readonly purpose: 'set-up' | 'registration';
}

/** Checked, and stored with the account. */
export interface FirstCredential {
  readonly userId: string;
  readonly proven: Proven;
  store(tx: PeopleTx): Promise<void>;
}

export interface FirstCredentialOptions {
  readonly clock: Clock;
  readonly passwords: PasswordHasher;
  readonly policy: PasswordPolicy;
  readonly userPasskeys: Pick<UserPasskeys, 'verify' | 'store'>;
  readonly identities: Pick<UserIdentities, 'store'>;
}

export async function firstCredential(
  options: FirstCredentialOptions,
  { password, passkey, voucher }: ChosenCredential,
  newcomer: Newcomer,
): Promise<FirstCredential> {
  if (voucher !== undefined) return ofVoucher(options, voucher, newcomer);
  if ((password === undefined) === (passkey === undefined)) {
    throw validationFailed({ password: ['give a password, or a passkey in its place'] });
  }
  return passkey === undefined ? ofPassword(options, password ?? '', newcomer) : ofPasskey(options, passkey, newcomer);
}

async function ofPassword(
  { clock, passwords, policy }: FirstCredentialOptions,
  password: string,
  { userId = newId(), email }: Newcomer,
): Promise<FirstCredential> {
  refuseWeak(policy, 'password', password, email);
  const hash = await passwords.hash(userId, typedPassword(password));
  const proven = { userId, hasSecondFactor: false };
  return { userId, proven, store: (tx) => setPassword(tx, userId, hash, clock.nowMs()) };
}

async function ofPasskey(
  { userPasskeys }: FirstCredentialOptions,
  { name, answer }: GivenPasskey,
  { userId: expected, purpose }: Newcomer,
): Promise<FirstCredential> {
  const { userId, made } = await userPasskeys.verify(answer, purpose);
  if (expected !== undefined && userId !== expected) {
    throw validationFailed({ passkey: ['was made for another account: begin again'] });
  }
  const proven = { userId, hasSecondFactor: true };
  return { userId, proven, store: (tx) => userPasskeys.store(tx, userId, name, made) };
}

async function ofVoucher(
  { identities }: FirstCredentialOptions,
  voucher: Voucher,
  { userId = newId() }: Newcomer,
): Promise<FirstCredential> {
  return {
    userId,
    proven: provenBy(voucher, userId),
    async store(tx) {
      if (!(await identities.store(tx, userId, voucher.identity))) {
        throw validationFailed({ $: ['whoever signed in there has an account already: sign in with it'] });
      }
    },
  };
}

export function refuseWeak(policy: PasswordPolicy, field: string, password: string, email: string): void {
  const faults = policy.faultsOf(password, { email });
  if (faults.length > 0) throw validationFailed({ [field]: faults });
}
