import type pg from 'pg';
import { DEFAULT_TIME_BOUNDS } from '../connection.js';

export const WORKING_ROLES = ['strongroom_app', 'strongroom_system', 'strongroom_purge', 'strongroom_people'];

/** What bounds sessions of the working roles on the servers that have the rows, as the scope of a transaction does here. */
export const WORKING_ROLE_SETTINGS = {
  statement_timeout: String(DEFAULT_TIME_BOUNDS.statementMs),
  lock_timeout: String(DEFAULT_TIME_BOUNDS.lockMs),
  idle_in_transaction_session_timeout: String(DEFAULT_TIME_BOUNDS.statementMs * 2),
  enable_sort: 'off',
  jit: 'off',
} as const;

/**
 * The coordinator signs in to the other servers in the name of the working roles, and Citus tells them of both. Nobody else may
 * sign in as them, which is for pg_hba.conf to say.
 */
export async function openRoles(client: pg.ClientBase): Promise<void> {
  for (const role of WORKING_ROLES) {
    await client.query(`ALTER ROLE ${role} LOGIN`);
    for (const [name, value] of Object.entries(WORKING_ROLE_SETTINGS)) {
      await client.query(`ALTER ROLE ${role} SET ${name} TO '${value}'`);
    }
  }
}

/** What is left for an operator to do, to be pasted. */
export const AFTER_DISTRIBUTION = [
  'Left to do, once, on the servers themselves (docs/scaling.md has the whole list):',
  `  pg_hba.conf of the coordinator, before other lines:  host all ${WORKING_ROLES.join(',')} all reject`,
  `                                                       local all ${WORKING_ROLES.join(',')} reject`,
  `  pg_hba.conf of each worker, for the coordinator alone:  host all ${WORKING_ROLES.join(',')} <coordinator>/32 trust`,
  '    (or with passwords in pg_dist_authinfo and scram-sha-256 in place of trust)',
  'Then run strongroom doctor, which names whatever is missing, and start the service again.',
];
