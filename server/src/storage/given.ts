import { assert } from '../kernel/assert.js';
import { elementsOf } from './binary-array.js';
import type { PutStatement, Statement, Value } from './statement.js';
import { statement } from './statement.js';

/**
 * How a statement names the rows that it is given as columns. The first column is always the tenant. On one server many tenants
 * share a statement, and each row says whose it is. On a distributed database all rows are of one tenant, which is a value of
 * its own, because only a value leads to the one server that has the tenant.
 */
export interface Given {
  /** The rows, as a table named `given` of these columns; each is written `name type`. The first of them is the tenant's. */
  rows(...columns: string[]): string;
  /** The tenant of a row. */
  readonly tenant: string;
  /** That a table's row is of the same tenant as one of a table that was made of the given rows. */
  isOf(table: string, made: string): string;
}

const PLAIN: Given = {
  rows: (...columns) => unnest(columns, 1),
  tenant: 'given.tenant_id',
  isOf: (table, made) => `${table}.tenant_id = ${made}.tenant_id`,
};

const DISTRIBUTED: Given = {
  rows: (_tenant, ...columns) => unnest(columns, 2),
  tenant: '$1',
  isOf: (table) => `${table}.tenant_id = $1`,
};

function unnest(columns: readonly string[], firstAt: number): string {
  const parts = columns.map((column) => column.split(' '));
  const arrays = parts.map(([, type], n) => `$${n + firstAt}::${type}[]`);
  return `unnest(${arrays.join(', ')}) AS given (${parts.map(([name]) => name).join(', ')})`;
}

/** A statement on rows that are given. Its first value is the tenants of the rows, or the tenant. */
export function givenStatement<Row>(name: string, text: (given: Given) => string): Statement<Row> {
  return statement(name, text(PLAIN), text(DISTRIBUTED));
}

export interface GivenInsert {
  readonly into: string;
  /** Columns with their types, each of which is given; the tenant's first. */
  readonly columns: readonly string[];
  /** What is written in place of what was given, by column; and columns that are made of others. */
  readonly made?: Readonly<Record<string, string>>;
  /** From ON CONFLICT on. */
  readonly end?: string;
}

/**
 * Inserts rows that are given. Citus sends an INSERT with a SELECT to the one server alone where the SELECT reads a table there, so
 * the tenant's own row is read with it; any other would be copied by COPY, which row-level security refuses. To plan that takes
 * it a millisecond each time, and an INSERT of values a third of it, so few rows are put as values.
 */
export function givenInsert<Row>(name: string, insert: GivenInsert): Statement<Row> {
  const { into, columns, made = {}, end = '' } = insert;
  assert(columns[0] === 'tenant_id uuid', 'whose a row is comes first');
  const [tenant = '', ...others] = columns.map((column) => column.split(' ')[0] ?? '');
  const further = Object.keys(made).filter((column) => !others.includes(column));
  const target = [tenant, ...others, ...further].join(', ');
  const sources = [...others, ...further].map((column) => made[column] ?? `given.${column}`).join(', ');
  const both = statement<Row>(
    name,
    `INSERT INTO ${into} (${target}) SELECT given.${tenant}, ${sources} FROM ${PLAIN.rows(...columns)} ${end}`,
    `INSERT INTO ${into} (${target}) SELECT anchor.id, ${sources}
     FROM tenants AS anchor CROSS JOIN ${DISTRIBUTED.rows(...columns)} WHERE anchor.id = $1 ${end}`,
  );
  return { ...both, few: fewRows(name, insert, target) };
}

/**
 * Each number of rows is a statement of its own, which every connection that writes keeps: the ten take it one or two
 * megabytes. A page of tokens has twenty unless told, and a log entry for each.
 */
const ROWS_OF_VALUES = 10;
const PARTS_MAX = 2;

function fewRows<Row>(name: string, insert: GivenInsert, target: string): NonNullable<Statement<Row>['few']> {
  const known = new Map<number, Statement<Row>>();
  const statementFor = (count: number): Statement<Row> => {
    const found = known.get(count) ?? statement<Row>(`${name}_of_${count}`, valuesText(insert, target, count));
    known.set(count, found);
    return found;
  };
  return (tenantId, columns) => {
    const cells = columns.map(elementsIn);
    const count = cells[0]?.length ?? 0;
    if (count === 0 || count > ROWS_OF_VALUES * PARTS_MAX) return undefined;
    const parts: PutStatement<Row>[] = [];
    for (let from = 0; from < count; from += ROWS_OF_VALUES) {
      const to = Math.min(count, from + ROWS_OF_VALUES);
      const values: Value[] = [tenantId];
      for (let row = from; row < to; row += 1) for (const column of cells) values.push(column[row] ?? null);
      parts.push({ statement: statementFor(to - from), values });
    }
    return parts;
  };
}

function elementsIn(column: Value): readonly (Buffer | null)[] {
  if (!Buffer.isBuffer(column)) throw new TypeError('a column is a list in binary form');
  return elementsOf(column);
}

/** Row by row, behind the tenant, which is the first value. What is made of others names their values in place of them. */
function valuesText({ into, columns, made = {}, end = '' }: GivenInsert, target: string, count: number): string {
  const [, ...others] = columns.map((column) => column.split(' '));
  const names = others.map(([name = '']) => name);
  const further = Object.keys(made).filter((column) => !names.includes(column));
  const namesIn = new RegExp(`(?<![\\w.'])(?:given\\.)?(${names.join('|')})(?![\\w'])`, 'g');
  const rows = Array.from({ length: count }, (_, row) => {
    const cellOf = (name: string): string => {
      const place = names.indexOf(name);
      return `$${2 + row * names.length + place}::${others[place]?.[1]}`;
    };
    const sources = [...names, ...further].map(
      (column) => made[column]?.replaceAll(namesIn, (_whole, name: string) => cellOf(name)) ?? cellOf(column),
    );
    return `($1::uuid, ${sources.join(', ')})`;
  });
  return `INSERT INTO ${into} (${target}) VALUES ${rows.join(', ')} ${end}`;
}
