import type { PeopleTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

const LOCK_USER = statement<never>('lock_user', 'SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE');

/**
 * Whoever changes an account does so alone, and no sign-in ends meanwhile. It comes before every other row of the user, and
 * after what is counted: two changes that lock in different orders would wait for each other.
 */
export async function lockUser(tx: PeopleTx, userId: string): Promise<void> {
  await tx.run(LOCK_USER, [userId]);
}

const HOLD_USER = statement<never>('hold_user', 'SELECT id FROM users WHERE id = $1 FOR SHARE');

/** For a sign-in: several of one user at the same time, and none while the account is changed. */
export async function holdUser(tx: PeopleTx, userId: string): Promise<void> {
  await tx.run(HOLD_USER, [userId]);
}
