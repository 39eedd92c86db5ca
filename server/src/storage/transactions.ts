import type pg from 'pg';
import { assert } from '../kernel/assert.js';
import { storageUnavailable } from '../kernel/errors.js';
import type { TimeBounds } from './connection.js';
import { openScope, runStatement } from './connection.js';
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
import type { Role, Tx } from './scope.js';
import type { Statement, Value } from './statement.js';

/** Who the login becomes for a transaction, and whose rows it sees. */
export interface Scope {
  readonly role: Role;
  readonly tenants: readonly string[];
  readonly isReadOnly: boolean;
}

export interface TransactionOptions {
  /** Whether the caller waits for the COMMIT. */
  readonly isDurable: boolean;
  /** Runs on the connection before the transaction begins. */
  readonly prepare?: ((client: pg.ClientBase) => Promise<void>) | undefined;
}

/** Transactions on the connections of a pool: each opens its scope, does its work, ends, and gives its connection back. */
export class Transactions {
  readonly #bounds: TimeBounds;
  readonly #isPrepared: boolean;

  constructor(bounds: TimeBounds, isPrepared: boolean) {
    this.#bounds = bounds;
    this.#isPrepared = isPrepared;
  }

  async run<T>(
    pool: ConnectionPool,
    scope: Scope,
    work: (run: Tx['run']) => Promise<T>,
    { isDurable, prepare }: TransactionOptions,
  ): Promise<T> {
    const transaction = await this.begin(pool, scope, prepare);
    let result: T;
    try {
      result = await work(transaction.run);
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
    const client = await connectTo(pool);
    await prepare?.(client).catch((error: unknown) => {
      client.release(true);
      throw error;
    });
    return new Transaction(pool, client, openScope(client, scope, this.#bounds, this.#isPrepared), this.#isPrepared);
  }

  /** Statements sent before the first wait travel with the COMMIT, in a single round trip. */
  async runAtOnce<T>(pool: ConnectionPool, scope: Scope, work: (run: Tx['run']) => Promise<T>): Promise<T> {
    const client = await connectTo(pool);
    const opened = openScope(client, scope, this.#bounds, this.#isPrepared);
    let isAsking = true;
    const ask: Tx['run'] = (statement, values) => {
      assert(isAsking, 'everything is asked for at once');
      return runStatement(client, statement, values, this.#isPrepared);
    };
    // An exception becomes a rejection as well: the connection has to be given back.
    const found = (async () => work(ask))();
    isAsking = false;
    return endAtOnce(pool, client, opened, found);
  }

  /** One statement in a transaction of its own, in a single round trip. */
  async ask<Row>(
    pool: ConnectionPool,
    scope: Scope,
    statement: Statement<Row>,
    values: readonly Value[],
  ): Promise<Row[]> {
    const client = await connectTo(pool);
    const opened = openScope(client, scope, this.#bounds, this.#isPrepared);
    return endAtOnce(pool, client, opened, runStatement(client, statement, values, this.#isPrepared));
  }
}

/** A transaction under way, with the connection it has to itself. */
export class Transaction {
  readonly run: Tx['run'];
  /** When the scope has been entered. */
  readonly opened: Promise<unknown>;
  readonly #pool: ConnectionPool;
  readonly #client: pg.PoolClient;
  /** The COMMIT is on its way, and the connection is the next one's. */
  #isEnded = false;

  constructor(pool: ConnectionPool, client: pg.PoolClient, opened: Promise<unknown>, isPrepared: boolean) {
    this.#pool = pool;
    this.#client = client;
    this.opened = opened;
    this.run = (statement, values) => {
      assert(!this.#isEnded, 'everything is asked for at once');
      return runStatement(client, statement, values, isPrepared);
    };
  }

  commit(): Promise<void> {
    return commit(this.#client, () => this.#pool.doubt(this.#client));
  }

  /** The COMMIT goes out behind the statements, before it is known how these end. Where one fails nothing is left of them. */
  async commitAtOnce<T>(found: Promise<T>): Promise<T> {
    this.#isEnded = true;
    const onLost = (): void => this.#pool.doubt(this.#client);
    const committed = commit(this.#client, onLost, found);
    const ended = committed.then(
      () => undefined,
      (error: unknown) => error,
    );
    try {
      const result = await found;
      await this.opened;
      await committed;
      return result;
    } catch (error) {
      const end = await ended;
      // Then the answers to the statements were lost as well, and that says nothing about what became of them.
      if (isOutcomeUnknown(end)) throw end;
      const failure = await failureOf(error, this.opened);
      if (isHostLost(reasonOf(failure))) onLost();
      throw failure;
    }
  }

  /** Resolves with the reason of the failure, when nothing is left of it. */
  async undo(error: unknown): Promise<unknown> {
    const failure = await failureOf(error, this.opened);
    const isLost = isHostLost(reasonOf(failure));
    if (isLost) this.#pool.doubt(this.#client);
    await rollBack(this.#client, isLost || isNameLost(reasonOf(failure)));
    return failure;
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
  commit(client, () => pool.doubt(client), found).catch(() => {});
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
