/** A statement with the name it is prepared under. One small statement per function, parameters only. */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** Never set: carries the row type from the definition to the caller. */
  readonly row?: Row;
}

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

export function statement<Row>(name: string, text: string): Statement<Row> {
  return { name, text };
}
