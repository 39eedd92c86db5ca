import type { PeopleTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';
import { lockUser } from '../users/lock-queries.js';

export interface StoredEmailChange {
  readonly user_id: string;
  readonly email: string;
  readonly old_email: string | null;
  readonly old_hash: Buffer | null;
  readonly new_hash: Buffer | null;
  readonly mac: Buffer;
  readonly expires_at: Date;
  readonly created_at: Date;
}

const COLUMNS = 'user_id, email, old_email, old_hash, new_hash, mac, expires_at, created_at';

const REPLACE_EMAIL_CHANGE = statement<never>(
  'replace_email_change',
  `INSERT INTO email_changes (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
   ON CONFLICT (user_id) DO UPDATE SET email = EXCLUDED.email, old_email = EXCLUDED.old_email,
     old_hash = EXCLUDED.old_hash, new_hash = EXCLUDED.new_hash, mac = EXCLUDED.mac,
     expires_at = EXCLUDED.expires_at, created_at = EXCLUDED.created_at`,
);

/** In place of the one before, whose links are dead. */
export async function replaceEmailChange(tx: PeopleTx, row: StoredEmailChange): Promise<void> {
  const { user_id, email, old_email, old_hash, new_hash, mac, expires_at, created_at } = row;
  await tx.run(REPLACE_EMAIL_CHANGE, [user_id, email, old_email, old_hash, new_hash, mac, expires_at, created_at]);
}

const FIND_USER_OF_EMAIL_CHANGE = statement<{ user_id: string }>(
  'find_user_of_email_change',
  'SELECT user_id FROM email_changes WHERE (old_hash = $1 OR new_hash = $1)',
);
const LOCK_EMAIL_CHANGE = statement<StoredEmailChange>(
  'lock_email_change',
  `SELECT ${COLUMNS} FROM email_changes WHERE (old_hash = $1 OR new_hash = $1) FOR UPDATE`,
);

/** By either link. Of two at the same time the second sees what the first did. The user is locked first, as everywhere. */
export async function lockEmailChange(tx: PeopleTx, hash: Buffer): Promise<StoredEmailChange | undefined> {
  const [found] = await tx.run(FIND_USER_OF_EMAIL_CHANGE, [hash]);
  if (!found) return undefined;
  await lockUser(tx, found.user_id);
  return (await tx.run(LOCK_EMAIL_CHANGE, [hash]))[0];
}

const FIND_EMAIL_CHANGE = statement<StoredEmailChange>(
  'find_email_change',
  `SELECT ${COLUMNS} FROM email_changes WHERE user_id = $1`,
);

export async function findEmailChange(tx: PeopleTx, userId: string): Promise<StoredEmailChange | undefined> {
  return (await tx.run(FIND_EMAIL_CHANGE, [userId]))[0];
}

const DELETE_EMAIL_CHANGE = statement<never>('delete_email_change', 'DELETE FROM email_changes WHERE user_id = $1');

export async function deleteEmailChange(tx: PeopleTx, userId: string): Promise<void> {
  await tx.run(DELETE_EMAIL_CHANGE, [userId]);
}

const DELETE_TAKEN_EMAIL_CHANGE = statement<never>(
  'delete_taken_email_change',
  'DELETE FROM email_changes WHERE user_id = $1 AND mac = $2',
);

/** Nothing where another one took its place meanwhile. */
export async function deleteThisEmailChange(tx: PeopleTx, { user_id, mac }: StoredEmailChange): Promise<void> {
  await tx.run(DELETE_TAKEN_EMAIL_CHANGE, [user_id, mac]);
}

const DELETE_DUE_EMAIL_CHANGES = statement<{ user_id: string }>(
  'delete_due_email_changes',
  `DELETE FROM email_changes WHERE user_id = ANY (ARRAY(
     SELECT user_id FROM email_changes WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))
   RETURNING user_id`,
);

export async function deleteDueEmailChanges(tx: PeopleTx, nowMs: number, limit: number): Promise<number> {
  return (await tx.run(DELETE_DUE_EMAIL_CHANGES, [new Date(nowMs), limit])).length;
}
