import { addToDirectory, findInDirectory, removeFromDirectory } from '../../access/directory-queries.js';
import type { PeopleTx, TenantTx } from '../../storage/scope.js';
import { distributedStatement, plainStatement, statement } from '../../storage/statement.js';

export interface StoredInvitation {
  readonly id: string;
  readonly email: string;
  readonly email_key: string;
  readonly role: string;
  readonly secret_hash: Buffer;
  readonly mac: Buffer;
  readonly expires_at: Date;
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly modified_by: string | null;
  readonly modified_at: Date | null;
}

const COLUMNS = `id, email, email_key, role, secret_hash, mac, expires_at, created_by, created_at, modified_by,
  modified_at`;

const INSERT_INVITATION = statement<never>(
  'insert_invitation',
  `INSERT INTO invitations (tenant_id, id, email, email_key, role, secret_hash, mac, expires_at, created_by, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

export async function insertInvitation(tx: TenantTx, row: StoredInvitation): Promise<void> {
  const { id, email, email_key, role, secret_hash, mac, expires_at, created_by, created_at } = row;
  const values = [tx.tenantId, id, email, email_key, role, secret_hash, mac, expires_at, created_by, created_at];
  await Promise.all([tx.run(INSERT_INVITATION, values), addToDirectory(tx, secret_hash)]);
}

const FIND_INVITATION = statement<StoredInvitation>(
  'find_invitation',
  `SELECT ${COLUMNS} FROM invitations WHERE tenant_id = $1 AND id = $2`,
);

export async function findInvitation(tx: TenantTx, id: string): Promise<StoredInvitation | undefined> {
  return (await tx.run(FIND_INVITATION, [tx.tenantId, id]))[0];
}

const LOCK_INVITATION = statement<StoredInvitation>(
  'lock_invitation',
  `SELECT ${COLUMNS} FROM invitations WHERE tenant_id = $1 AND id = $2 FOR UPDATE`,
);

export async function lockInvitation(tx: TenantTx, id: string): Promise<StoredInvitation | undefined> {
  return (await tx.run(LOCK_INVITATION, [tx.tenantId, id]))[0];
}

const RENEW_INVITATION = statement<never>(
  'renew_invitation',
  `UPDATE invitations SET secret_hash = $3, mac = $4, expires_at = $5, modified_by = $6, modified_at = $7
   WHERE tenant_id = $1 AND id = $2`,
);

/** The secret of before opens nothing any more. */
export async function renewInvitation(tx: TenantTx, row: StoredInvitation): Promise<void> {
  const { id, secret_hash, mac, expires_at, modified_by, modified_at } = row;
  await Promise.all([
    tx.run(RENEW_INVITATION, [tx.tenantId, id, secret_hash, mac, expires_at, modified_by, modified_at]),
    addToDirectory(tx, secret_hash),
  ]);
}

const DELETE_INVITATION = statement<{ secret_hash: Buffer }>(
  'delete_invitation',
  'DELETE FROM invitations WHERE tenant_id = $1 AND id = $2 RETURNING secret_hash',
);

export async function deleteInvitation(tx: TenantTx, id: string): Promise<boolean> {
  const [gone] = await tx.run(DELETE_INVITATION, [tx.tenantId, id]);
  if (gone) await removeFromDirectory(tx, [gone.secret_hash]);
  return gone !== undefined;
}

const DELETE_INVITATIONS_OF = statement<never>(
  'delete_invitations_of',
  'DELETE FROM invitations WHERE tenant_id = $1 AND email_key = $2',
);

/** Every invitation of an address. */
export async function deleteInvitationsOf(tx: TenantTx, emailKey: string): Promise<void> {
  await tx.run(DELETE_INVITATIONS_OF, [tx.tenantId, emailKey]);
}

/** Which of them a list is about. */
export type InvitationStatus = 'PENDING' | 'EXPIRED';

const IS_WANTED = `($2::text IS NULL OR ($2 = 'PENDING') = (expires_at > $3))`;

const LIST_INVITATIONS = statement<StoredInvitation>(
  'list_invitations',
  `SELECT ${COLUMNS} FROM invitations WHERE tenant_id = $1 AND ${IS_WANTED}
   ORDER BY created_at DESC, id DESC LIMIT $4 OFFSET $5::bigint`,
);

/** Newest first; all of them without a status. */
export async function listInvitations(
  tx: TenantTx,
  filter: InvitationFilter,
  limit: number,
  offset: number,
): Promise<StoredInvitation[]> {
  return tx.run(LIST_INVITATIONS, [tx.tenantId, filter.status ?? null, new Date(filter.nowMs), limit, offset]);
}

export interface InvitationFilter {
  readonly status: InvitationStatus | undefined;
  readonly nowMs: number;
}

const COUNT_INVITATIONS = statement<{ count: number }>(
  'count_invitations',
  `SELECT count(*)::int AS count FROM invitations WHERE tenant_id = $1 AND ${IS_WANTED}`,
);

export async function countInvitations(tx: TenantTx, { status, nowMs }: InvitationFilter): Promise<number> {
  return (await tx.run(COUNT_INVITATIONS, [tx.tenantId, status ?? null, new Date(nowMs)]))[0]?.count ?? 0;
}

const FIND_INVITATION_BY_SECRET = plainStatement<{ tenant_id: string; id: string }>(
  'find_invitation_by_secret',
  'SELECT tenant_id, id FROM invitations WHERE secret_hash = $1 LIMIT 1',
);

/** The same where the directory has told whose it is. */
const FIND_INVITATION_OF_TENANT = distributedStatement<{ tenant_id: string; id: string }>(
  'find_invitation_of_tenant',
  'SELECT tenant_id, id FROM invitations WHERE tenant_id = $2 AND secret_hash = $1 LIMIT 1',
);

/** Whose a secret is: asked before the tenant is known. */
export async function findInvitationBySecret(
  tx: PeopleTx,
  secretHash: Buffer,
): Promise<{ readonly tenant_id: string; readonly id: string } | undefined> {
  const tenantId = await findInDirectory(tx, secretHash);
  const [found] = await (tenantId === undefined
    ? tx.run(FIND_INVITATION_BY_SECRET, [secretHash])
    : tx.run(FIND_INVITATION_OF_TENANT, [secretHash, tenantId]));
  return found;
}

const LIST_INVITATION_MACS = statement<StoredInvitation>(
  'list_invitation_macs',
  `SELECT ${COLUMNS} FROM invitations WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);

export async function listInvitationMacs(tx: TenantTx, after: string, limit: number): Promise<StoredInvitation[]> {
  return tx.run(LIST_INVITATION_MACS, [tx.tenantId, after, limit]);
}
