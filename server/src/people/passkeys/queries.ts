import type { PeopleTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

export interface PasskeyRow {
  readonly id: string;
  readonly user_id: string;
  readonly credential_id: string;
  readonly public_key: Buffer;
  readonly transports: readonly string[];
  readonly name: string;
  readonly is_synced: boolean;
  readonly mac: Buffer;
  readonly created_at: Date;
}

/** A passkey as it is stored, with what changes. */
export interface FoundPasskeyRow extends PasskeyRow {
  readonly counter: number;
  readonly used_at: Date | null;
}

const COLUMNS = 'id, user_id, credential_id, public_key, transports, name, is_synced, mac, created_at';
const FOUND_COLUMNS = `${COLUMNS}, counter::float8 AS counter, used_at`;

const INSERT_PASSKEY = statement<{ id: string }>(
  'insert_passkey',
  `INSERT INTO user_passkeys (${COLUMNS}, counter) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
   ON CONFLICT (credential_id) DO NOTHING RETURNING id`,
);

/** False where the passkey is stored already, whoever's it is. */
export async function insertPasskey(tx: PeopleTx, row: PasskeyRow, counter: number): Promise<boolean> {
  const { id, user_id, credential_id, public_key, transports, name, is_synced, mac, created_at } = row;
  const values = [id, user_id, credential_id, public_key, transports, name, is_synced, mac, created_at, counter];
  return (await tx.run(INSERT_PASSKEY, values)).length > 0;
}

const LIST_PASSKEYS = statement<FoundPasskeyRow>(
  'list_passkeys',
  `SELECT ${FOUND_COLUMNS} FROM user_passkeys WHERE user_id = $1 ORDER BY created_at, id LIMIT $2`,
);

export async function listPasskeys(tx: PeopleTx, userId: string, limit: number): Promise<FoundPasskeyRow[]> {
  return tx.run(LIST_PASSKEYS, [userId, limit]);
}

const FIND_PASSKEY = statement<FoundPasskeyRow>(
  'find_passkey',
  `SELECT ${FOUND_COLUMNS} FROM user_passkeys WHERE credential_id = $1`,
);

export async function findPasskey(tx: PeopleTx, credentialId: string): Promise<FoundPasskeyRow | undefined> {
  return (await tx.run(FIND_PASSKEY, [credentialId]))[0];
}

const USE_PASSKEY = statement<{ id: string }>(
  'use_passkey',
  `UPDATE user_passkeys SET counter = $2, used_at = $3
   WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0)) RETURNING id`,
);

/** False where the passkey is gone, or another sign-in has passed this count. */
export async function usePasskey(tx: PeopleTx, id: string, counter: number, atMs: number): Promise<boolean> {
  return (await tx.run(USE_PASSKEY, [id, counter, new Date(atMs)])).length > 0;
}

const DELETE_PASSKEY = statement<{ id: string }>(
  'delete_passkey',
  'DELETE FROM user_passkeys WHERE user_id = $1 AND id = $2 RETURNING id',
);

export async function deletePasskey(tx: PeopleTx, userId: string, id: string): Promise<boolean> {
  return (await tx.run(DELETE_PASSKEY, [userId, id])).length > 0;
}

export interface ChallengeRow {
  readonly hash: Buffer;
  readonly purpose: string;
  readonly user_id: string | null;
  readonly expires_at: Date;
  readonly mac: Buffer | null;
}

const INSERT_CHALLENGE = statement<never>(
  'insert_passkey_challenge',
  'INSERT INTO passkey_challenges (hash, purpose, user_id, expires_at, mac) VALUES ($1, $2, $3, $4, $5)',
);

export async function insertChallenge(tx: PeopleTx, row: ChallengeRow): Promise<void> {
  await tx.run(INSERT_CHALLENGE, [row.hash, row.purpose, row.user_id, row.expires_at, row.mac]);
}

const TAKE_CHALLENGE = statement<ChallengeRow>(
  'take_passkey_challenge',
  'DELETE FROM passkey_challenges WHERE hash = $1 RETURNING hash, purpose, user_id, expires_at, mac',
);

/** It is good once, whatever comes of it. */
export async function takeChallenge(tx: PeopleTx, hash: Buffer): Promise<ChallengeRow | undefined> {
  return (await tx.run(TAKE_CHALLENGE, [hash]))[0];
}

const DELETE_DUE_CHALLENGES = statement<{ hash: Buffer }>(
  'delete_due_passkey_challenges',
  `DELETE FROM passkey_challenges WHERE hash = ANY (ARRAY(
     SELECT hash FROM passkey_challenges WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))
   RETURNING hash`,
);

export async function deleteDueChallenges(tx: PeopleTx, nowMs: number, limit: number): Promise<number> {
  return (await tx.run(DELETE_DUE_CHALLENGES, [new Date(nowMs), limit])).length;
}

const DELETE_OLDEST_CHALLENGES = statement<{ hash: Buffer }>(
  'delete_oldest_passkey_challenges',
  `DELETE FROM passkey_challenges WHERE hash = ANY (ARRAY(
     SELECT hash FROM passkey_challenges ORDER BY expires_at DESC OFFSET $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
   RETURNING hash`,
);

/** All but the newest, so many at a time. */
export async function deleteOldestChallenges(tx: PeopleTx, kept: number, limit: number): Promise<number> {
  return (await tx.run(DELETE_OLDEST_CHALLENGES, [kept, limit])).length;
}

const COUNT_WAYS_IN = statement<{ count: number }>(
  'count_ways_in',
  `SELECT ((SELECT count(*) FROM user_passwords WHERE user_id = $1)
     + (SELECT count(*) FROM user_passkeys WHERE user_id = $1)
     + (SELECT count(*) FROM user_identities WHERE user_id = $1))::integer AS count`,
);

/** With how many things the user can sign in. The caller has locked the user. */
export async function countWaysIn(tx: PeopleTx, userId: string): Promise<number> {
  return (await tx.run(COUNT_WAYS_IN, [userId]))[0]?.count ?? 0;
}
