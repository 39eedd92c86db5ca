import type pg from 'pg';
import { assert } from '../kernel/assert.js';
import type { Clock } from '../kernel/clock.js';
import { storageUnavailable } from '../kernel/errors.js';
import type { Bulk } from './bulk.js';
import { createGather } from './bulk.js';
import type { ConnectionTarget, TimeBounds } from './connection.js';
import { DEFAULT_TIME_BOUNDS, openScope, runStatement } from './connection.js';
import {
  answerIn,
  DriverFault,
  isAftermath,
  isHostLost,
  isNameLost,
  isPlainError,
  mayBeOneCallers,
  outcomeUnknown,
  sqlStateOf,
  translateDriverFault,
} from './faults.js';
import type { Member, Work } from './group-commit.js';
import { createGroupCommit, MemberFailure, reasonOf } from './group-commit.js';
import type { ConnectionPool } from './pool.js';
import { createPool, serversOf } from './pool.js';
import { createReadTurns } from './read-turns.js';
import type { ReadOn, ReplicaFigures, ReplicaTarget } from './replica.js';
import { createReplicaReads } from './replica.js';
import type { PurgeTx, RetentionTx, Role, SystemTx, TenantTx, Tx } from './scope.js';
import { createSharedReads } from './shared-reads.js';
import { Unwritten } from './unwritten.js';

export interface DatabaseOptions {
  readonly target: ConnectionTarget;
  readonly clock: Clock;
  readonly bounds?: TimeBounds;
  readonly connections?: ConnectionBounds;
  /** False where a proxy cannot keep prepared statements: they then have no names. */
  readonly isPrepared?: boolean;
  /** Added to the number of each lane, so that the writers of several processes differ too. */
  readonly laneBase?: number;
  readonly replica?: ReplicaTarget | undefined;
}

/** Connections of one process at most; each of those that write commits a batch at a time. */
export interface ConnectionBounds {
  readonly readMax: number;
  readonly writeMax: number;
}

export interface Database {
  /**
   * Reads a few rows of one tenant by their keys. One flight to the server for what `work` asks at once. One tenant has two or
   * so of these under way at most.
   */
  read<T>(tenantId: string, work: (tx: TenantTx) => Promise<T>): Promise<T>;
  /**
   * The same for what may take long: pages, searches, reports. One tenant has a few of these under way at most and waits
   * for its turn with the next, so that the others and every read by key find a connection.
   */
  readPage<T>(tenantId: string, work: (tx: TenantTx) => Promise<T>): Promise<T>;
  /** As `readPage` for `work` that asks for everything before it waits for anything: all of it takes a single flight. */
  readAtOnce<T>(tenantId: string, work: (tx: TenantTx) => Promise<T>): Promise<T>;
  /** As `readPage`, answered by the read replica where there is one that has all the caller may have written. */
  readReplicated<T>(tenantId: string, work: (tx: TenantTx) => Promise<T>): Promise<T>;
  /** Looks for one row of one tenant; looks that arrive together share a statement. The answer serves all of them. */
  find<Row, Result, Answer>(tenantId: string, bulk: Bulk<Row, Result, Answer>, row: Row): Promise<Answer>;
  /** Changes rows of one tenant, durable when it resolves. `work` may run more than once and shares its transaction. */
  write<T>(tenantId: string, work: Work<T>): Promise<T>;
  /** Looks at identities across tenants, and changes nothing. */
  lookUp<T>(work: (tx: SystemTx) => Promise<T>): Promise<T>;
  /** The same for a name that anybody may have made up, such as an API key: all of these hold some connections at most. */
  identify<T>(work: (tx: SystemTx) => Promise<T>): Promise<T>;
  /** Changes what belongs to the installation as a whole. */
  system<T>(work: (tx: SystemTx) => Promise<T>): Promise<T>;
  /** Removes what a deleted tenant left behind. */
  purge<T>(tenantId: string, work: (tx: PurgeTx) => Promise<T>): Promise<T>;
  /** Drops what is past its retention. */
  retain<T>(work: (tx: RetentionTx) => Promise<T>): Promise<T>;
  /** Waits for the changes under way, then closes every connection. */
  close(): Promise<void>;
  readonly writesPending: () => number;
  /** Undefined without a replica. */
  readonly replicaFigures: () => ReplicaFigures | undefined;
}

const DEFAULT_CONNECTIONS: ConnectionBounds = { readMax: 8, writeMax: 2 };
const SHARED_READS = { flightsMax: 2, rowsMax: 128 };
/** More in one transaction hardly cost less each, and their answers hold up everybody else: refusals took half as long again. */
const BATCH_MAX = 64;
const QUEUE_MAX = 10_000;
const QUEUE_OF_TENANT_MAX = QUEUE_MAX / 4;
const QUEUE_WAIT_MAX_MS = 5_000;

