import { assert } from '../kernel/assert.js';
import type { Clock } from '../kernel/clock.js';
import type { BatchGather, Bulk, Gather } from './bulk.js';
import { askedPartsOf, createBatchGather, createGather } from './bulk.js';
import type { ConnectionTarget, Dialect, Scope, TimeBounds } from './connection.js';
import { DEFAULT_TIME_BOUNDS } from './connection.js';
import type { ServerWatch } from './distribution/server-watch.js';
import { someServerSilent } from './distribution/server-watch.js';
import { watchServers } from './distribution/watch-servers.js';
import { answerIn, isAftermath, mayBeOneCallers } from './faults.js';
import type { Member, Work } from './group-commit.js';
import { GroupCommit, MemberFailure } from './group-commit.js';
import { ConnectionPool, serversOf } from './pool.js';
import { createReadTurns } from './read-turns.js';
import type { ReadOn, ReplicaFigures, ReplicaTarget } from './replica.js';
import { ReplicaReads } from './replica.js';
import type { PeopleTx, PurgeTx, RetentionTx, SystemTx, TenantTx, Tx } from './scope.js';
import type { SharedReadsOptions } from './shared-reads.js';
import { createSharedReads } from './shared-reads.js';
import { statement } from './statement.js';
import type { Transaction } from './transactions.js';
import { Transactions } from './transactions.js';
import { Unwritten } from './unwritten.js';

export interface DatabaseOptions {
  readonly target: ConnectionTarget;
  readonly clock: Clock;
  readonly bounds?: TimeBounds;
  readonly connections?: ConnectionBounds;
  /** False where a proxy cannot keep prepared statements: they then have no names. */
  readonly isPrepared?: boolean;
  /** Citus has spread the tables over servers. */
  readonly isDistributed?: boolean | undefined;
  /** A batch has changes of one tenant alone. Always so on a distributed database. */
  readonly isByTenant?: boolean | undefined;
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
   * Reads a few rows of one tenant by their keys. One round trip to the server for what `work` asks at once. One tenant has two or
   * so of these under way at most.
   */
  read<T>(tenantId: string, work: (tx: TenantTx) => Promise<T>): Promise<T>;
  /**
   * The same for what may take long: pages, searches, reports. One tenant has a few of these under way at most and waits
   * for its turn with the next, so that the others and every read by key find a connection.
   */
  readPage<T>(tenantId: string, work: (tx: TenantTx) => Promise<T>): Promise<T>;
  /** As `readPage` for `work` that asks for everything before it waits for anything: all of it takes a single round trip. */
  readAtOnce<T>(tenantId: string, work: (tx: TenantTx) => Promise<T>): Promise<T>;
  /** As `readPage`, answered by the read replica where there is one that has all the caller may have written. */
  readReplicated<T>(tenantId: string, work: (tx: TenantTx) => Promise<T>): Promise<T>;
  /** Looks for one row of one tenant; looks that arrive together share a statement. The answer serves all of them. */
  find<Row, Result, Answer>(tenantId: string, bulk: Bulk<Row, Result, Answer>, row: Row): Promise<Answer>;
  /** Changes rows of one tenant, durable when it resolves. `work` may run more than once and shares its transaction. */
  write<T>(tenantId: string, work: Work<T>): Promise<T>;
  /**
   * As `write` for `work` that asks for everything before it waits for anything, and does nothing with the answers: all of it
   * and the COMMIT take a single round trip.
   */
  append(tenantId: string, work: Work<void>): Promise<void>;
  /** Looks at identities across tenants, and changes nothing. */
  lookUp<T>(work: (tx: SystemTx) => Promise<T>): Promise<T>;
  /**
   * The same for background work that asks who has something to do: all of it together holds a few connections. On a distributed
   * database every server has a say, so it is refused at once while one of them does not answer.
   */
  survey<T>(work: (tx: SystemTx) => Promise<T>): Promise<T>;
  /**
   * The same for an unverified name, such as an API key that may be invented: all of these together hold a bounded
   * number of connections.
   */
  readCredential<T>(work: (tx: SystemTx) => Promise<T>): Promise<T>;
  /** Changes what belongs to the installation as a whole. */
  system<T>(work: (tx: SystemTx) => Promise<T>): Promise<T>;
  /** Looks at users, and changes nothing. All of these together hold a bounded number of connections: anybody may ask. */
  readPeople<T>(work: (tx: PeopleTx) => Promise<T>): Promise<T>;
  /** Changes users or what they sign in with. Bounded alike. */
  people<T>(work: (tx: PeopleTx) => Promise<T>): Promise<T>;
  /** Removes what a deleted tenant left behind. */
  purge<T>(tenantId: string, work: (tx: PurgeTx) => Promise<T>): Promise<T>;
  /**
   * Before what locks a table on every server of a distributed database at once: one of them that cannot commit would keep the
   * lock, and everybody would wait for it. Rejects with 503 unless all of them have just committed something.
   */
  confirmServers(): Promise<void>;
  /** Drops what is past its retention. */
  retain<T>(work: (tx: RetentionTx) => Promise<T>): Promise<T>;
  /** Waits for the changes under way, then closes every connection. */
  close(): Promise<void>;
  readonly writesPending: () => number;
  /** Servers of a distributed database that are known not to answer. */
  readonly silentServers: () => number;
  /** Undefined without a replica. */
  readonly replicaFigures: () => ReplicaFigures | undefined;
}

