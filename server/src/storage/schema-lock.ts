import type pg from 'pg';
import { EXIT, ExitError } from '../kernel/exit.js';
import { DEFAULT_TIME_BOUNDS } from './connection.js';
import { sqlStateOf } from './faults.js';

/** Held by the process that changes the schema. */
export const MIGRATION_LOCK_NAME = 'strongroom.migrate';
/** A migration may take long and waits for another process's; the bound is only against a dead server. */
export const MIGRATION_BOUNDS = { ...DEFAULT_TIME_BOUNDS, statementMs: 3_600_000 };

/**
 * A backup reads every table for as long as it takes, and a change of the schema needs tables exclusively: while it
 * waits for one, all later requests wait behind it. So the two do not wait for each other: the second one is refused
 * before it touches a table. Any number of backups share the lock, a change of the schema holds it exclusively; it ends
 * with the connection.
 */
const NAME = 'strongroom.backup';

export async function holdSchema(client: pg.ClientBase): Promise<void> {
  if (await isTaken(client, 'pg_advisory_lock_shared')) return;
  throw new ExitError(
    EXIT.unavailable,
    'The schema is being changed just now, by strongroom migrate or a start. Run the command again when that has ended.',
  );
}

export async function takeSchema(client: pg.ClientBase): Promise<void> {
  if (await isTaken(client, 'pg_advisory_lock')) return;
  throw new ExitError(
    EXIT.unavailable,
    'A backup of this database is being taken, and a change of the schema would make everybody wait for its end. Nothing was changed. Run strongroom migrate when the backup has ended.',
  );
}

async function isTaken(client: pg.ClientBase, how: 'pg_advisory_lock' | 'pg_advisory_lock_shared'): Promise<boolean> {
  // A moment, for a connection that has just ended, or whose process was killed: its locks go a little later.
  await client.query(`BEGIN; SET LOCAL lock_timeout = '2s'`);
  try {
    await client.query(`SELECT ${how}(hashtext($1))`, [NAME]);
    await client.query('COMMIT');
    return true;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    if (sqlStateOf(error) !== '55P03') throw error;
    return false;
  }
}
