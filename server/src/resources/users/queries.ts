import type { SystemTx, TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

const INSERT_USER = statement<never>('insert_user', 'INSERT INTO users (id, created_at) VALUES ($1, $2)');

export async function insertUser(tx: TenantTx, id: string, atMs: number): Promise<void> {
  await tx.run(INSERT_USER, [id, new Date(atMs)]);
}

const FIND_USER_BY_ID = statement<{ id: string }>('find_user_by_id', 'SELECT id FROM users WHERE id = $1');

export async function isUser(tx: SystemTx, id: string): Promise<boolean> {
  return (await tx.run(FIND_USER_BY_ID, [id])).length > 0;
}

const FIND_ANY_USER = statement<{ id: string }>('find_any_user', 'SELECT id FROM users LIMIT 1');

/** The first start makes the first user, so a database without one is new. */
export async function hasAnyUser(tx: SystemTx): Promise<boolean> {
  return (await tx.run(FIND_ANY_USER, [])).length > 0;
}
