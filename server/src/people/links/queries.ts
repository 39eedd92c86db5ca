import type { PeopleTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

export interface StoredLink {
  readonly hash: Buffer;
  readonly user_id: string;
  readonly purpose: string;
  readonly mac: Buffer;
  readonly expires_at: Date;
  readonly created_at: Date;
}

const REPLACE_LINKS = statement<never>(
  'replace_user_links',
  'DELETE FROM user_links WHERE user_id = $1 AND purpose = $2',
);
const INSERT_LINK = statement<{ hash: Buffer }>(
  'insert_user_link',
  `INSERT INTO user_links (hash, user_id, purpose, mac, expires_at, created_at)
   SELECT $1, id, $3, $4, $5, $6 FROM users WHERE id = $2 RETURNING hash`,
);

/** In place of those of before: only the newest works. False where there is no such user. */
export async function replaceLink(tx: PeopleTx, link: StoredLink): Promise<boolean> {
  const { hash, user_id, purpose, mac, expires_at, created_at } = link;
  await tx.run(REPLACE_LINKS, [user_id, purpose]);
  return (await tx.run(INSERT_LINK, [hash, user_id, purpose, mac, expires_at, created_at])).length > 0;
}

const FIND_LINK = statement<StoredLink>(
  'find_user_link',
  'SELECT hash, user_id, purpose, mac, expires_at, created_at FROM user_links WHERE hash = $1',
);

export async function findLink(tx: PeopleTx, hash: Buffer): Promise<StoredLink | undefined> {
  return (await tx.run(FIND_LINK, [hash]))[0];
}

const TAKE_LINK = statement<{ user_id: string }>(
  'take_user_link',
  'DELETE FROM user_links WHERE hash = $1 RETURNING user_id',
);

/** It works once: of two at the same time one gets false. */
export async function takeLink(tx: PeopleTx, hash: Buffer): Promise<boolean> {
  return (await tx.run(TAKE_LINK, [hash])).length > 0;
}

const DELETE_LINKS_OF = statement<never>(
  'delete_user_links_of',
  'DELETE FROM user_links WHERE user_id = $1 AND purpose = ANY ($2::text[])',
);

export async function deleteLinksOf(tx: PeopleTx, userId: string, purposes: readonly string[]): Promise<void> {
  await tx.run(DELETE_LINKS_OF, [userId, purposes]);
}

const DELETE_ALL_LINKS_OF = statement<never>('delete_all_user_links_of', 'DELETE FROM user_links WHERE user_id = $1');

/** Of every purpose. */
export async function deleteAllLinksOf(tx: PeopleTx, userId: string): Promise<void> {
  await tx.run(DELETE_ALL_LINKS_OF, [userId]);
}

const DELETE_DUE_LINKS = statement<{ hash: Buffer }>(
  'delete_due_user_links',
  `DELETE FROM user_links WHERE hash = ANY (ARRAY(
     SELECT hash FROM user_links WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))
   RETURNING hash`,
);

export async function deleteDueLinks(tx: PeopleTx, nowMs: number, limit: number): Promise<number> {
  return (await tx.run(DELETE_DUE_LINKS, [new Date(nowMs), limit])).length;
}
