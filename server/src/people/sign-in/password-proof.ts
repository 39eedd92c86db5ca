import { IntegrityError } from '../../crypto/integrity-error.js';
import type { PasswordHasher } from '../../crypto/password-hash.js';
import { storageUnavailable } from '../../kernel/errors.js';
import { Secret } from '../../kernel/secret.js';
import type { Database } from '../../storage/database.js';
import type { PeopleTx } from '../../storage/scope.js';
import type { LikelyCode, OneTimeCodes } from '../factors/one-time-codes.js';
import type { Notices } from '../notices/notices.js';
import type { PeopleSecurity } from '../security.js';
import type { Visitor } from './entrance.js';
import type { SignInFailures, Tried } from './failures.js';
import type { SignInRow } from './queries.js';
import { wrongSignIn } from './wrong-sign-in.js';

export interface PasswordProofOptions {
  readonly database: Database;
  readonly passwords: PasswordHasher;
  readonly codes: OneTimeCodes;
  readonly failures: SignInFailures;
  readonly notices: Pick<Notices, 'tell'>;
  readonly security: Pick<PeopleSecurity, 'onSignIn' | 'onPeopleAltered'>;
}

/** What somebody types to say who it is. */
export interface Typed {
  readonly password: string;
  readonly oneTimeCode: string | undefined;
}

/** Finds out whose password it is, with the code where the user has an authenticator. */
export type PasswordProof = (
  tried: Tried,
  typed: Typed,
  visitor: Visitor,
  find: (tx: PeopleTx) => Promise<SignInRow | undefined>,
) => Promise<{ readonly row: SignInRow; readonly hasSecondFactor: boolean }>;

/** Whose codes are none. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * Everything else is refused alike, after the same work: no user, no password, a wrong one, a user locked out, a code that is
 * missing, wrong or was used before.
 */
export function createPasswordProof(options: PasswordProofOptions): PasswordProof {
  const { database, codes, failures, security } = options;
  return async (tried, typed, { address }, find) => {
    const proven = await failures.attempt(tried, async () => {
      const row = await database.readPeople(find);
      const isRight = await isPasswordOf(options, row, typedPassword(typed.password));
      const owner = row && isRight && !row.is_disabled ? row : undefined;
      const code = codes.look(row?.id, row?.authenticator ?? undefined, typed.oneTimeCode);
      const guarded = owner && owner.authenticator !== null ? owner.id : NOBODY;
      const isCodeGood = code !== undefined && (await isSpent(options, guarded, code));
      if (owner && (owner.authenticator === null || isCodeGood)) {
        if (isCodeGood && code.kind === 'recovery')
          security.onSignIn({ event: 'recovery_code_used', userId: owner.id, address });
        return { row: owner, hasSecondFactor: owner.authenticator !== null };
      }
      security.onSignIn({ event: 'sign_in_failed', userId: row?.id, address });
      return undefined;
    });
    if (proven === undefined) throw wrongSignIn();
    return proven;
  };
}

function isSpent(
  { database, codes, notices }: PasswordProofOptions,
  userId: string,
  code: LikelyCode,
): Promise<boolean> {
  return database.people(async (tx) => {
    const isGood = await codes.spend(tx, userId, code);
    if (isGood && code.kind === 'recovery') await notices.tell(tx, userId, 'recovery_code_used');
    return isGood;
  });
}

async function isPasswordOf(
  { passwords, security }: PasswordProofOptions,
  row: SignInRow | undefined,
  password: Secret<string>,
): Promise<boolean> {
  const hash = row?.hash ?? undefined;
  if (row && hash !== undefined) {
    try {
      return (await passwords.verify(row.id, password, hash)).matches;
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error;
      security.onPeopleAltered({ userId: row.id });
      throw storageUnavailable(error);
    }
  }
  await passwords.burn(password);
  return false;
}

/** Keyboards write the same letter in more than one way. */
export function typedPassword(text: string): Secret<string> {
  return new Secret(text.normalize('NFC'));
}
