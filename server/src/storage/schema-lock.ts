import type pg from 'pg';
import { EXIT, ExitError } from '../kernel/exit.js';

/**
 * A backup reads every table for as long as it takes, and a change of the schema wants tables for itself: whoever waits for
 * that makes everybody wait who comes after. So the two never wait for each other: whoever comes second is refused, before
 * it touches a table. Any number of backups hold the lock together, whoever changes the schema holds it alone; it ends
 * with the connection.
 */
const NAME = 'strongroom.backup';

export async function holdSchema(client: pg.ClientBase): Promise<void> {
  if (await isTaken(client, 'pg_try_advisory_lock_shared')) return;
  throw new ExitError(
    EXIT.unavailable,
    'The schema is being changed just now, by strongroom migrate or a start. Run the command again when that has ended.',
  );
}

export async function takeSchema(client: pg.ClientBase): Promise<void> {
  if (await isTaken(client, 'pg_try_advisory_lock')) return;
  throw new ExitError(
    EXIT.unavailable,
    'A backup of this database is being taken, and a change of the schema would make everybody wait for its end. Nothing was changed. Run strongroom migrate when the backup has ended.',
  );
}

async function isTaken(client: pg.ClientBase, how: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared') {
  const { rows } = await client.query<{ is_taken: boolean }>(`SELECT ${how}(hashtext($1)) AS is_taken`, [NAME]);
  return rows[0]?.is_taken === true;
}
