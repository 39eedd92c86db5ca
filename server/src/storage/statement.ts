/** A statement with the name it is prepared under. One small statement per function, parameters only. */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** How it is put to a distributed database, where that needs other words: there it has to name one tenant as a value. */
  readonly distributed?: string;
  /** The kind of database that it is for; on the other it is not sent, and finds nothing. Both, unless told. */
  readonly only?: 'plain' | 'distributed';
  /**
   * How rows that are given as columns are put to a distributed database in other words where they are few; undefined where they
   * are not.
   */
  readonly few?: (tenantId: string, columns: readonly Value[]) => readonly PutStatement<Row>[] | undefined;
  /** Never set: carries the row type from the definition to the caller. */
  readonly row?: Row;
}

/** A statement with its values. */
export interface PutStatement<Row> {
  readonly statement: Statement<Row>;
  readonly values: readonly Value[];
}

/** What a statement finds. */
export type RowOf<S> = S extends Statement<infer Row> ? Row : never;

/** Parameters as the driver takes them. */
export type Value =
  | string
  | number
  | bigint
  | boolean
  | Date
  | Buffer
  | null
  | readonly (string | null)[]
  | readonly number[]
  | readonly (Buffer | null)[];

export function statement<Row>(name: string, text: string, distributed?: string): Statement<Row> {
  return distributed === undefined ? { name, text } : { name, text, distributed };
}

/** For a database on one server alone. */
export function plainStatement<Row>(name: string, text: string): Statement<Row> {
  return { name, text, only: 'plain' };
}

/** For a database that Citus has spread alone. */
export function distributedStatement<Row>(name: string, text: string): Statement<Row> {
  return { name, text, only: 'distributed' };
}
