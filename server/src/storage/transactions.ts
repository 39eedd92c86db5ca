import type pg from 'pg';
import { assert } from '../kernel/assert.js';
import { storageUnavailable } from '../kernel/errors.js';
import type { Dialect, Scope, TimeBounds } from './connection.js';
import { breakConnection, openScope, runStatement } from './connection.js';
import type { ServerVisit } from './distribution/server-watch.js';
import {
  DriverFault,
  isAftermath,
  isHostLost,
  isNameLost,
  isOutcomeUnknown,
  isPlainError,
  mayBeOneCallers,
  outcomeUnknown,
  sqlStateOf,
  translateDriverFault,
} from './faults.js';
import { reasonOf } from './group-commit.js';
import type { ConnectionPool } from './pool.js';
import type { Tx } from './scope.js';
import { distributedScope } from './scope.js';
import type { Statement, Value } from './statement.js';

export interface TransactionOptions {
  /** Whether the caller waits for the COMMIT. */
  readonly isDurable: boolean;
  /** Runs on the connection before the transaction begins. */
  readonly prepare?: ((client: pg.ClientBase) => Promise<void>) | undefined;
}

/** Whom work for a tenant is announced to. */
export interface TenantWatch {
  /** Rejects with 503 where the server that has the tenant is known not to answer. */
  enter(tenantId: string): Promise<ServerVisit>;
}

/** Of a distributed database: whether the server that has a tenant answers what only looks, and whether it commits. */
export interface TenantWatches {
  readonly reads: TenantWatch;
  readonly writes: TenantWatch;
}

/** Transactions on the connections of a pool: each opens its scope, does its work, ends, and gives its connection back. */
export class Transactions {
  readonly #bounds: TimeBounds;
  readonly #dialect: Dialect;
  readonly #watches: TenantWatches | undefined;

  constructor(bounds: TimeBounds, dialect: Dialect, watches?: TenantWatches) {
    this.#bounds = bounds;
    this.#dialect = dialect;
    this.#watches = watches;
  }

  async run<T>(
    pool: ConnectionPool,
    scope: Scope,
    work: (run: Tx['run'], reach: Reach | undefined) => Promise<T>,
    { isDurable, prepare }: TransactionOptions,
  ): Promise<T> {
    const transaction = await this.begin(pool, scope, prepare);
    let result: T;
    try {
      result = await work(transaction.run, transaction.reach);
      await transaction.opened;
    } catch (error) {
      throw await transaction.undo(error);
    }
    const committed = transaction.commit();
    if (isDurable) await committed;
    else void committed.catch(() => {});
    return result;
  }

