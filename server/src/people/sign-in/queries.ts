import type { PeopleTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';
import { holdUser } from '../users/lock-queries.js';

/** What a sign-in is checked against. */
export interface SignInRow {
  readonly id: string;
  readonly email: string | null;
  readonly hash: string | null;
  readonly is_disabled: boolean;
  /** The sealed secret of the authenticator that is in use. */
  readonly authenticator: Buffer | null;
}

const SIGN_IN_COLUMNS = `u.id, u.email, p.hash, u.disabled_at IS NOT NULL AS is_disabled, a.sealed AS authenticator`;
const SIGN_IN_TABLES = `users u LEFT JOIN user_passwords p ON p.user_id = u.id
   LEFT JOIN user_authenticators a ON a.user_id = u.id`;

const FIND_SIGN_IN = statement<SignInRow>(
  'find_sign_in',
  `SELECT ${SIGN_IN_COLUMNS} FROM ${SIGN_IN_TABLES} WHERE u.email_key = $1`,
);

export async function findSignIn(tx: PeopleTx, emailKey: string): Promise<SignInRow | undefined> {
  return (await tx.run(FIND_SIGN_IN, [emailKey]))[0];
}

const FIND_SIGN_IN_OF = statement<SignInRow>(
  'find_sign_in_of',
  `SELECT ${SIGN_IN_COLUMNS} FROM ${SIGN_IN_TABLES} WHERE u.id = $1`,
);

export async function findSignInOf(tx: PeopleTx, userId: string): Promise<SignInRow | undefined> {
  return (await tx.run(FIND_SIGN_IN_OF, [userId]))[0];
}

const SET_PASSWORD = statement<never>(
  'set_password',
  `INSERT INTO user_passwords (user_id, hash, changed_at) VALUES ($1, $2, $3)
   ON CONFLICT (user_id) DO UPDATE SET hash = EXCLUDED.hash, changed_at = EXCLUDED.changed_at`,
);

export async function setPassword(tx: PeopleTx, userId: string, hash: string, atMs: number): Promise<void> {
  await tx.run(SET_PASSWORD, [userId, hash, new Date(atMs)]);
}

const HOLD_SIGN_IN = statement<{ user_id: string }>(
  'hold_sign_in',
  `SELECT p.user_id FROM user_passwords p LEFT JOIN user_authenticators a ON a.user_id = p.user_id
   WHERE p.user_id = $1 AND p.hash = $2 AND a.sealed IS NOT DISTINCT FROM $3 FOR SHARE OF p`,
);

/** Whether password and authenticator are still the ones that were checked; they stay so until the transaction ends. */
export async function holdSignIn(tx: PeopleTx, { id, hash, authenticator }: SignInRow): Promise<boolean> {
  // A statement of its own: the next one sees what whoever held the lock has changed.
  await holdUser(tx, id);
  return (await tx.run(HOLD_SIGN_IN, [id, hash, authenticator])).length > 0;
}

export interface FailureRow {
  readonly name: Buffer;
  readonly count: number;
  readonly last_at: Date;
}

const LIST_FAILURES = statement<FailureRow>(
  'list_sign_in_failures',
  'SELECT name, count, last_at FROM sign_in_failures WHERE name = ANY ($1::bytea[])',
);

export async function listFailures(tx: PeopleTx, names: readonly Buffer[]): Promise<FailureRow[]> {
  return tx.run(LIST_FAILURES, [names]);
}

const ADD_FAILURE = statement<never>(
  'add_sign_in_failure',
  // Counted by the database: failures at the same time all count.
  `INSERT INTO sign_in_failures AS f (name, count, last_at) VALUES ($1, 1, $2)
   ON CONFLICT (name) DO UPDATE SET last_at = EXCLUDED.last_at,
     count = CASE WHEN f.last_at <= $3 THEN 1 ELSE f.count + 1 END`,
);

/** One more; those from before `forgottenMs` do not count. */
export async function addFailure(tx: PeopleTx, name: Buffer, nowMs: number, forgottenMs: number): Promise<void> {
  await tx.run(ADD_FAILURE, [name, new Date(nowMs), new Date(forgottenMs)]);
}

const LOCK_FAILURES = statement<FailureRow>(
  'lock_sign_in_failures',
  // The update changes nothing and holds the row: of tries at the same time each sees what the one before counted.
  `INSERT INTO sign_in_failures AS f (name, count, last_at) VALUES ($1, 0, $2)
   ON CONFLICT (name) DO UPDATE SET count = f.count RETURNING name, count, last_at`,
);

/** What was counted, for as long as the transaction lasts. */
export async function lockFailures(tx: PeopleTx, name: Buffer, nowMs: number): Promise<FailureRow | undefined> {
  return (await tx.run(LOCK_FAILURES, [name, new Date(nowMs)]))[0];
}

const TAKE_BACK_FAILURE = statement<never>(
  'take_back_sign_in_failure',
  'UPDATE sign_in_failures SET count = count - 1 WHERE name = $1 AND count > 0',
);

/** One less. The row is locked from then on. */
export async function takeBackFailure(tx: PeopleTx, name: Buffer): Promise<void> {
  await tx.run(TAKE_BACK_FAILURE, [name]);
}

const DELETE_NO_FAILURES = statement<never>(
  'delete_no_sign_in_failures',
  'DELETE FROM sign_in_failures WHERE name = $1 AND count = 0',
);

/** A row that counts nothing. */
export async function deleteNoFailures(tx: PeopleTx, name: Buffer): Promise<void> {
  await tx.run(DELETE_NO_FAILURES, [name]);
}

const CLEAR_FAILURES = statement<never>('clear_sign_in_failures', 'DELETE FROM sign_in_failures WHERE name = $1');

export async function clearFailures(tx: PeopleTx, name: Buffer): Promise<void> {
  await tx.run(CLEAR_FAILURES, [name]);
}

const DELETE_DUE_FAILURES = statement<{ name: Buffer }>(
  'delete_due_sign_in_failures',
  `DELETE FROM sign_in_failures WHERE name = ANY (ARRAY(
     SELECT name FROM sign_in_failures WHERE last_at <= $1 ORDER BY last_at LIMIT $2 FOR UPDATE SKIP LOCKED))
   RETURNING name`,
);

export async function deleteDueFailures(tx: PeopleTx, forgottenMs: number, limit: number): Promise<number> {
  return (await tx.run(DELETE_DUE_FAILURES, [new Date(forgottenMs), limit])).length;
}

const DELETE_OLDEST_FAILURES = statement<{ name: Buffer }>(
  'delete_oldest_sign_in_failures',
  `DELETE FROM sign_in_failures WHERE name = ANY (ARRAY(
     SELECT name FROM sign_in_failures ORDER BY last_at DESC OFFSET $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
   RETURNING name`,
);

/** All but the newest, so many at a time. */
export async function deleteOldestFailures(tx: PeopleTx, kept: number, limit: number): Promise<number> {
  return (await tx.run(DELETE_OLDEST_FAILURES, [kept, limit])).length;
}