interface Scope {
  readonly role: Role;
  readonly tenants: readonly string[];
  readonly isReadOnly: boolean;
}

export function createDatabase(options: DatabaseOptions): Database {
  const bounds = options.bounds ?? DEFAULT_TIME_BOUNDS;
  const { connections = DEFAULT_CONNECTIONS, isPrepared = true, laneBase = 0 } = options;
  const servers = serversOf(options.target, bounds);
  const readers = createPool(options.target, bounds, connections.readMax, servers);
  const writers = createPool(options.target, bounds, connections.writeMax, servers);

  async function inTransaction<T>(
    pool: ConnectionPool,
    scope: Scope,
    work: (run: Tx['run']) => Promise<T>,
    isDurable: boolean,
    prepare?: (client: pg.ClientBase) => Promise<void>,
  ): Promise<T> {
    const client = await connectTo(pool);
    await prepare?.(client).catch((error: unknown) => {
      client.release(true);
      throw error;
    });
    let result: T;
    const opened = openScope(client, scope, bounds, isPrepared);
    try {
      result = await work((statement, values) => runStatement(client, statement, values, isPrepared));
      await opened;
    } catch (error) {
      const failure = await failureOf(error, opened);
      const isLost = isHostLost(reasonOf(failure));
      if (isLost) pool.doubt(client);
      await rollBack(client, isLost || isNameLost(reasonOf(failure)));
      throw failure;
    }
    const committed = commit(client, () => pool.doubt(client));
    if (isDurable) await committed;
    else void committed.catch(() => {});
    return result;
  }

  /** What is asked before anything is waited for travels with its COMMIT, in a single flight. */
  async function lookAtOnce<T>(scope: Scope, work: (run: Tx['run']) => Promise<T>): Promise<T> {
    const client = await connectTo(readers);
    const opened = openScope(client, scope, bounds, isPrepared);
    let isAsking = true;
    const ask: Tx['run'] = (statement, values) => {
      assert(isAsking, 'everything is asked for at once');
      return runStatement(client, statement, values, isPrepared);
    };
    // What it throws is a rejection as well: the connection has to be given back below.
    const found = (async () => work(ask))();
    isAsking = false;
    // Nothing was changed, so nobody has to know how it ended; it gives the connection back.
    commit(client, () => readers.doubt(client), found).catch(() => {});
    try {
      const result = await found;
      await opened;
      return result;
    } catch (error) {
      const failure = await failureOf(error, opened);
      if (isHostLost(failure)) readers.doubt(client);
      throw failure;
    }
  }

  async function runBatch(members: readonly Member[], laneNumber: number): Promise<unknown[]> {
    const tenants = [...new Set(members.map((member) => member.tenantId))];
    const scope: Scope = { role: 'strongroom_app', tenants, isReadOnly: false };
    const lane = laneBase + laneNumber;
    return inTransaction(
      writers,
      scope,
      async (run) => {
        const gather = createGather(run);
        const outcomes = await Promise.allSettled(
          members.map(({ tenantId, work }) => work({ kind: 'tenant', tenantId, lane, run, gather })),
        );
        return outcomes.map((outcome) => {
          if (outcome.status === 'fulfilled') return outcome.value;
          if (outcome.reason instanceof Unwritten) return outcome.reason;
          throw failureIn(outcomes, outcome.reason);
        });
      },
      true,
    );
  }

  const groupCommit = createGroupCommit({
    runBatch,
    clock: options.clock,
    lanes: connections.writeMax,
    batchMax: BATCH_MAX,
    queueMax: QUEUE_MAX,
    queueOfTenantMax: QUEUE_OF_TENANT_MAX,
    waitMaxMs: QUEUE_WAIT_MAX_MS,
  });

  const sharedReads = createSharedReads(async (tenants, bulk, rows) => {
    const scope: Scope = { role: 'strongroom_app', tenants, isReadOnly: true };
    return bulk.collect(await lookAtOnce(scope, (run) => run(bulk.statement, bulk.values(rows))), rows);
  }, SHARED_READS);

  const turns = createReadTurns({
    clock: options.clock,
    readMax: connections.readMax,
    sparedForShared: SHARED_READS.flightsMax,
  });

  const readOn: ReadOn = (pool, tenantId, work, prepare) =>
    inTransaction(
      pool,
      { role: 'strongroom_app', tenants: [tenantId], isReadOnly: true },
      (run) => work({ kind: 'tenant', tenantId, lane: 0, run, gather: createGather(run) }),
      false,
      prepare,
    );
  const replica =
    options.replica &&
    createReplicaReads({
      replica: options.replica,
      primary: readers,
      isPrepared,
      bounds,
      clock: options.clock,
      readOn,
    });

  const lookUp: Database['lookUp'] = (work) =>
    inTransaction(
      readers,
      { role: 'strongroom_system', tenants: [], isReadOnly: true },
      (run) => work({ kind: 'system', run }),
      false,
    );

  return {
    read: (tenantId, work) => turns.byKey.run(tenantId, () => readOn(readers, tenantId, work)),
    readPage: (tenantId, work) => turns.pages.run(tenantId, () => readOn(readers, tenantId, work)),
    readAtOnce: (tenantId, work) =>
      turns.pages.run(tenantId, () =>
        lookAtOnce({ role: 'strongroom_app', tenants: [tenantId], isReadOnly: true }, (run) =>
          work({ kind: 'tenant', tenantId, lane: 0, run, gather: createGather(run) }),
        ),
      ),
    readReplicated: (tenantId, work) =>
      turns.pages.run(tenantId, () => (replica ? replica.read(tenantId, work) : readOn(readers, tenantId, work))),
    find: sharedReads.find,
    write: (tenantId, work) => groupCommit.submit(tenantId, work),
    lookUp,
    identify: (work) => turns.identities.run('', () => lookUp(work)),
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
      await replica?.close();
      await Promise.all([readers.end(), writers.end()]);
    },
    writesPending: groupCommit.depth,
    replicaFigures: () => replica?.figures(),
  };
}