  /** Whoever begins one has to await `opened` after its own statements, and then to commit or undo it. */
  async begin(pool: ConnectionPool, scope: Scope, prepare?: TransactionOptions['prepare']): Promise<Transaction> {
    const visit = this.#watches && (await this.#enter(scope));
    const client = await (visit ? connectFor(pool, visit) : connectTo(pool));
    await prepare?.(client).catch((error: unknown) => {
      visit?.leave(error);
      client.release(true);
      throw error;
    });
    const opened = openScope(client, scope, this.#bounds, this.#dialect);
    return new Transaction(pool, client, opened, { dialect: this.#dialect, watch: this.#watchOf(scope), visit });
  }

  /** Statements sent before the first wait travel with the COMMIT, in a single round trip. */
  async runAtOnce<T>(pool: ConnectionPool, scope: Scope, work: (run: Tx['run']) => Promise<T>): Promise<T> {
    const visit = this.#watches && (await this.#enter(scope));
    const client = await (visit ? connectFor(pool, visit) : connectTo(pool));
    const opened = openScope(client, scope, this.#bounds, this.#dialect);
    let isAsking = true;
    const ask: Tx['run'] = (statement, values) => {
      assert(isAsking, 'everything is asked for at once');
      return runStatement(client, statement, values, this.#dialect);
    };
    // An exception becomes a rejection as well: the connection has to be given back.
    const found = (async () => work(ask))();
    isAsking = false;
    const ended = endAtOnce(pool, client, opened, found);
    return visit ? leaving(visit, ended) : ended;
  }

  /** One statement in a transaction of its own, in a single round trip. */
  async ask<Row>(
    pool: ConnectionPool,
    scope: Scope,
    statement: Statement<Row>,
    values: readonly Value[],
  ): Promise<Row[]> {
    const visit = this.#watches && (await this.#enter(scope));
    const client = await (visit ? connectFor(pool, visit) : connectTo(pool));
    const opened = openScope(client, scope, this.#bounds, this.#dialect);
    const ended = endAtOnce(pool, client, opened, runStatement(client, statement, values, this.#dialect));
    return visit ? leaving(visit, ended) : ended;
  }

  /** What looks across tenants may be answered by every server. */
  async #enter(scope: Scope): Promise<ServerVisit | undefined> {
    const { tenants, doomed = [] } = scope;
    // Before there is a connection that would have to be given back.
    distributedScope(tenants, doomed);
    const [tenantId] = tenants;
    return tenantId === undefined ? undefined : this.#watchOf(scope)?.enter(tenantId);
  }

  #watchOf({ isReadOnly }: Scope): TenantWatch | undefined {
    return isReadOnly ? this.#watches?.reads : this.#watches?.writes;
  }
}

/** Before rows of a tenant are looked at. Rejects with 503 where its server is known not to answer. */
export type Reach = (tenantId: string) => Promise<void>;

interface Watched {
  readonly dialect: Dialect;
  readonly watch: TenantWatch | undefined;
  readonly visit: ServerVisit | undefined;
}

/** A transaction under way, with the connection it has to itself. */
export class Transaction {
  /** A field, because one is made for each transaction; see decision 54. */
  readonly run: Tx['run'] = (statement, values) => {
    assert(!this.#isEnded, 'everything is asked for at once');
    return runStatement(this.#client, statement, values, this.#dialect);
  };
  /** For work that finds out on its way which tenant it is about; of a distributed database. */
  readonly reach: Reach | undefined;
  /** When the scope has been entered. */
  readonly opened: Promise<unknown>;
  readonly #pool: ConnectionPool;
  readonly #client: pg.PoolClient;
  readonly #dialect: Dialect;
  #visit: ServerVisit | undefined;
  /** The COMMIT is on its way, and the connection is the next one's. */
  #isEnded = false;

  constructor(
    pool: ConnectionPool,
    client: pg.PoolClient,
    opened: Promise<unknown>,
    { dialect, watch, visit }: Watched,
  ) {
    this.#pool = pool;
    this.#client = client;
    this.#dialect = dialect;
    this.#visit = visit;
    this.reach =
      watch &&
      (async (tenantId) => {
        this.#visit = await watch.enter(tenantId);
        this.#visit.onSilence(() => breakConnection(client));
      });
    this.opened = opened;
  }

  commit(): Promise<void> {
    const committed = commit(this.#client, this.#ending());
    return this.#visit ? leaving(this.#visit, committed) : committed;
  }

  /** The COMMIT goes out behind the statements, before it is known how these end. Where one fails nothing is left of them. */
  async commitAtOnce<T>(found: Promise<T>): Promise<T> {
    this.#isEnded = true;
    const ending = this.#ending();
    const committed = commit(this.#client, ending, found);
    const ended = committed.then(
      () => undefined,
      (error: unknown) => error,
    );
    try {
      const result = await found;
      await this.opened;
      await committed;
      this.#visit?.leave();
      return result;
    } catch (error) {
      const end = await ended;
      this.#visit?.leave(isOutcomeUnknown(end) ? end : error);
      // Then the answers to the statements were lost as well, and that says nothing about what became of them.
      if (isOutcomeUnknown(end)) throw end;
      const failure = await failureOf(error, this.opened);
      if (isHostLost(reasonOf(failure))) ending.onLost();
      throw failure;
    }
  }

  #ending(): Ending {
    const { isDistributed } = this.#dialect;
    return { onLost: () => this.#pool.doubt(this.#client), isAnyErrorDoubtful: isDistributed };
  }

  /** Resolves with the reason of the failure, when nothing is left of it. */
  async undo(error: unknown): Promise<unknown> {
    const failure = await failureOf(error, this.opened);
    const isLost = isHostLost(reasonOf(failure));
    if (isLost) this.#pool.doubt(this.#client);
    await rollBack(this.#client, isLost || isNameLost(reasonOf(failure)));
    this.#visit?.leave(reasonOf(failure));
    return failure;
  }
}

/** A connection for a visit: it is broken once the server is known not to answer. */
async function connectFor(pool: ConnectionPool, visit: ServerVisit): Promise<pg.PoolClient> {
  try {
    const client = await connectTo(pool);
    visit.onSilence(() => breakConnection(client));
    return client;
  } catch (error) {
    visit.leave();
    throw error;
  }
}

async function leaving<T>(visit: ServerVisit, ended: Promise<T>): Promise<T> {
  try {
    const result = await ended;
    visit.leave();
    return result;
  } catch (error) {
    visit.leave(error);
    throw error;
  }
}

/** The end of a transaction that only looks, when everything was asked for. */
async function endAtOnce<T>(
  pool: ConnectionPool,
  client: pg.PoolClient,
  opened: Promise<unknown>,
  found: Promise<T>,
): Promise<T> {
  // Nothing was changed, so the outcome does not matter; this gives the connection back.
  commit(client, { onLost: () => pool.doubt(client), isAnyErrorDoubtful: false }, found).catch(() => {});
  try {
    const result = await found;
    await opened;
    return result;
  } catch (error) {
    const failure = await failureOf(error, opened);
    if (isHostLost(failure)) pool.doubt(client);
    throw failure;
  }
}

/** A constraint or a conflict, found before a commit is written. */
const UNDONE = /^(23|40)/;

/** Whatever the reason, a connection that cannot be had means the store is out of reach. */
function connectTo(pool: ConnectionPool): Promise<pg.PoolClient> {
  return pool.connect().catch((error: unknown) => {
    throw storageUnavailable(new DriverFault(error));
  });
}

/** If the scope could not be set, that is the reason; the errors of the statements only follow from it. */
function failureOf(error: unknown, opened: Promise<unknown>): Promise<unknown> {
  if (!isAftermath(reasonOf(error))) return Promise.resolve(error);
  return opened.then(
    () => error,
    (reason: unknown) => reason,
  );
}

/** What a COMMIT that fails means. */
interface Ending {
  /** The server may be gone. */
  readonly onLost: () => void;
  /**
   * The servers of a distributed database commit one after the other, and one of them may have done so when the next fails:
   * whatever the answer is, nobody can promise that nothing happened.
   */
  readonly isAnyErrorDoubtful: boolean;
}

/** `asked` is what the transaction was for, where the COMMIT was sent before it was known how that ends. */
async function commit(client: pg.PoolClient, ending: Ending, asked?: Promise<unknown>): Promise<void> {
  let done: pg.QueryResult;
  try {
    done = await client.query('COMMIT');
  } catch (error) {
    const isLost = mayHaveCommitted(error);
    if (isLost) ending.onLost();
    client.release(true);
    throw isLost || ending.isAnyErrorDoubtful ? outcomeUnknown(error) : translateDriverFault(error);
  }
  // The server answers a COMMIT of a failed transaction with ROLLBACK, and that is not an error.
  const isCommitted = done.command === 'COMMIT';
  // The failure may be due to the connection, such as a prepared name it does not know; a fault of the statement is
  // not.
  const isWellAsItIs = isCommitted || (asked !== undefined && (await isRefusedStatement(asked)));
  client.release(!isWellAsItIs);
  if (!isCommitted) throw new Error(`transaction ended with ${done.command}`);
}

async function isRefusedStatement(asked: Promise<unknown>): Promise<boolean> {
  try {
    await asked;
    return false;
  } catch (error) {
    const reason = reasonOf(error);
    return sqlStateOf(reason) !== undefined && mayBeOneCallers(reason);
  }
}

/**
 * Without an answer the outcome is unknown, and so it is when the server goes down for whatever reason: it may have
 * written the commit before it said so. Only an answer of severity ERROR means that the transaction was rolled back.
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
