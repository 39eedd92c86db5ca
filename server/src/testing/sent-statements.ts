import pg from 'pg';
import { ENTER_DISTRIBUTED_SCOPE } from '../storage/scope.js';

/** A statement as the product sent it to a distributed database, with the transaction it was part of. */
export interface SentStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** What opened its transaction, and whom it became. */
  readonly begin: string;
  readonly role: string;
}

/** From the first on that it heard, the first of each name; whoever listens ends it. */
export interface SentStatements {
  readonly byName: ReadonlyMap<string, SentStatement>;
  restore(): void;
}

type Query = (this: object, first: unknown, ...rest: unknown[]) => unknown;

// The driver's own method, with as much of its type as is needed to pass a call on.
const driver = pg.Client.prototype as unknown as { query: Query };

/** Hears every statement that this process sends from here on and that has a plan. */
export function hearStatements(): SentStatements {
  const original = driver.query;
  const byName = new Map<string, SentStatement>();
  const begins = new WeakMap<object, string>();
  const roles = new WeakMap<object, string>();
  driver.query = function (this: object, first: unknown, ...rest: unknown[]) {
    if (typeof first === 'string' && first.startsWith('BEGIN')) begins.set(this, first);
    if (isNamed(first)) {
      const { name, text, values = [] } = first;
      if (name === ENTER_DISTRIBUTED_SCOPE.name) roles.set(this, String(values[0]));
      else if (!byName.has(name) && !text.startsWith('SET ')) {
        byName.set(name, { name, text, values, begin: begins.get(this) ?? '', role: roles.get(this) ?? '' });
      }
    }
    return original.call(this, first, ...rest);
  };
  return {
    byName,
    restore() {
      driver.query = original;
    },
  };
}

function isNamed(first: unknown): first is { name: string; text: string; values?: unknown[] } {
  return typeof first === 'object' && first !== null && 'name' in first && 'text' in first;
}

/** How many servers' worth of work Citus makes of a statement, by its plan: a number for every part that it has. */
export async function tasksOf(client: pg.Client, { text, values, begin, role }: SentStatement): Promise<number[]> {
  await client.query(begin);
  try {
    await client.query(`SELECT set_config('role', $1, true)`, [role]);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${text}`, [...values]);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    return [...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => Number(count));
  } finally {
    await client.query('ROLLBACK');
  }
}