const DEFAULT_CONNECTIONS: ConnectionBounds = { readMax: 8, writeMax: 2 };
const SHARED_READS = { roundTripsMax: 2, rowsMax: 128 };
/**
 * Larger batches hardly cost less per change, and their answers block the event loop: with 128, refusals took half as
 * long again.
 */
const BATCH_MAX = 64;
const QUEUE_MAX = 10_000;
const QUEUE_OF_TENANT_MAX = QUEUE_MAX / 4;
const QUEUE_WAIT_MAX_MS = 5_000;

const APP = { role: 'strongroom_app', isReadOnly: true } as const;
const LOOK_UP: Scope = { role: 'strongroom_system', tenants: [], isReadOnly: true };
const SYSTEM: Scope = { role: 'strongroom_system', tenants: [], isReadOnly: false };
const LOOK_AT_PEOPLE: Scope = { role: 'strongroom_people', tenants: [], isReadOnly: true };
const PEOPLE: Scope = { role: 'strongroom_people', tenants: [], isReadOnly: false };
const RETENTION: Scope = { role: 'strongroom_purge', tenants: [], isReadOnly: false };
const DURABLE = { isDurable: true };
const PASSING = { isDurable: false };

const FIND_DELETED = statement<{ id: string }>(
  'find_deleted_tenant',
  'SELECT id FROM tenants WHERE id = $1 AND deleted_at IS NOT NULL',
);

function tenantTx(tenantId: string, run: Tx['run'], lane: number, gather: Gather): TenantTx {
  return { kind: 'tenant', tenantId, lane, run, gather };
}

function readingTx({ isDistributed }: Dialect, tenantId: string, run: Tx['run']): TenantTx {
  return tenantTx(tenantId, run, 0, createGather(run, isDistributed ? tenantId : undefined));
}

export function createDatabase(options: DatabaseOptions): Database {
  const bounds = options.bounds ?? DEFAULT_TIME_BOUNDS;
  const { clock, connections = DEFAULT_CONNECTIONS, isPrepared = true, isDistributed = false, laneBase = 0 } = options;
  const { isByTenant = isDistributed } = options;
  const dialect: Dialect = { isPrepared, isDistributed };
  const servers = serversOf(options.target, bounds);
  const readers = new ConnectionPool(options.target, bounds, connections.readMax, servers);
  const writers = new ConnectionPool(options.target, bounds, connections.writeMax, servers);
  const watched = isDistributed ? watchServers(options.target, servers, clock, dialect) : undefined;
  const transactions = new Transactions(bounds, dialect, watched);
  const groupCommit = new GroupCommit({
    runBatch: (members, lane) => runBatch(transactions, writers, members, { lane: laneBase + lane, isDistributed }),
    clock,
    lanes: connections.writeMax,
    batchMax: BATCH_MAX,
    queueMax: QUEUE_MAX,
    queueOfTenantMax: QUEUE_OF_TENANT_MAX,
    waitMaxMs: QUEUE_WAIT_MAX_MS,
    isByTenant,
  });
  const sharing = sharingOf(connections, isDistributed);
  const sharedReads = createSharedReads(async (tenants, bulk, rows) => {
    const [part] = askedPartsOf(bulk, rows, isDistributed ? tenants[0] : undefined);
    assert(part !== undefined, 'a shared read is one statement');
    return bulk.collect(await transactions.ask(readers, sharedScope(tenants), part.statement, part.values), rows);
  }, sharing);
  const readOn: ReadOn = (pool, tenantId, work, prepare) =>
    transactions.run(pool, { ...APP, tenants: [tenantId] }, (run) => work(readingTx(dialect, tenantId, run)), {
      isDurable: false,
      prepare,
    });
  const { replica: target } = options;
  const replica = target && new ReplicaReads({ replica: target, primary: readers, dialect, bounds, clock, readOn });
  return {
    ...readsOf({ transactions, readers, readOn, replica, dialect, watch: watched?.reads }, options),
    ...changesOf(transactions, readers, isDistributed),
    find: sharedReads.find,
    write: groupCommit.submit,
    append: groupCommit.submitAtOnce,
    async close() {
      await groupCommit.drain();
      await replica?.close();
      await Promise.all([readers.end(), writers.end(), watched?.close()]);
    },
    confirmServers: async () => watched?.confirmAll(),
    writesPending: () => groupCommit.depth(),
    silentServers: () => watched?.downCount() ?? 0,
    replicaFigures: () => replica?.figures(),
  };
}

