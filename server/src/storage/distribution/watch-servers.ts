import type { Clock } from '../../kernel/clock.js';
import type { ConnectionTarget, Dialect, Scope } from '../connection.js';
import type { Servers } from '../pool.js';
import { ConnectionPool } from '../pool.js';
import type { Tx } from '../scope.js';
import type { Statement } from '../statement.js';
import { statement } from '../statement.js';
import { Transactions } from '../transactions.js';
import type { ServerVisit } from './server-watch.js';
import { ServerWatch, someServerSilent } from './server-watch.js';

/** A server that needs longer for one row by its key is of no use to anybody. */
const READ_ANSWER_MAX_MS = 1_000;
/** A disk may well be busy for a second. */
const WRITE_ANSWER_MAX_MS = 2_000;
const READ_BOUNDS = { acquireMs: 1_000, statementMs: READ_ANSWER_MAX_MS, lockMs: 1_000 };
/**
 * A COMMIT that hangs cannot be called back, nor can the coordinator's process that waits for it be ended: each that is given up
 * takes a connection there until the server answers. So it is left alone, and this is only against a coordinator that is lost.
 */
const WRITE_BOUNDS = { acquireMs: 1_000, statementMs: 3_600_000, lockMs: 1_000 };
/** One to ask a server, one to ask where a tenant is. */
const READ_CONNECTIONS = 2;
/** A probe that hangs keeps its connection, and those of other servers must not wait for it. */
const WRITE_CONNECTIONS_MAX = 64;
const LOOKS: Scope = { role: 'strongroom_system', tenants: [], isReadOnly: true };

const FIND_SERVER = statement<{ server: string }>(
  'find_server_of_tenant',
  `SELECT format('%s:%s', n.nodename, n.nodeport) AS server
   FROM pg_dist_placement p JOIN pg_dist_node n ON n.groupid = p.groupid
   WHERE p.shardid = get_shard_id_for_distribution_column('public.tenants'::regclass, $1::uuid) LIMIT 1`,
);

/**
 * Of every server an id whose rows would be there. Ids are many, for a server may have few of the shards; in which shard each of
 * them is costs far more to find out than all else, so it is asked once.
 */
const FIND_ID_OF_EACH_SERVER = statement<{ id: string }>(
  'find_id_of_each_server',
  `WITH given AS MATERIALIZED (SELECT gen_random_uuid() AS id FROM generate_series(1, 2000)),
   placed AS MATERIALIZED (
     SELECT id, get_shard_id_for_distribution_column('public.tenants'::regclass, id) AS shard FROM given),
   one AS MATERIALIZED (SELECT DISTINCT ON (shard) id, shard FROM placed)
   SELECT DISTINCT ON (p.groupid) one.id FROM one JOIN pg_dist_placement p ON p.shardid = one.shard`,
);

/** Somebody who holds a table is not a server that does not answer. As text, so that it reaches the server. */
const LIMIT_LOCKS = statement<never>('limit_locks_of_probe', `SET LOCAL lock_timeout TO '500ms'`);
const PROBE_READS = statement<{ id: string }>('probe_reads_of_tenant', 'SELECT id FROM tenants WHERE id = $1');
/**
 * Whether or not there is such a tenant, the server writes a word into its log, which nobody reads: the COMMIT behind it waits for
 * the disk, and for a standby where one has to answer.
 */
const PROBE_WRITES = statement<{ found: string }>(
  'probe_writes_of_tenant',
  `SELECT count(*) AS found, pg_logical_emit_message(true, 'strongroom', 'probe')::text AS place FROM tenants WHERE id = $1`,
);

/** Which servers can be read from, and which can be written to: one that cannot commit may well be read. */
export interface WatchedServers {
  readonly reads: ServerWatch;
  readonly writes: ServerWatch;
  /** Servers that do not answer one or the other. */
  downCount(): number;
  /** Rejects with 503 unless every server has just committed something. */
  confirmAll(): Promise<void>;
  close(): Promise<void>;
}

/** By connections of its own: those of requests may all be held by a server that does not answer. */
export function watchServers(
  target: ConnectionTarget,
  servers: Servers,
  clock: Clock,
  dialect: Dialect,
): WatchedServers {
  const readers = new ConnectionPool(target, READ_BOUNDS, READ_CONNECTIONS, servers);
  const writers = new ConnectionPool(target, WRITE_BOUNDS, WRITE_CONNECTIONS_MAX, servers);
  const reading = new Transactions(READ_BOUNDS, dialect);
  const hanging = new Hanging();
  const writing = new Transactions(WRITE_BOUNDS, dialect, { reads: hanging, writes: hanging });
  const findServer = async (tenantId: string): Promise<string | undefined> =>
    (await reading.ask(readers, LOOKS, FIND_SERVER, [tenantId]))[0]?.server;
  const reads = new ServerWatch({
    clock,
    findServer,
    probe: (tenantId) => reading.run(readers, LOOKS, asking(PROBE_READS, tenantId), { isDurable: false }),
    answerMaxMs: READ_ANSWER_MAX_MS,
  });
  const writes = new ServerWatch({
    clock,
    findServer,
    probe: (tenantId) => {
      const scope: Scope = { role: 'strongroom_app', tenants: [tenantId], isReadOnly: false };
      return writing.run(writers, scope, asking(PROBE_WRITES, tenantId), { isDurable: true });
    },
    answerMaxMs: WRITE_ANSWER_MAX_MS,
  });
  return {
    reads,
    writes,
    downCount: () => Math.max(reads.downCount(), writes.downCount()),
    async confirmAll() {
      if (reads.downCount() > 0) throw someServerSilent();
      for (const { id } of await reading.ask(readers, LOOKS, FIND_ID_OF_EACH_SERVER, [])) await writes.confirm(id);
    },
    async close() {
      reads.close();
      writes.close();
      hanging.giveUp();
      await Promise.all([readers.end(), writers.end()]);
    },
  };
}

function asking(probe: Statement<unknown>, tenantId: string): (run: Tx['run']) => Promise<unknown> {
  return async (run) => {
    await run(LIMIT_LOCKS, []);
    return run(probe, [tenantId]);
  };
}

/** Probes under way: when the process ends, nobody waits for them. */
class Hanging {
  readonly #waiting = new Set<() => void>();

  async enter(): Promise<ServerVisit> {
    let stop = (): void => {};
    return {
      onSilence: (giveUp) => {
        stop = giveUp;
        this.#waiting.add(stop);
      },
      leave: () => void this.#waiting.delete(stop),
    };
  }

  giveUp(): void {
    for (const stop of [...this.#waiting]) stop();
  }
}
