import type { KeyObject } from 'node:crypto';
import type { PeopleTx, SystemTx, TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';
import { emailKeyOf } from '../email.js';
import { addressMacOf } from './address-mac.js';

/** A user as others see it. */
export interface UserRow {
  readonly id: string;
  readonly email: string | null;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly picture: string | null;
}

const INSERT_OWNER = statement<never>('insert_owner', 'INSERT INTO users (id, created_at) VALUES ($1, $2)');

/** A user without an address: the owner of a tenant that the operator makes. */
export async function insertOwner(tx: TenantTx, id: string, atMs: number): Promise<void> {
  await tx.run(INSERT_OWNER, [id, new Date(atMs)]);
}

const FIND_USER_ID = statement<{ id: string }>('find_user_id', 'SELECT id FROM users WHERE id = $1');

export async function isUser(tx: SystemTx, id: string): Promise<boolean> {
  return (await tx.run(FIND_USER_ID, [id])).length > 0;
}

const FIND_ANY_USER = statement<{ id: string }>('find_any_user', 'SELECT id FROM users LIMIT 1');

/** The first start makes the first user, so a database without one is new. */
export async function hasAnyUser(tx: SystemTx): Promise<boolean> {
  return (await tx.run(FIND_ANY_USER, [])).length > 0;
}

const LIST_USERS_BY_ID = statement<UserRow>(
  'list_users_by_id',
  'SELECT id, email, first_name, last_name, picture FROM users WHERE id = ANY ($1::uuid[])',
);

export async function listUsersById(tx: PeopleTx, ids: readonly string[]): Promise<UserRow[]> {
  return tx.run(LIST_USERS_BY_ID, [ids]);
}

const FIND_USER_BY_EMAIL = statement<{ id: string }>('find_user_by_email', 'SELECT id FROM users WHERE email_key = $1');

export async function findUserByEmail(tx: PeopleTx, emailKey: string): Promise<string | undefined> {
  return (await tx.run(FIND_USER_BY_EMAIL, [emailKey]))[0]?.id;
}

/** What a user says of itself. */
export interface UserProfile {
  readonly email: string;
  /** Whether anybody vouches for the address: a link that was mailed to it, or the operator. */
  readonly isEmailVerified: boolean;
  readonly firstName: string | undefined;
  readonly lastName: string | undefined;
}

const INSERT_USER = statement<{ id: string }>(
  'insert_user',
  `INSERT INTO users (id, email, email_key, first_name, last_name, created_at, email_mac, email_verified_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
   ON CONFLICT (email_key) DO NOTHING RETURNING id`,
);

/** False where another user has the address. */
export async function insertUser(
  tx: PeopleTx,
  rowMacKey: KeyObject,
  id: string,
  profile: UserProfile,
  atMs: number,
): Promise<boolean> {
  const values = [id, ...profileValues(rowMacKey, id, profile, atMs)];
  return (await tx.run(INSERT_USER, values)).length > 0;
}

const SET_UP_USER = statement<never>(
  'set_up_user',
  `UPDATE users SET email = $2, email_key = $3, first_name = $4, last_name = $5, modified_at = $6, email_mac = $7,
     email_verified_at = $8 WHERE id = $1`,
);

/** Gives the owner an address. Fails as a unique violation where another user has it. */
export async function setUpUser(
  tx: PeopleTx,
  rowMacKey: KeyObject,
  id: string,
  profile: UserProfile,
  atMs: number,
): Promise<void> {
  await tx.run(SET_UP_USER, [id, ...profileValues(rowMacKey, id, profile, atMs)]);
}

function profileValues(rowMacKey: KeyObject, id: string, profile: UserProfile, atMs: number) {
  const { email, firstName, lastName, isEmailVerified } = profile;
  const now = new Date(atMs);
  const verifiedAt = isEmailVerified ? now : null;
  const names = [firstName ?? null, lastName ?? null];
  return [email, emailKeyOf(email), ...names, now, addressMacOf(rowMacKey, id, { email, verifiedAt }), verifiedAt];
}

const FIND_TENANT_OWNER = statement<{ owner_id: string }>(
  'find_tenant_owner',
  'SELECT owner_id FROM tenants WHERE id = $1 AND deleted_at IS NULL',
);

/** As the tenant's own row says it: to count by, not to decide by. */
export async function findTenantOwner(tx: PeopleTx, tenantId: string): Promise<string | undefined> {
  return (await tx.run(FIND_TENANT_OWNER, [tenantId]))[0]?.owner_id;
}

const LIST_OWNED_TENANTS = statement<{ id: string }>(
  'list_owned_tenants',
  'SELECT id FROM tenants WHERE owner_id = $1 AND deleted_at IS NULL ORDER BY id LIMIT 1000',
);

/** Those whose own row names the user as the owner. */
export async function listOwnedTenants(tx: PeopleTx, userId: string): Promise<string[]> {
  return (await tx.run(LIST_OWNED_TENANTS, [userId])).map(({ id }) => id);
}
