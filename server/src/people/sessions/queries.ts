import type { PeopleTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

export interface StoredPortalSession {
  readonly id: string;
  readonly user_id: string;
  readonly hash: Buffer;
  readonly mac: Buffer;
  readonly signed_in_at: Date;
  readonly has_second_factor: boolean;
  readonly created_at: Date;
  readonly seen_at: Date;
  readonly expires_at: Date;
  readonly address: string | null;
  readonly agent: string | null;
  readonly issuer: string | null;
  readonly seen_mac: Buffer | null;
}

const COLUMNS = `id, user_id, hash, mac, signed_in_at, has_second_factor, created_at, seen_at, expires_at, address, agent, issuer,
  seen_mac`;

const INSERT_PORTAL_SESSION = statement<never>(
  'insert_portal_session',
  `INSERT INTO portal_sessions (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
);

export async function insertPortalSession(tx: PeopleTx, row: StoredPortalSession): Promise<void> {
  const { id, user_id, hash, mac, signed_in_at, has_second_factor, created_at, seen_at, expires_at } = row;
  const proven = [signed_in_at, has_second_factor, created_at, seen_at, expires_at];
  await tx.run(INSERT_PORTAL_SESSION, [id, user_id, hash, mac, ...proven, ...shownOf(row), row.seen_mac]);
}

function shownOf({ address, agent, issuer }: StoredPortalSession): (string | null)[] {
  return [address, agent, issuer];
}

/** A session with what counts for it now. */
export interface FoundPortalSession extends StoredPortalSession {
  readonly is_disabled: boolean;
}

const FIND_PORTAL_SESSION = statement<FoundPortalSession>(
  'find_portal_session',
  `SELECT ${COLUMNS.replace(/(\w+)/g, 's.$1')}, u.disabled_at IS NOT NULL AS is_disabled
   FROM portal_sessions s JOIN users u ON u.id = s.user_id WHERE s.hash = $1`,
);

export async function findPortalSession(tx: PeopleTx, hash: Buffer): Promise<FoundPortalSession | undefined> {
  return (await tx.run(FIND_PORTAL_SESSION, [hash]))[0];
}

const FIND_PORTAL_SESSION_BY_ID = statement<FoundPortalSession>(
  'find_portal_session_by_id',
  `SELECT ${COLUMNS.replace(/(\w+)/g, 's.$1')}, u.disabled_at IS NOT NULL AS is_disabled
   FROM portal_sessions s JOIN users u ON u.id = s.user_id WHERE s.id = $1`,
);

export async function findPortalSessionById(tx: PeopleTx, id: string): Promise<FoundPortalSession | undefined> {
  return (await tx.run(FIND_PORTAL_SESSION_BY_ID, [id]))[0];
}

const LOCK_PORTAL_SESSION = statement<StoredPortalSession>(
  'lock_portal_session',
  `SELECT ${COLUMNS} FROM portal_sessions WHERE user_id = $1 AND id = $2 FOR UPDATE`,
);

export async function lockPortalSession(
  tx: PeopleTx,
  userId: string,
  id: string,
): Promise<StoredPortalSession | undefined> {
  return (await tx.run(LOCK_PORTAL_SESSION, [userId, id]))[0];
}

/** A user in a tenant. */
export interface MembershipRow {
  readonly tenant_id: string;
  readonly tenant_name: string;
  readonly id: string;
  readonly role: string;
  readonly mac: Buffer;
  readonly second_factor_from: Date | null;
  readonly sign_in_issuer: string | null;
}

const MEMBERSHIP_COLUMNS =
  'm.tenant_id, t.name AS tenant_name, m.id, m.role, m.mac, t.second_factor_from, t.sign_in_issuer';

const FIND_MEMBERSHIP = statement<MembershipRow>(
  'find_membership',
  `SELECT ${MEMBERSHIP_COLUMNS}
   FROM members m JOIN tenants t ON t.id = m.tenant_id AND t.deleted_at IS NULL
   WHERE m.user_id = $1 AND m.tenant_id = $2`,
);

export async function findMembership(
  tx: PeopleTx,
  userId: string,
  tenantId: string,
): Promise<MembershipRow | undefined> {
  return (await tx.run(FIND_MEMBERSHIP, [userId, tenantId]))[0];
}

const LIST_MEMBERSHIPS = statement<MembershipRow>(
  'list_memberships',
  `SELECT ${MEMBERSHIP_COLUMNS}
   FROM members m JOIN tenants t ON t.id = m.tenant_id AND t.deleted_at IS NULL
   WHERE m.user_id = $1 ORDER BY t.name, t.id LIMIT $2`,
);

export async function listMemberships(tx: PeopleTx, userId: string, limit: number): Promise<MembershipRow[]> {
  return tx.run(LIST_MEMBERSHIPS, [userId, limit]);
}

const SEE_PORTAL_SESSION = statement<never>(
  'see_portal_session',
  'UPDATE portal_sessions SET seen_at = $2, seen_mac = $3 WHERE id = $1 AND seen_at < $2',
);

export async function seePortalSession(tx: PeopleTx, id: string, seenAt: Date, mac: Buffer): Promise<void> {
  await tx.run(SEE_PORTAL_SESSION, [id, seenAt, mac]);
}

const DEMOTE_PORTAL_SESSION = statement<never>(
  'demote_portal_session',
  'UPDATE portal_sessions SET has_second_factor = false, issuer = NULL, mac = $2 WHERE id = $1',
);

/** It was opened with nothing but a password. */
export async function demotePortalSession(tx: PeopleTx, id: string, mac: Buffer): Promise<void> {
  await tx.run(DEMOTE_PORTAL_SESSION, [id, mac]);
}

const DELETE_PORTAL_SESSION = statement<{ id: string }>(
  'delete_portal_session',
  'DELETE FROM portal_sessions WHERE user_id = $1 AND id = $2 RETURNING id',
);

export async function deletePortalSession(tx: PeopleTx, userId: string, id: string): Promise<boolean> {
  return (await tx.run(DELETE_PORTAL_SESSION, [userId, id])).length > 0;
}

const DELETE_PORTAL_SESSIONS_OF = statement<never>(
  'delete_portal_sessions_of',
  'DELETE FROM portal_sessions WHERE user_id = $1',
);

export async function deletePortalSessionsOf(tx: PeopleTx, userId: string): Promise<void> {
  await tx.run(DELETE_PORTAL_SESSIONS_OF, [userId]);
}

const LIST_PORTAL_SESSIONS = statement<StoredPortalSession>(
  'list_portal_sessions',
  `SELECT ${COLUMNS} FROM portal_sessions WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2`,
);

export async function listPortalSessions(tx: PeopleTx, userId: string, limit: number): Promise<StoredPortalSession[]> {
  return tx.run(LIST_PORTAL_SESSIONS, [userId, limit]);
}

const DROP_OLDEST_PORTAL_SESSIONS = statement<never>(
  'drop_oldest_portal_sessions',
  `DELETE FROM portal_sessions WHERE user_id = $1 AND id IN (
     SELECT id FROM portal_sessions WHERE user_id = $1 ORDER BY created_at DESC, id DESC OFFSET $2)`,
);

/** All but the newest of a user. */
export async function dropOldestPortalSessions(tx: PeopleTx, userId: string, kept: number): Promise<void> {
  await tx.run(DROP_OLDEST_PORTAL_SESSIONS, [userId, kept]);
}

const DELETE_DUE_PORTAL_SESSIONS = statement<{ id: string }>(
  'delete_due_portal_sessions',
  `DELETE FROM portal_sessions WHERE id IN (
     SELECT id FROM portal_sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);

export async function deleteDuePortalSessions(tx: PeopleTx, nowMs: number, limit: number): Promise<number> {
  return (await tx.run(DELETE_DUE_PORTAL_SESSIONS, [new Date(nowMs), limit])).length;
}
