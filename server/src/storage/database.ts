import type pg from 'pg';
import type { Clock } from '../kernel/clock.js';
import { storageUnavailable } from '../kernel/errors.js';
import type { Bulk } from './bulk.js';
import { createGather } from './bulk.js';
import type { ConnectionTarget, TimeBounds } from './connection.js';
import { createPool, DEFAULT_TIME_BOUNDS, openScope, runStatement } from './connection.js';
import { DriverFault, isAftermath, outcomeUnknown, sqlStateOf, translateDriverFault } from './faults.js';
import type { Member, Work } from './group-commit.js';
import { createGroupCommit, MemberFailure } from './group-commit.js';
import type { PurgeTx, RetentionTx, Role, SystemTx, TenantTx, Tx } from './scope.js';
import { createSharedReads } from './shared-reads.js';

export interface DatabaseOptions {
  readonly target: ConnectionTarget;
  readonly clock: Clock;
  readonly bounds?: TimeBounds;
}

export interface Database {
  /** Reads rows of one tenant. One flight to the server for what `work` asks at once. */
  read<T>(tenantId: string, work: (tx: TenantTx) => Promise<T>): Promise<T>;
  /** Looks for one row of one tenant; looks that arrive together share a statement. The answer serves all of them. */
  find<Row, Result, Answer>(tenantId: string, bulk: Bulk<Row, Result, Answer>, row: Row): Promise<Answer>;
  /** Changes rows of one tenant, durable when it resolves. `work` may run more than once and shares its transaction. */
  write<T>(tenantId: string, work: Work<T>): Promise<T>;
  /** Looks at identities across tenants, and changes nothing. */
  lookUp<T>(work: (tx: SystemTx) => Promise<T>): Promise<T>;
  /** Changes what belongs to the installation as a whole. */
  system<T>(work: (tx: SystemTx) => Promise<T>): Promise<T>;
  /** Removes what a deleted tenant left behind. */
  purge<T>(tenantId: string, work: (tx: PurgeTx) => Promise<T>): Promise<T>;
  /** Drops what is past its retention. */
  retain<T>(work: (tx: RetentionTx) => Promise<T>): Promise<T>;
  /** Waits for the changes under way, then closes every connection. */
  close(): Promise<void>;
  readonly writesPending: () => number;
}

const READ_CONNECTIONS_MAX = 8;
const SHARED_READS = { flightsMax: 2, rowsMax: 128 };
const WRITE_LANES = 2;
const BATCH_MAX = 128;
const QUEUE_MAX = 10_000;
const QUEUE_WAIT_MAX_MS = 5_000;

interface Scope {
  readonly role: Role;
  readonly tenants: readonly string[];
  readonly isReadOnly: boolean;
}

export function createDatabase(options: DatabaseOptions): Database {
  const bounds = options.bounds ?? DEFAULT_TIME_BOUNDS;
  const readers = createPool(options.target, bounds, READ_CONNECTIONS_MAX);
  const writers = createPool(options.target, bounds, WRITE_LANES);

  async function inTransaction<T>(
    pool: pg.Pool,
    scope: Scope,
    work: (run: Tx['run']) => Promise<T>,
    isDurable: boolean,
  ): Promise<T> {
    // Whatever the reason, a connection that cannot be had means the store is out of reach.
    const client = await pool.connect().catch((error: unknown) => {
      throw storageUnavailable(new DriverFault(error));
    });
    let result: T;
    const opened = openScope(client, scope, bounds);
    try {
      result = await work((statement, values) => runStatement(client, statement, values));
      await opened;
    } catch (error) {
      await rollBack(client);
      // The scope could not be entered: that is the reason, and what the statements say is only its aftermath.
      if (isAftermath(error)) await opened;
      throw error;
    }
    if (isDurable) await commit(client);
    else void commit(client).catch(() => {});
    return result;
  }

  async function runBatch(members: readonly Member[], lane: number): Promise<unknown[]> {
    const tenants = [...new Set(members.map((member) => member.tenantId))];
    const scope: Scope = { role: 'strongroom_app', tenants, isReadOnly: false };
    return inTransaction(
      writers,
      scope,
      async (run) => {
        const gather = createGather(run);
        const outcomes = await Promise.allSettled(
          members.map(({ tenantId, work }) => work({ kind: 'tenant', tenantId, lane, run, gather })),
        );
        const index = outcomes.findIndex((outcome) => outcome.status === 'rejected' && !isAftermath(outcome.reason));
        return outcomes.map((outcome) => {
          if (outcome.status === 'fulfilled') return outcome.value;
          const culprit = outcomes[index];
          throw new MemberFailure(index, culprit?.status === 'rejected' ? culprit.reason : outcome.reason);
        });
      },
      true,
    );
  }

  const groupCommit = createGroupCommit({
    runBatch,
    clock: options.clock,
    lanes: WRITE_LANES,
    batchMax: BATCH_MAX,
    queueMax: QUEUE_MAX,
    waitMaxMs: QUEUE_WAIT_MAX_MS,
  });

  const sharedReads = createSharedReads(
    (tenants, bulk, rows) =>
      inTransaction(
        readers,
        { role: 'strongroom_app', tenants, isReadOnly: true },
        async (run) => bulk.collect(await run(bulk.statement, bulk.values(rows)), rows),
        false,
      ),
    SHARED_READS,
  );

  return {
    read: (tenantId, work) =>
      inTransaction(
        readers,
        { role: 'strongroom_app', tenants: [tenantId], isReadOnly: true },
        (run) => work({ kind: 'tenant', tenantId, lane: 0, run, gather: createGather(run) }),
        false,
      ),
    find: sharedReads.find,
    write: (tenantId, work) => groupCommit.submit(tenantId, work),
    lookUp: (work) =>
      inTransaction(
        readers,
        { role: 'strongroom_system', tenants: [], isReadOnly: true },
        (run) => work({ kind: 'system', run }),
        false,
      ),
    system: (work) =>
      inTransaction(
        readers,
        { role: 'strongroom_system', tenants: [], isReadOnly: false },
        (run) => work({ kind: 'system', run }),
        true,
      ),
    purge: (tenantId, work) =>
      inTransaction(
        readers,
        { role: 'strongroom_purge', tenants: [tenantId], isReadOnly: false },
        (run) => work({ kind: 'purge', tenantId, run }),
        true,
      ),
    retain: (work) =>
      inTransaction(
        readers,
        { role: 'strongroom_purge', tenants: [], isReadOnly: false },
        (run) => work({ kind: 'retention', run }),
        true,
      ),
    async close() {
      await groupCommit.drain();
      await Promise.all([readers.end(), writers.end()]);
    },
    writesPending: groupCommit.depth,
  };
}

async function commit(client: pg.PoolClient): Promise<void> {
  let done: pg.QueryResult;
  try {
    done = await client.query('COMMIT');
  } catch (error) {
    client.release(true);
    throw mayHaveCommitted(error) ? outcomeUnknown(error) : translateDriverFault(error);
  }
  client.release();
  // The server answers a COMMIT of a failed transaction with ROLLBACK, and that is not an error.
  if (done.command !== 'COMMIT') throw new Error(`transaction ended with ${done.command}`);
}

/** Silence means nobody knows, and so does a server that goes down: it may have flushed the commit before it said so. */
function mayHaveCommitted(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === undefined || state.startsWith('57P') || state.startsWith('08');
}

async function rollBack(client: pg.PoolClient): Promise<void> {
  try {
    await client.query('ROLLBACK');
    client.release();
  } catch {
    // The connection is gone and the transaction with it.
    client.release(true);
  }
}
