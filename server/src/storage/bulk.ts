import { createDeferred } from '../kernel/deferred.js';
import type { Tx } from './scope.js';
import type { Statement, Value } from './statement.js';

/**
 * A statement that takes the rows of many callers at once. Callers in one transaction that ask for it in the same turn of
 * the event loop share one execution: sixty inserts of one row each cost far more than one insert of sixty rows.
 */
export interface Bulk<Row, Result, Answer> {
  readonly statement: Statement<Result>;
  /** Of several due at the same time the lowest runs first, so that later ones find what earlier ones wrote. */
  readonly order: number;
  /**
   * `last`: its rows are gathered over the whole transaction and sent once, right before the COMMIT and in the same write. For
   * rows that everybody changes: they are locked for no longer than the COMMIT takes, and behind all other locks.
   */
  readonly when?: 'last' | undefined;
  /** The rows as columns. Rows are sorted here where they take locks, so that two batches never wait in a circle. */
  readonly values: (rows: readonly Row[]) => Value[];
  /** Computed once from the returned rows and the input, and shared by all callers; each finds its own part in it. */
  readonly collect: (results: readonly Result[], rows: readonly Row[]) => Answer;
  /** On a distributed database, where it is not the same statement with the tenant as its first value. */
  readonly distributed?: DistributedBulk<Row, Result> | undefined;
}

/** What is asked of a distributed database for the rows of one tenant: several statements, whose results are one. */
export type DistributedBulk<Row, Result> = (tenantId: string, rows: readonly Row[]) => readonly AskedPart<Result>[];

export interface AskedPart<Result> {
  readonly statement: Statement<unknown>;
  readonly values: readonly Value[];
  /** A row of the result, as the statement for all rows would have it. */
  readonly read?: (found: unknown) => Result;
}

export type Gather = <Row, Result, Answer>(bulk: Bulk<Row, Result, Answer>, rows: readonly Row[]) => Promise<Answer>;

/** A bulk statement whose callers need no answer. */
export function bulkWrite<Row>(
  statement: Statement<never>,
  order: number,
  values: Bulk<Row, never, void>['values'],
  more: Pick<Bulk<Row, never, void>, 'when' | 'distributed'> = {},
): Bulk<Row, never, void> {
  return { statement, order, values, ...more, collect: () => {} };
}

interface Caller {
  readonly rows: readonly unknown[];
  resolve(answer: unknown): void;
  reject(reason: unknown): void;
}

export type AnyBulk = Bulk<unknown, unknown, unknown>;

/** What the members of a transaction ask for together. */
export interface BatchGather {
  readonly gather: Gather;
  /** Sends what was to come last. Throws, with nothing sent, where a row cannot be encoded; undefined where there is none. */
  sendLast(): Promise<unknown> | undefined;
}

/** For transactions that only look, where nothing comes last. */
export function createGather(run: Tx['run'], tenantId?: string): Gather {
  return createBatchGather(run, () => {}, tenantId).gather;
}

/**
 * `onDropped` is told of a caller whose row cannot be encoded, before anything else is sent. `tenantId` is whose rows all of them
 * are, on a distributed database.
 */
export function createBatchGather(run: Tx['run'], onDropped: () => void, tenantId?: string): BatchGather {
  const due = new Map<AnyBulk, Caller[]>();
  const last = new Map<AnyBulk, unknown[]>();

  async function runOne(bulk: AnyBulk, asked: readonly Caller[]): Promise<void> {
    let callers = asked;
    try {
      let rows = rowsOf(callers);
      let parts: readonly AskedPart<unknown>[];
      try {
        parts = askedPartsOf(bulk, rows, tenantId);
      } catch {
        // A caller whose row cannot be encoded gets the error; the others go on without it.
        onDropped();
        callers = asked.filter((caller) => hasColumns(bulk, caller));
        if (callers.length === 0) return;
        rows = rowsOf(callers);
        parts = askedPartsOf(bulk, rows, tenantId);
      }
      const [first, ...others] = parts;
      const isPlain = first !== undefined && others.length === 0 && first.read === undefined;
      const results = isPlain ? await run(first.statement, first.values) : await runParts(run, parts);
      const answer = bulk.collect(results, rows);
      for (const caller of callers) caller.resolve(answer);
    } catch (error) {
      for (const caller of callers) caller.reject(error);
    }
  }

  function flush(): void {
    const batches = [...due].sort(([a], [b]) => a.order - b.order);
    due.clear();
    // Sent one behind the other without waiting: the connection keeps their order.
    for (const [bulk, callers] of batches) void runOne(bulk, callers);
  }

  const gather = <Row, Result, Answer>(bulk: Bulk<Row, Result, Answer>, rows: readonly Row[]): Promise<Answer> => {
    // Rows and answers of one statement are never mixed with another's, so the types match.
    const key = bulk as unknown as AnyBulk;
    if (bulk.when === 'last') {
      const known = last.get(key);
      if (known) for (const row of rows) known.push(row);
      else last.set(key, [...rows]);
      return Promise.resolve(bulk.collect([], rows));
    }
    const { promise, resolve, reject } = createDeferred<Answer>();
    const caller: Caller = { rows, resolve: resolve as (answer: unknown) => void, reject };
    const callers = due.get(key);
    if (callers) callers.push(caller);
    else {
      // After all promises settled in this turn have been handled, so that every caller of this turn is included.
      if (due.size === 0) process.nextTick(flush);
      due.set(key, [caller]);
    }
    return promise;
  };

  return { gather, sendLast: () => sendLast(run, last, tenantId) };
}

function sendLast(
  run: Tx['run'],
  last: ReadonlyMap<AnyBulk, readonly unknown[]>,
  tenantId: string | undefined,
): Promise<unknown> | undefined {
  if (last.size === 0) return undefined;
  const due = [...last].sort(([a], [b]) => a.order - b.order);
  const asked = due.map(([bulk, rows]) => askedPartsOf(bulk, rows, tenantId));
  return Promise.all(asked.map((parts) => runParts(run, parts)));
}

/** What is sent for the rows. All of them are of one tenant where it is given: then it is a value, and leads to a server. */
export function askedPartsOf(
  bulk: AnyBulk,
  rows: readonly unknown[],
  tenantId: string | undefined,
): readonly AskedPart<unknown>[] {
  if (tenantId === undefined) return [{ statement: bulk.statement, values: bulk.values(rows) }];
  if (bulk.distributed !== undefined) return bulk.distributed(tenantId, rows);
  const [, ...columns] = bulk.values(rows);
  return bulk.statement.few?.(tenantId, columns) ?? [{ statement: bulk.statement, values: [tenantId, ...columns] }];
}

/** Sent one behind the other. */
export async function runParts(run: Tx['run'], parts: readonly AskedPart<unknown>[]): Promise<readonly unknown[]> {
  const found = await Promise.all(
    parts.map(async ({ statement, values, read = (row) => row }) => (await run(statement, values)).map(read)),
  );
  return found.flat();
}

function hasColumns(bulk: AnyBulk, caller: Caller): boolean {
  try {
    bulk.values(caller.rows);
    return true;
  } catch (error) {
    caller.reject(error);
    return false;
  }
}

function rowsOf(callers: readonly Caller[]): readonly unknown[] {
  const [first] = callers;
  if (first !== undefined && callers.length === 1) return first.rows;
  const rows: unknown[] = [];
  for (const caller of callers) for (const row of caller.rows) rows.push(row);
  return rows;
}
