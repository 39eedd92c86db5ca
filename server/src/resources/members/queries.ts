import type { TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

export interface StoredMember {
  readonly id: string;
  readonly user_id: string;
  readonly role: string;
  readonly mac: Buffer;
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly modified_by: string | null;
  readonly modified_at: Date | null;
}

const COLUMNS = 'id, user_id, role, mac, created_by, created_at, modified_by, modified_at';

const INSERT_MEMBER = statement<{ id: string }>(
  'insert_member',
  `INSERT INTO members (tenant_id, id, user_id, role, mac, created_by, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant_id, user_id) DO NOTHING RETURNING id`,
);

/** False for a user who is a member already. */
export async function insertMember(tx: TenantTx, member: StoredMember): Promise<boolean> {
  const { id, user_id, role, mac, created_by, created_at } = member;
  return (await tx.run(INSERT_MEMBER, [tx.tenantId, id, user_id, role, mac, created_by, created_at])).length > 0;
}

const FIND_MEMBER_BY_USER = statement<StoredMember>(
  'find_member_by_user',
  `SELECT ${COLUMNS} FROM members WHERE tenant_id = $1 AND user_id = $2`,
);

export async function findMemberByUser(tx: TenantTx, userId: string): Promise<StoredMember | undefined> {
  return (await tx.run(FIND_MEMBER_BY_USER, [tx.tenantId, userId]))[0];
}

const FIND_MEMBER = statement<StoredMember>(
  'find_member',
  `SELECT ${COLUMNS} FROM members WHERE tenant_id = $1 AND id = $2`,
);

export async function findMember(tx: TenantTx, id: string): Promise<StoredMember | undefined> {
  return (await tx.run(FIND_MEMBER, [tx.tenantId, id]))[0];
}

const LOCK_MEMBER = statement<StoredMember>(
  'lock_member',
  `SELECT ${COLUMNS} FROM members WHERE tenant_id = $1 AND id = $2 FOR UPDATE`,
);

export async function lockMember(tx: TenantTx, id: string): Promise<StoredMember | undefined> {
  return (await tx.run(LOCK_MEMBER, [tx.tenantId, id]))[0];
}

const LOCK_OWNERS_AND_USER = statement<StoredMember>(
  'lock_owners_and_user',
  `SELECT ${COLUMNS} FROM members WHERE tenant_id = $1 AND (role = 'OWNER' OR user_id = $2) ORDER BY id FOR UPDATE`,
);

/** Whoever is an owner, and this user. */
export async function lockOwnersAndUser(tx: TenantTx, userId: string): Promise<StoredMember[]> {
  return tx.run(LOCK_OWNERS_AND_USER, [tx.tenantId, userId]);
}

const UPDATE_MEMBER = statement<{ id: string }>(
  'update_member',
  `UPDATE members SET role = $3, mac = $4, modified_by = $5, modified_at = $6
   WHERE tenant_id = $1 AND id = $2 AND mac = $7 RETURNING id`,
);

/** False if the row is not as it was read any more: a change that shares the transaction is not kept out by a lock. */
export async function updateMember(tx: TenantTx, read: StoredMember, member: StoredMember): Promise<boolean> {
  const { id, role, mac, modified_by, modified_at } = member;
  const values = [tx.tenantId, id, role, mac, modified_by, modified_at, read.mac];
  return (await tx.run(UPDATE_MEMBER, values)).length > 0;
}

const DELETE_MEMBER = statement<{ id: string }>(
  'delete_member',
  'DELETE FROM members WHERE tenant_id = $1 AND id = $2 AND mac = $3 RETURNING id',
);

/** False if the row is not as it was read any more, as above. */
export async function deleteMember(tx: TenantTx, read: StoredMember): Promise<boolean> {
  return (await tx.run(DELETE_MEMBER, [tx.tenantId, read.id, read.mac])).length > 0;
}

const IS_WANTED = '($2::uuid[] IS NULL OR user_id = ANY ($2::uuid[]))';

const LIST_MEMBERS = statement<StoredMember>(
  'list_members',
  `SELECT ${COLUMNS} FROM members WHERE tenant_id = $1 AND ${IS_WANTED}
   ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4::bigint`,
);

/** Newest first; all of them without a list of users. */
export async function listMembers(
  tx: TenantTx,
  userIds: readonly string[] | undefined,
  limit: number,
  offset: number,
): Promise<StoredMember[]> {
  return tx.run(LIST_MEMBERS, [tx.tenantId, userIds ?? null, limit, offset]);
}

const COUNT_MEMBERS = statement<{ count: number }>(
  'count_members',
  `SELECT count(*)::int AS count FROM members WHERE tenant_id = $1 AND ${IS_WANTED}`,
);

export async function countMembers(tx: TenantTx, userIds: readonly string[] | undefined): Promise<number> {
  return (await tx.run(COUNT_MEMBERS, [tx.tenantId, userIds ?? null]))[0]?.count ?? 0;
}

const LIST_MEMBER_MACS = statement<StoredMember>(
  'list_member_macs',
  `SELECT ${COLUMNS} FROM members WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);

export async function listMemberMacs(tx: TenantTx, after: string, limit: number): Promise<StoredMember[]> {
  return tx.run(LIST_MEMBER_MACS, [tx.tenantId, after, limit]);
}
