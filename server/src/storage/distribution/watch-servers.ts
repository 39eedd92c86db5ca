import type { Clock } from '../../kernel/clock.js';
import type { ConnectionTarget, Dialect, Scope } from '../connection.js';
import type { Servers } from '../pool.js';
import { ConnectionPool } from '../pool.js';
import { statement } from '../statement.js';
import { Transactions } from '../transactions.js';
import { ServerWatch } from './server-watch.js';

/** A server that needs longer for one row by its key is of no use to anybody. */
const PROBE_BOUNDS = { acquireMs: 1_000, statementMs: 1_000, lockMs: 1_000 };
/** One to ask a server, one to ask where a tenant is. */
const CONNECTIONS = 2;
const SCOPE: Scope = { role: 'strongroom_system', tenants: [], isReadOnly: true };

const FIND_SERVER = statement<{ server: string }>(
  'find_server_of_tenant',
  `SELECT format('%s:%s', n.nodename, n.nodeport) AS server
   FROM pg_dist_placement p JOIN pg_dist_node n ON n.groupid = p.groupid
   WHERE p.shardid = get_shard_id_for_distribution_column('public.tenants'::regclass, $1::uuid) LIMIT 1`,
);

const PROBE = statement<{ id: string }>('probe_server_of_tenant', 'SELECT id FROM tenants WHERE id = $1');

export interface WatchedServers {
  readonly watch: ServerWatch;
  close(): Promise<void>;
}

/** By connections of its own: those of requests may all be held by a server that does not answer. */
export function watchServers(
  target: ConnectionTarget,
  servers: Servers,
  clock: Clock,
  dialect: Dialect,
): WatchedServers {
  const pool = new ConnectionPool(target, PROBE_BOUNDS, CONNECTIONS, servers);
  const transactions = new Transactions(PROBE_BOUNDS, dialect);
  const watch = new ServerWatch({
    clock,
    findServer: async (tenantId) => (await transactions.ask(pool, SCOPE, FIND_SERVER, [tenantId]))[0]?.server,
    probe: (tenantId) => transactions.ask(pool, SCOPE, PROBE, [tenantId]),
  });
  return {
    watch,
    async close() {
      watch.close();
      await pool.end();
    },
  };
}
