import { StillReferred } from '../../storage/faults.js';
import type { PeopleTx } from '../../storage/scope.js';
import { distributedStatement, statement } from '../../storage/statement.js';

const LOCK_USER_BEFORE_SET_UP = statement<{ id: string }>(
  'lock_user_before_set_up',
  `SELECT id FROM users WHERE id = $1 AND email_key IS NULL AND disabled_at IS NULL FOR NO KEY UPDATE`,
);

/** Whether this is a user without an address, who cannot have signed in yet; it stays one until the transaction ends. */
export async function lockUserBeforeSetUp(tx: PeopleTx, id: string): Promise<boolean> {
  return (await tx.run(LOCK_USER_BEFORE_SET_UP, [id])).length > 0;
}

const IS_BEFORE_SET_UP = statement<{ id: string }>(
  'is_before_set_up',
  'SELECT id FROM users WHERE id = $1 AND email_key IS NULL AND disabled_at IS NULL',
);

export async function isBeforeSetUp(tx: PeopleTx, id: string): Promise<boolean> {
  return (await tx.run(IS_BEFORE_SET_UP, [id])).length > 0;
}

const DELETE_PASSWORD = statement<never>('delete_password', 'DELETE FROM user_passwords WHERE user_id = $1');

export async function deletePassword(tx: PeopleTx, userId: string): Promise<void> {
  await tx.run(DELETE_PASSWORD, [userId]);
}

type Gone = { readonly user_id: string };
const DELETE_ALL_BUT_PASSWORD = [
  statement<Gone>('delete_authenticators_of', 'DELETE FROM user_authenticators WHERE user_id = $1 RETURNING user_id'),
  statement<Gone>('delete_recovery_codes_of', 'DELETE FROM user_recovery_codes WHERE user_id = $1 RETURNING user_id'),
  statement<Gone>('delete_passkeys_of', 'DELETE FROM user_passkeys WHERE user_id = $1 RETURNING user_id'),
  statement<Gone>('delete_identities_of', 'DELETE FROM user_identities WHERE user_id = $1 RETURNING user_id'),
];

/** The authenticator with its recovery codes, every passkey and every linked identity. False where there was none of them. */
export async function deleteAllButPassword(tx: PeopleTx, userId: string): Promise<boolean> {
  let isAnyGone = false;
  for (const each of DELETE_ALL_BUT_PASSWORD) isAnyGone = (await tx.run(each, [userId])).length > 0 || isAnyGone;
  return isAnyGone;
}

const DELETE_DEVICES_OF = statement<never>('delete_devices_of', 'DELETE FROM user_devices WHERE user_id = $1');

/** The next sign-in with each browser is told to the user. */
export async function deleteDevicesOf(tx: PeopleTx, userId: string): Promise<void> {
  await tx.run(DELETE_DEVICES_OF, [userId]);
}

const DELETE_PORTAL_SESSIONS_BUT = statement<{ id: string }>(
  'delete_portal_sessions_but',
  'DELETE FROM portal_sessions WHERE user_id = $1 AND id <> $2 RETURNING id',
);

/** Every session of the user but this one. False where there was none. */
export async function deletePortalSessionsBut(tx: PeopleTx, userId: string, sessionId: string): Promise<boolean> {
  return (await tx.run(DELETE_PORTAL_SESSIONS_BUT, [userId, sessionId])).length > 0;
}

const DISABLE_USER = statement<{ id: string }>(
  'disable_user',
  'UPDATE users SET disabled_at = $2, modified_at = $2 WHERE id = $1 AND disabled_at IS NULL RETURNING id',
);

/** False for one that is disabled already. */
export async function disableUser(tx: PeopleTx, id: string, atMs: number): Promise<boolean> {
  return (await tx.run(DISABLE_USER, [id, new Date(atMs)])).length > 0;
}

const ENABLE_USER = statement<{ id: string }>(
  'enable_user',
  'UPDATE users SET disabled_at = NULL, modified_at = $2 WHERE id = $1 AND disabled_at IS NOT NULL RETURNING id',
);

/** False for one that is not disabled. */
export async function enableUser(tx: PeopleTx, id: string, atMs: number): Promise<boolean> {
  return (await tx.run(ENABLE_USER, [id, new Date(atMs)])).length > 0;
}

/** A user as the operator's list shows it. */
export interface ListedUser {
  readonly id: string;
  readonly email: string | null;
  readonly is_disabled: boolean;
  readonly can_sign_in: boolean;
  readonly created_at: Date;
}

const LIST_USERS = statement<ListedUser>(
  'list_users',
  `SELECT u.id, u.email, u.disabled_at IS NOT NULL AS is_disabled, u.created_at,
     (EXISTS (SELECT FROM user_passwords p WHERE p.user_id = u.id)
       OR EXISTS (SELECT FROM user_passkeys k WHERE k.user_id = u.id)
       OR EXISTS (SELECT FROM user_identities i WHERE i.user_id = u.id)) AS can_sign_in
   FROM users u WHERE u.id > $1 ORDER BY u.id LIMIT $2`,
);

/** In the order of their ids, which is that of the only index that has them all. */
export async function listUsers(tx: PeopleTx, after: string, limit: number): Promise<ListedUser[]> {
  return tx.run(LIST_USERS, [after, limit]);
}

const COUNT_TENANTS_OF_USERS = statement<{ user_id: string; count: number }>(
  'count_tenants_of_users',
  `SELECT m.user_id, count(*)::int AS count
   FROM members m JOIN tenants t ON t.id = m.tenant_id AND t.deleted_at IS NULL
   WHERE m.user_id = ANY ($1::uuid[]) GROUP BY m.user_id`,
);

export async function countTenantsOfUsers(
  tx: PeopleTx,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.run(COUNT_TENANTS_OF_USERS, [userIds]);
  return new Map(rows.map(({ user_id, count }) => [user_id, count]));
}

const LAST_SEEN_OF_USERS = statement<{ user_id: string; seen_at: Date }>(
  'last_seen_of_users',
  `SELECT user_id, max(seen_at) AS seen_at FROM portal_sessions WHERE user_id = ANY ($1::uuid[]) GROUP BY user_id`,
);

/** By the sessions there are: of those that ended nothing is left. */
export async function lastSeenOfUsers(tx: PeopleTx, userIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
  const rows = await tx.run(LAST_SEEN_OF_USERS, [userIds]);
  return new Map(rows.map(({ user_id, seen_at }) => [user_id, seen_at]));
}

const DELETE_USER = statement<never>('delete_user', 'DELETE FROM users WHERE id = $1');

/** Members refer to their users by a key, but for those of a distributed database. */
const FIND_ANY_MEMBERSHIP = distributedStatement<{ tenant_id: string }>(
  'find_any_membership',
  'SELECT tenant_id FROM members WHERE user_id = $1 LIMIT 1',
);

/** Fails where a row refers to it, as that of a member does. */
export async function deleteUser(tx: PeopleTx, id: string): Promise<void> {
  if ((await tx.run(FIND_ANY_MEMBERSHIP, [id])).length > 0) throw new StillReferred('the user is a member');
  await tx.run(DELETE_USER, [id]);
}
