import type { PeopleTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

export interface AuthenticatorRow {
  readonly sealed: Buffer | null;
  readonly pending: Buffer | null;
  readonly pending_at: Date | null;
  readonly created_at: Date;
}

const FIND_AUTHENTICATOR = statement<AuthenticatorRow>(
  'find_authenticator',
  'SELECT sealed, pending, pending_at, created_at FROM user_authenticators WHERE user_id = $1',
);

export async function findAuthenticator(tx: PeopleTx, userId: string): Promise<AuthenticatorRow | undefined> {
  return (await tx.run(FIND_AUTHENTICATOR, [userId]))[0];
}

const OFFER_AUTHENTICATOR = statement<never>(
  'offer_authenticator',
  `INSERT INTO user_authenticators (user_id, last_step, pending, pending_at, created_at) VALUES ($1, 0, $2, $3, $3)
   ON CONFLICT (user_id) DO UPDATE SET pending = EXCLUDED.pending, pending_at = EXCLUDED.pending_at`,
);

/** One that counts from its first code on. The one in use stays until then. */
export async function offerAuthenticator(tx: PeopleTx, userId: string, pending: Buffer, atMs: number): Promise<void> {
  await tx.run(OFFER_AUTHENTICATOR, [userId, pending, new Date(atMs)]);
}

const CONFIRM_AUTHENTICATOR = statement<{ user_id: string }>(
  'confirm_authenticator',
  `UPDATE user_authenticators SET sealed = $5, pending = NULL, pending_at = NULL, last_step = $3, created_at = $4
   WHERE user_id = $1 AND pending = $2 RETURNING user_id`,
);

/** False where another one was offered meanwhile. */
export async function confirmAuthenticator(
  tx: PeopleTx,
  userId: string,
  pending: Buffer,
  { sealed, step }: { readonly sealed: Buffer; readonly step: number },
  atMs: number,
): Promise<boolean> {
  return (await tx.run(CONFIRM_AUTHENTICATOR, [userId, pending, step, new Date(atMs), sealed])).length > 0;
}

const DELETE_AUTHENTICATOR = statement<{ had: boolean }>(
  'delete_authenticator',
  'DELETE FROM user_authenticators WHERE user_id = $1 RETURNING sealed IS NOT NULL AS had',
);

/** Whether there was one in use. */
export async function deleteAuthenticator(tx: PeopleTx, userId: string): Promise<boolean> {
  return (await tx.run(DELETE_AUTHENTICATOR, [userId]))[0]?.had ?? false;
}

const SPEND_STEP = statement<{ user_id: string }>(
  'spend_authenticator_step',
  'UPDATE user_authenticators SET last_step = $2 WHERE user_id = $1 AND last_step < $2 RETURNING user_id',
);

/** False where the code of this step, or of a later one, was used: of two at the same time one gets false. */
export async function spendStep(tx: PeopleTx, userId: string, step: number): Promise<boolean> {
  return (await tx.run(SPEND_STEP, [userId, step])).length > 0;
}

const SPEND_RECOVERY_CODE = statement<{ user_id: string }>(
  'spend_recovery_code',
  'DELETE FROM user_recovery_codes WHERE user_id = $1 AND hash = $2 RETURNING user_id',
);

export async function spendRecoveryCode(tx: PeopleTx, userId: string, hash: Buffer): Promise<boolean> {
  return (await tx.run(SPEND_RECOVERY_CODE, [userId, hash])).length > 0;
}

const DELETE_RECOVERY_CODES = statement<never>(
  'delete_recovery_codes',
  'DELETE FROM user_recovery_codes WHERE user_id = $1',
);

export async function deleteRecoveryCodes(tx: PeopleTx, userId: string): Promise<void> {
  await tx.run(DELETE_RECOVERY_CODES, [userId]);
}

const INSERT_RECOVERY_CODES = statement<never>(
  'insert_recovery_codes',
  'INSERT INTO user_recovery_codes (user_id, hash, created_at) SELECT $1, hash, $3 FROM unnest($2::bytea[]) AS hash',
);

/** In place of those of before. */
export async function replaceRecoveryCodes(
  tx: PeopleTx,
  userId: string,
  hashes: readonly Buffer[],
  atMs: number,
): Promise<void> {
  await deleteRecoveryCodes(tx, userId);
  await tx.run(INSERT_RECOVERY_CODES, [userId, hashes, new Date(atMs)]);
}

const COUNT_RECOVERY_CODES = statement<{ count: number }>(
  'count_recovery_codes',
  'SELECT count(*)::integer AS count FROM user_recovery_codes WHERE user_id = $1',
);

export async function countRecoveryCodes(tx: PeopleTx, userId: string): Promise<number> {
  return (await tx.run(COUNT_RECOVERY_CODES, [userId]))[0]?.count ?? 0;
}