/** Every statement that is shared looks for rows by a key. */
function sharedScope(tenants: readonly string[]): Scope {
  return { role: APP.role, tenants, isReadOnly: true, isPlannedOnce: true };
}

type Reads = Pick<
  Database,
  | ('read' | 'readPage' | 'readAtOnce' | 'readReplicated' | 'lookUp' | 'survey')
  | ('readCredential' | 'readPeople' | 'people')
>;

interface ReadParts {
  readonly transactions: Transactions;
  readonly readers: ConnectionPool;
  readonly readOn: ReadOn;
  readonly replica: ReplicaReads | undefined;
  readonly dialect: Dialect;
  readonly watch: ServerWatch | undefined;
}

/** Where a statement is for one tenant alone it takes more of them at a time. */
function sharingOf({ readMax }: ConnectionBounds, isDistributed: boolean): SharedReadsOptions {
  if (!isDistributed) return SHARED_READS;
  return { ...SHARED_READS, roundTripsMax: Math.max(1, Math.floor(readMax / 2)), isByTenant: true };
}

/** Everything that only looks. Tenants take turns at the connections, by what they are wanted for. */
function readsOf(
  { transactions, readers, readOn, replica, dialect, watch }: ReadParts,
  { clock, connections = DEFAULT_CONNECTIONS, bounds }: DatabaseOptions,
): Reads {
  const { roundTripsMax } = sharingOf(connections, dialect.isDistributed);
  const turns = createReadTurns({
    clock,
    readMax: connections.readMax,
    sparedForShared: roundTripsMax,
    waitMaxMs: bounds?.turnMs,
  });
  const lookUp: Database['lookUp'] = (work) =>
    transactions.run(readers, LOOK_UP, (run, reach) => work({ kind: 'system', run, ...(reach && { reach }) }), PASSING);
  return {
    read: (tenantId, work) => turns.byKey.run(tenantId, () => readOn(readers, tenantId, work)),
    readPage: (tenantId, work) => turns.pages.run(tenantId, () => readOn(readers, tenantId, work)),
    readAtOnce: (tenantId, work) =>
      turns.pages.run(tenantId, () =>
        transactions.runAtOnce(readers, { ...APP, tenants: [tenantId] }, (run) =>
          work(readingTx(dialect, tenantId, run)),
        ),
      ),
    readReplicated: (tenantId, work) =>
      turns.pages.run(tenantId, () => (replica ? replica.read(tenantId, work) : readOn(readers, tenantId, work))),
    lookUp,
    survey: (work) => {
      if (!watch) return lookUp(work);
      if (watch.downCount() > 0) return Promise.reject(someServerSilent());
      return turns.surveys.run('', () => lookUp(work));
    },
    readCredential: (work) => turns.identities.run('', () => lookUp(work)),
    readPeople: (work) =>
      turns.people.run('', () => transactions.run(readers, LOOK_AT_PEOPLE, asPeople(work), PASSING)),
    people: (work) => turns.people.run('', () => transactions.run(readers, PEOPLE, asPeople(work), DURABLE)),
  };
}

