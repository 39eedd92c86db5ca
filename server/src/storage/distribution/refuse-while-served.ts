import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { EXIT, ExitError } from '../../kernel/exit.js';

/**
 * Sessions of logins that may act as a working role; an operator's own, who may do anything, is none of the service. The owner
 * sees of others only who they are and where.
 */
const COUNT_SESSIONS = `
  SELECT count(*)::int AS sessions FROM pg_stat_activity a JOIN pg_roles r ON r.oid = a.usesysid
  WHERE a.datname = current_database() AND a.usename <> current_user
    AND NOT r.rolsuper AND pg_has_role(r.oid, 'strongroom_app', 'MEMBER')`;
/** A process that has just ended leaves its sessions for a moment. */
const LOOKS = 20;
const LOOK_MS = 100;

/**
 * A process that began on one server keeps asking as one does there: on servers that its scope does not reach it would find
 * nothing, and say that tokens are not there.
 */
export async function refuseWhileServed(client: pg.ClientBase): Promise<void> {
  for (let look = 1; ; look += 1) {
    const sessions = await countSessions(client);
    if (sessions === 0) return;
    if (look === LOOKS) throw stillServed(sessions);
    await wait(LOOK_MS);
  }
}

export async function countSessions(client: pg.ClientBase): Promise<number> {
  // The first migration makes the roles.
  const { rows: roles } = await client.query(`SELECT FROM pg_roles WHERE rolname = 'strongroom_app'`);
  if (roles.length === 0) return 0;
  const { rows } = await client.query<{ sessions: number }>(COUNT_SESSIONS);
  return rows[0]?.sessions ?? 0;
}

function stillServed(sessions: number): ExitError {
  return new ExitError(
    EXIT.unavailable,
    `The database is in use by ${sessions} ${sessions === 1 ? 'session' : 'sessions'} of the service. Stop every process ` +
      'of strongroom, and a pooler that keeps connections for them, and run the same command again. No table was distributed.',
  );
}