/** Which member is to blame; where several failed by one statement that they share, nobody knows. */
function failureIn(outcomes: readonly PromiseSettledResult<unknown>[], otherwise: unknown): unknown {
  const isToBlame = (reason: unknown) => !isAftermath(reason) && !(reason instanceof Unwritten);
  const index = outcomes.findIndex((outcome) => outcome.status === 'rejected' && isToBlame(outcome.reason));
  const culprit = outcomes[index];
  if (culprit?.status !== 'rejected') return new MemberFailure(index, otherwise);
  const answer = answerIn(culprit.reason);
  const isShared = outcomes.some(
    (outcome, n) => n !== index && outcome.status === 'rejected' && answerIn(outcome.reason) === answer,
  );
  return isShared && mayBeOneCallers(culprit.reason) ? culprit.reason : new MemberFailure(index, culprit.reason);
}

/** A constraint or a conflict, found before a commit is written. */
const UNDONE = /^(23|40)/;

/** Whatever the reason, a connection that cannot be had means the store is out of reach. */
function connectTo(pool: ConnectionPool): Promise<pg.PoolClient> {
  return pool.connect().catch((error: unknown) => {
    throw storageUnavailable(new DriverFault(error));
  });
}

/** Where the scope could not be entered that is the reason, and what the statements say is only its aftermath. */
function failureOf(error: unknown, opened: Promise<unknown>): Promise<unknown> {
  if (!isAftermath(reasonOf(error))) return Promise.resolve(error);
  return opened.then(
    () => error,
    (reason: unknown) => reason,
  );
}

/** `asked` is what the transaction was for, where the COMMIT was sent before it was known how that ends. */
async function commit(client: pg.PoolClient, onLost: () => void, asked?: Promise<unknown>): Promise<void> {
  let done: pg.QueryResult;
  try {
    done = await client.query('COMMIT');
  } catch (error) {
    const isUnknown = mayHaveCommitted(error);
    if (isUnknown) onLost();
    client.release(true);
    throw isUnknown ? outcomeUnknown(error) : translateDriverFault(error);
  }
  // The server answers a COMMIT of a failed transaction with ROLLBACK, and that is not an error.
  const isCommitted = done.command === 'COMMIT';
  // What failed may be the connection's doing, such as a name it does not know. What is wrong with the statement is not.
  const isWellAsItIs = isCommitted || (asked !== undefined && (await isRefusedStatement(asked)));
  client.release(!isWellAsItIs);
  if (!isCommitted) throw new Error(`transaction ended with ${done.command}`);
}

async function isRefusedStatement(asked: Promise<unknown>): Promise<boolean> {
  try {
    await asked;
    return false;
  } catch (error) {
    return sqlStateOf(error) !== undefined && mayBeOneCallers(error);
  }
}

/**
 * Silence means nobody knows, and so does a server that goes down, for whatever reason: it may have written the commit
 * before it said so. Only what is no worse than an error undid the transaction first.
 */
function mayHaveCommitted(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === undefined || state.startsWith('57P') || state.startsWith('08')) return true;
  return !isPlainError(error) && !UNDONE.test(state);
}

async function rollBack(client: pg.PoolClient, isLost: boolean): Promise<void> {
  try {
    await client.query('ROLLBACK');
    client.release(isLost);
  } catch {
    // The connection is gone and the transaction with it.
    client.release(true);
  }
}
