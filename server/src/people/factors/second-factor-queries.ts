import type { PeopleTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

/**
 * Whether a user has a second factor: an authenticator in use, a passkey, or an identity of an issuer that asks for one itself.
 * This is the one list of them; `user` and `issuers` are expressions of the statement around it.
 */
export function hasSecondFactorSql(user: string, issuers: string): string {
  return `(EXISTS (SELECT FROM user_authenticators a WHERE a.user_id = ${user} AND a.sealed IS NOT NULL)
     OR ${hasWholeFactorSql(user, issuers)})`;
}

/** Those of them that are both factors, and need no password beside them. */
function hasWholeFactorSql(user: string, issuers: string): string {
  return `(EXISTS (SELECT FROM user_passkeys p WHERE p.user_id = ${user})
     OR EXISTS (SELECT FROM user_identities i WHERE i.user_id = ${user} AND i.issuer = ANY (${issuers}::text[])))`;
}

export interface SecondFactorState {
  readonly has_password: boolean;
  readonly has_factor: boolean;
  /** One that is both factors: a passkey, or an issuer that asks for two. */
  readonly has_whole_factor: boolean;
}

const FIND_SECOND_FACTOR = statement<SecondFactorState>(
  'find_second_factor',
  `SELECT EXISTS (SELECT FROM user_passwords WHERE user_id = $1) AS has_password,
     ${hasSecondFactorSql('$1', '$2')} AS has_factor, ${hasWholeFactorSql('$1', '$2')} AS has_whole_factor`,
);

export async function findSecondFactor(
  tx: PeopleTx,
  userId: string,
  issuers: readonly string[],
): Promise<SecondFactorState> {
  const [found] = await tx.run(FIND_SECOND_FACTOR, [userId, issuers]);
  return found ?? { has_password: false, has_factor: false, has_whole_factor: false };
}
