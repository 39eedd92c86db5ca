import pg from 'pg';
import type { ConnectionTarget } from '../connection.js';
import { DEFAULT_TIME_BOUNDS, endpointsOf } from '../connection.js';
import { connectToFitting } from '../host-choice.js';
import { FUNCTIONS_OF_A_TENANT } from './distribute.js';
import { WORKING_ROLE_SETTINGS, WORKING_ROLES } from './working-roles.js';

/** What an operator wants to know about a cluster. Each fault says what to do about it. */
export interface ClusterFacts {
  readonly servers: number;
  readonly faults: readonly string[];
}

/** Looks as the login of the service, and changes nothing. */
export async function examineCluster(target: ConnectionTarget): Promise<ClusterFacts> {
  const endpoints = endpointsOf(target);
  const { client, host } = await connectToFitting(endpoints, DEFAULT_TIME_BOUNDS);
  try {
    const servers = await client.query<{ count: number }>(
      'SELECT count(DISTINCT (nodename, nodeport))::int AS count FROM pg_dist_node WHERE shouldhaveshards',
    );
    const { rows } = await client.query<{ fault: string }>(FIND_FAULTS, [
      WORKING_ROLES,
      SETTINGS,
      FUNCTIONS_OF_A_TENANT,
    ]);
    const faults = rows.map(({ fault }) => fault);
    for (const role of WORKING_ROLES) {
      faults.push(...(await unreachableFault(client, role)));
      faults.push(...(await openDoorFault({ ...endpoints.configFor(host, DEFAULT_TIME_BOUNDS), user: role })));
    }
    return { servers: servers.rows[0]?.count ?? 0, faults };
  } finally {
    await client.end().catch(() => {});
  }
}

const AGAIN = 'Run strongroom migrate --distribute citus again.';
const SETTINGS = Object.entries(WORKING_ROLE_SETTINGS).map(([name, value]) => `${name}=${value}`);

/** All of it from catalogues that every login may read. */
const FIND_FAULTS = `
  SELECT format('The server %s:%s is not active in the cluster. As a superuser run: SELECT citus_activate_node(%L, %s).',
                nodename, nodeport, nodename, nodeport) AS fault
  FROM pg_dist_node WHERE NOT isactive
  UNION ALL
  SELECT format('The role %s may not sign in, so the coordinator cannot work on other servers in its name. ${AGAIN}', rolname)
  FROM pg_roles WHERE rolname = ANY ($1) AND NOT rolcanlogin
  UNION ALL
  SELECT format('The role %s lacks the setting %s. ${AGAIN}', r.rolname, wanted.setting)
  FROM pg_roles r CROSS JOIN unnest($2::text[]) AS wanted (setting)
  WHERE r.rolname = ANY ($1) AND NOT coalesce(wanted.setting = ANY (r.rolconfig), false)
  UNION ALL
  SELECT format('The function %s does not travel to the server that has a tenant. ${AGAIN}', p.proname)
  FROM pg_proc p LEFT JOIN pg_catalog.pg_dist_object o ON o.classid = 'pg_proc'::regclass AND o.objid = p.oid
  WHERE p.pronamespace = 'public'::regnamespace AND p.proname = ANY ($3) AND o.force_delegation IS NOT TRUE
  UNION ALL
  SELECT 'Changes on several servers need max_prepared_transactions, which is 0. Set it to 200 on every server and restart them.'
  WHERE current_setting('max_prepared_transactions')::int = 0`;

/** Asks every server for something, in the name of a role. */
async function unreachableFault(client: pg.ClientBase, role: string): Promise<string[]> {
  try {
    await client.query('BEGIN READ ONLY; SET LOCAL statement_timeout TO 5000');
    await client.query(`SELECT set_config('role', $1, true)`, [role]);
    await client.query('SELECT count(id) FROM tenants WHERE deleted_at IS NOT NULL');
    await client.query('COMMIT');
    return [];
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    const reason = (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
    return [
      `Not every server of the cluster answers ${role} (${reason}). Tenants on the others are served. Check that it runs, and that ` +
        'its pg_hba.conf lets the coordinator in as the working roles.',
    ];
  }
}

/** Whoever could sign in as a working role here would choose the tenants it sees. */
async function openDoorFault(config: pg.ClientConfig): Promise<string[]> {
  const client = new pg.Client(config);
  client.on('error', () => {});
  try {
    await client.connect();
  } catch {
    return [];
  } finally {
    await client.end().catch(() => {});
  }
  return [
    `Anybody who reaches the coordinator may sign in as ${config.user}. Put this before the other lines of its pg_hba.conf: ` +
      `host all ${WORKING_ROLES.join(',')} all reject (and the same with local in place of host and without the address).`,
  ];
}
