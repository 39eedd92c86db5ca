import type { PeopleTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

const SEE_DEVICE = statement<{ user_id: string }>(
  'see_user_device',
  'UPDATE user_devices SET seen_at = $3 WHERE user_id = $1 AND hash = $2 RETURNING user_id',
);

/** False where the user was never seen with it. */
export async function seeDevice(tx: PeopleTx, userId: string, hash: Buffer, atMs: number): Promise<boolean> {
  return (await tx.run(SEE_DEVICE, [userId, hash, new Date(atMs)])).length > 0;
}

const INSERT_DEVICE = statement<never>(
  'insert_user_device',
  `INSERT INTO user_devices (user_id, hash, seen_at) VALUES ($1, $2, $3)
   ON CONFLICT (user_id, hash) DO UPDATE SET seen_at = EXCLUDED.seen_at`,
);

export async function insertDevice(tx: PeopleTx, userId: string, hash: Buffer, atMs: number): Promise<void> {
  await tx.run(INSERT_DEVICE, [userId, hash, new Date(atMs)]);
}

const DROP_OLDEST_DEVICES = statement<never>(
  'drop_oldest_user_devices',
  `DELETE FROM user_devices WHERE user_id = $1 AND hash = ANY (ARRAY(
     SELECT hash FROM user_devices WHERE user_id = $1 ORDER BY seen_at DESC OFFSET $2))`,
);

/** All but those of a user that were seen last. */
export async function dropOldestDevices(tx: PeopleTx, userId: string, kept: number): Promise<void> {
  await tx.run(DROP_OLDEST_DEVICES, [userId, kept]);
}

const DELETE_DUE_DEVICES = statement<{ hash: Buffer }>(
  'delete_due_user_devices',
  `DELETE FROM user_devices WHERE (user_id, hash) IN (
     SELECT user_id, hash FROM user_devices WHERE seen_at <= $1 ORDER BY seen_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING hash`,
);

export async function deleteDueDevices(tx: PeopleTx, forgottenMs: number, limit: number): Promise<number> {
  return (await tx.run(DELETE_DUE_DEVICES, [new Date(forgottenMs), limit])).length;
}
