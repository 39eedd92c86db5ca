import type { PeopleTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

export interface IdentityRow {
  readonly id: string;
  readonly user_id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly mac: Buffer;
  readonly created_at: Date;
  readonly used_at: Date | null;
}

const COLUMNS = 'id, user_id, issuer, subject, mac, created_at, used_at';

const INSERT_IDENTITY = statement<{ id: string }>(
  'insert_identity',
  `INSERT INTO user_identities (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (issuer, subject) DO NOTHING RETURNING id`,
);

/** False where it is linked already, to whomever. */
export async function insertIdentity(tx: PeopleTx, row: IdentityRow): Promise<boolean> {
  const { id, user_id, issuer, subject, mac, created_at, used_at } = row;
  return (await tx.run(INSERT_IDENTITY, [id, user_id, issuer, subject, mac, created_at, used_at])).length > 0;
}

const FIND_IDENTITY = statement<IdentityRow>(
  'find_identity',
  `SELECT ${COLUMNS} FROM user_identities WHERE issuer = $1 AND subject = $2`,
);

export async function findIdentity(tx: PeopleTx, issuer: string, subject: string): Promise<IdentityRow | undefined> {
  return (await tx.run(FIND_IDENTITY, [issuer, subject]))[0];
}

const LIST_IDENTITIES = statement<IdentityRow>(
  'list_identities',
  `SELECT ${COLUMNS} FROM user_identities WHERE user_id = $1 ORDER BY created_at, id LIMIT $2`,
);

export async function listIdentities(tx: PeopleTx, userId: string, limit: number): Promise<IdentityRow[]> {
  return tx.run(LIST_IDENTITIES, [userId, limit]);
}

const USE_IDENTITY = statement<{ id: string }>(
  'use_identity',
  'UPDATE user_identities SET used_at = $2 WHERE id = $1 RETURNING id',
);

/** False where it was taken away meanwhile. */
export async function useIdentity(tx: PeopleTx, id: string, atMs: number): Promise<boolean> {
  return (await tx.run(USE_IDENTITY, [id, new Date(atMs)])).length > 0;
}

const DELETE_IDENTITY = statement<{ issuer: string }>(
  'delete_identity',
  'DELETE FROM user_identities WHERE user_id = $1 AND id = $2 RETURNING issuer',
);

/** Whose word it was; undefined where there is no such identity. */
export async function deleteIdentity(tx: PeopleTx, userId: string, id: string): Promise<string | undefined> {
  return (await tx.run(DELETE_IDENTITY, [userId, id]))[0]?.issuer;
}
