import type pg from 'pg';
import type { Random } from './random.js';

/** Rows with one byte of one column flipped, as a failing disk or an intruder would leave them. */
export interface Damage {
  /** The rows by their key, as the table has it. */
  readonly keys: readonly string[];
  mend(): Promise<void>;
}

export interface Spot {
  readonly table: string;
  /** The column that says which row it is, as text. */
  readonly key: string;
  readonly column: string;
  /** From the column to bytes and back, with `value` in place of the column. */
  readonly toBytes: string;
  readonly fromBytes: string;
}

export const bytes = (table: string, key: string, column: string): Spot => {
  return { table, key, column, toBytes: 'value', fromBytes: 'value' };
};
export const text = (table: string, key: string, column: string): Spot => {
  return { table, key, column, toBytes: `convert_to(value, 'UTF8')`, fromBytes: `convert_from(value, 'UTF8')` };
};
/** An array of words, all in one text. */
export const words = (table: string, key: string, column: string): Spot => ({
  ...text(table, key, column),
  toBytes: `convert_to(array_to_string(value, ','), 'UTF8')`,
  fromBytes: `string_to_array(convert_from(value, 'UTF8'), ',')`,
});

/** Flips in the rows of one tenant that `where` names, as a superuser; in text the byte becomes another letter. */
export async function damage(
  client: pg.Client,
  random: Random,
  spot: Spot,
  tenantId: string,
  keys: readonly string[],
): Promise<Damage> {
  const put = (expression: string, value: string): string => expression.replace('value', value);
  const { rows } = await client.query<{ key: string; value: Buffer }>(
    `SELECT ${spot.key}::text AS key, ${put(spot.toBytes, spot.column)} AS value FROM ${spot.table}
     WHERE tenant_id = $1 AND ${spot.key}::text = ANY ($2) AND length(${put(spot.toBytes, spot.column)}) > 0 ORDER BY 1`,
    [tenantId, keys],
  );
  const isText = spot.toBytes !== 'value';
  const flipped = rows.map(({ key, value }) => ({ key, value: flip(random, value, isText) }));
  const write = async (values: readonly { key: string; value: Buffer }[]): Promise<void> => {
    await client.query(
      `UPDATE ${spot.table} AS t SET ${spot.column} = ${put(spot.fromBytes, 'u.bytes')}
       FROM unnest($2::text[], $3::bytea[]) AS u (key, bytes) WHERE t.tenant_id = $1 AND t.${spot.key}::text = u.key`,
      [tenantId, values.map(({ key }) => key), values.map(({ value }) => value)],
    );
  };
  await write(flipped);
  return { keys: rows.map(({ key }) => key), mend: () => write(rows) };
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz:/{}[]"0123456789';

function flip(random: Random, value: Buffer, isText: boolean): Buffer {
  const copy = Buffer.from(value);
  const place = random.between(0, copy.length - 1);
  const old = copy[place] ?? 0;
  let next = old;
  while (next === old) next = isText ? random.pick([...LETTERS]).charCodeAt(0) : old ^ (1 << random.between(0, 7));
  copy[place] = next;
  return copy;
}