function asPeople<T>(work: (tx: PeopleTx) => Promise<T>): (run: Tx['run']) => Promise<T> {
  return (run) => work({ kind: 'people', run });
}

/** Changes that are rare and go alone, not in a batch. */
function changesOf(
  transactions: Transactions,
  pool: ConnectionPool,
  isDistributed: boolean,
): Pick<Database, 'system' | 'purge' | 'retain'> {
  /** A tenant that was deleted stays so. The policies of other databases look for themselves. */
  async function doomedOf(tenantId: string): Promise<readonly string[]> {
    if (!isDistributed) return [];
    return (await transactions.ask(pool, LOOK_UP, FIND_DELETED, [tenantId])).map(({ id }) => id);
  }
  return {
    system: (work) => transactions.run(pool, SYSTEM, (run) => work({ kind: 'system', run }), DURABLE),
    async purge(tenantId, work) {
      const doomed = await doomedOf(tenantId);
      const scope: Scope = { role: 'strongroom_purge', tenants: [tenantId], isReadOnly: false, doomed };
      return transactions.run(pool, scope, (run) => work({ kind: 'purge', tenantId, run }), DURABLE);
    },
    retain: (work) => transactions.run(pool, RETENTION, (run) => work({ kind: 'retention', run }), DURABLE),
  };
}

/** The changes of several callers in one transaction. */
async function runBatch(
  transactions: Transactions,
  writers: ConnectionPool,
  members: readonly Member[],
  { lane, isDistributed }: { readonly lane: number; readonly isDistributed: boolean },
): Promise<unknown[]> {
  const tenants = [...new Set(members.map((member) => member.tenantId))];
  const isAtOnce = members.every((member) => member.isAtOnce);
  // What is asked for at once is only written.
  const scope: Scope = { role: APP.role, tenants, isReadOnly: false, isPlannedOnce: isAtOnce };
  const transaction = await transactions.begin(writers, scope);
  let hasFailed = false;
  const noteFailure = (): void => {
    hasFailed = true;
  };
  const { gather, sendLast } = createBatchGather(transaction.run, noteFailure, isDistributed ? tenants[0] : undefined);
  const running: Promise<unknown>[] = [];
  for (const { tenantId, work } of members) running.push(work(tenantTx(tenantId, transaction.run, lane, gather)));
  const done = Promise.allSettled(running).then(valuesIn);
  if (isAtOnce) {
    for (const each of running) each.catch(noteFailure);
    done.catch(() => {});
    // Behind what `gather` sends, in the same write, and behind whatever failed before it could be sent.
    const values = await inNextTick(() => (hasFailed ? undefined : commitBehind(transaction, sendLast, done)));
    if (values) return values;
  }
  let values: unknown[];
  try {
    values = await done;
    await transaction.opened;
  } catch (error) {
    throw await transaction.undo(error);
  }
  return commitBehind(transaction, sendLast, values);
}

/** What comes last and the COMMIT, in one write. Where a row of it cannot be encoded nothing is committed. */
async function commitBehind(
  transaction: Transaction,
  sendLast: BatchGather['sendLast'],
  done: unknown[] | Promise<unknown[]>,
): Promise<unknown[]> {
  let last: Promise<unknown> | undefined;
  try {
    last = sendLast();
  } catch (error) {
    throw await transaction.undo(error);
  }
  if (last === undefined && Array.isArray(done)) {
    await transaction.commit();
    return done;
  }
  return transaction.commitAtOnce(allOf(done, last));
}

/** The failure of a member, if there is one: what comes last then only fails in its wake. */
async function allOf(done: unknown[] | Promise<unknown[]>, last: Promise<unknown> | undefined): Promise<unknown[]> {
  last?.catch(() => {});
  const values = await done;
  await last;
  return values;
}

function inNextTick<T>(go: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve) => process.nextTick(() => resolve(go())));
}

function valuesIn(outcomes: readonly PromiseSettledResult<unknown>[]): unknown[] {
  return outcomes.map((outcome) => {
    if (outcome.status === 'fulfilled') return outcome.value;
    if (outcome.reason instanceof Unwritten) return outcome.reason;
    throw failureIn(outcomes, outcome.reason);
  });
}

/** Which member caused the failure; unknown where several failed by one shared statement. */
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
