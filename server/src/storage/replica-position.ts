import type pg from 'pg';
import type { Dialect } from './connection.js';
import { runStatement } from './connection.js';
import type { ReplicaFault } from './replica-health.js';
import { statement } from './statement.js';

/** Where the primary stood at one moment: whatever was committed before is in the log up to here. */
export interface ReplayPosition {
  readonly lsn: string;
  readonly timeline: number;
  readonly identity: string;
}

/** The server answers, but not as a replica that can be read from now. */
export class ReplicaUnfit extends Error {
  override readonly name = 'ReplicaUnfit';

  constructor(readonly reason: ReplicaFault) {
    super(`the replica cannot be read: ${reason}`);
  }
}

/** Same cluster, same database, and the login whose powers were looked at when the service started. */
const IDENTITY = `(SELECT system_identifier FROM pg_control_system()) || '/' ||
  (SELECT oid FROM pg_database WHERE datname = current_database()) || '/' || session_user`;

/** Which process on which server runs this, so that a pooler cannot lead a transaction to another one unnoticed. */
const PLACE = `pg_backend_pid() || '/' || pg_postmaster_start_time()`;

/**
 * A commit is flushed before it is acknowledged and before other transactions see it, so the flushed position includes
 * every acknowledged commit. The position of the next insert would be too far ahead: records of open transactions stay
 * unflushed, and unsent, for as long as they like. Only where commits are not flushed is it the one to ask for.
 *
 * The timeline comes from the name of the file being written: after a failover the control file still has the old one.
 */
const FIND_POSITION = statement<ReplayPosition>(
  'find_position',
  `SELECT (CASE current_setting('synchronous_commit')
             WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END)::text AS lsn,
          ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int AS timeline,
          ${IDENTITY} AS identity`,
);

/**
 * The replayed position is moved on after a record has been applied, and applying a commit makes it visible to the
 * snapshots taken from then on. On another timeline equal positions mean nothing. A replica that changed over learns of
 * the new timeline in its control file a little later; until then it is only thought to be behind.
 */
const CHECK_REPLAY = statement<{
  is_replica: boolean;
  is_caught_up: boolean;
  timeline: number;
  identity: string;
  place: string;
}>(
  'check_replay',
  `SELECT pg_is_in_recovery() AS is_replica, coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) AS is_caught_up,
          greatest((SELECT timeline_id FROM pg_control_checkpoint()),
                   (SELECT min_recovery_end_timeline FROM pg_control_recovery())) AS timeline,
          ${IDENTITY} AS identity, ${PLACE} AS place`,
);

export const FIND_PLACE = statement<{ place: string }>('find_place', `SELECT ${PLACE} AS place`);

export async function findPosition(primary: pg.ClientBase, dialect: Dialect): Promise<ReplayPosition> {
  const [found] = await runStatement(primary, FIND_POSITION, [], dialect);
  if (!found) throw new Error('assertion failed: the primary has no position');
  return found;
}

/** Says where it is if it has replayed up to the position, undefined if not yet. Throws if it never will. */
export async function checkReplay(
  replica: pg.ClientBase,
  position: ReplayPosition,
  dialect: Dialect,
): Promise<string | undefined> {
  const [found] = await runStatement(replica, CHECK_REPLAY, [position.lsn], dialect);
  if (!found?.is_replica) throw new ReplicaUnfit('promoted');
  if (found.identity !== position.identity) throw new ReplicaUnfit('other_server');
  if (found.timeline !== position.timeline) throw new ReplicaUnfit('other_timeline');
  return found.is_caught_up ? found.place : undefined;
}
