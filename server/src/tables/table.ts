import type { PurgeStatement } from './queries.js';
import { purgeStatement } from './queries.js';
import type { MacRows, SealedRows } from './walk.js';

/**
 * What becomes of the rows of a deleted tenant. `with its tenant`: they go in the background, before those of the tables
 * they refer to. `after its log`: they are kept as long as the log is, and `resources/tenants` takes them away.
 */
export type Fate = 'with its tenant' | 'after its log';

interface TableOfTenants {
  readonly name: string;
  readonly fate: Fate;
  /** Tables other than `tenants` that its rows refer to by a foreign key. */
  readonly refersTo?: readonly string[];
  readonly sealed?: SealedRows;
  readonly macs?: MacRows;
  /** Of a table that a distributed database keeps on its coordinator: the column that tells the rows of a tenant apart. */
  readonly key?: string;
}

/**
 * What a table says of itself, so that purge, rotation and verification go over all of them without a list of their own. A
 * test holds these records against the schema in the database.
 */
export interface TableRecord extends TableOfTenants {
  readonly purge: PurgeStatement;
}

export function defineTable(table: TableOfTenants): TableRecord {
  return { ...table, purge: purgeStatement(table.name, table.key) };
}

/** Those whose rows go with their tenant, each before the tables it refers to. */
export function inPurgeOrder(tables: readonly TableRecord[]): TableRecord[] {
  const left = new Set(tables.filter(({ fate }) => fate === 'with its tenant'));
  const ordered: TableRecord[] = [];
  while (left.size > 0) {
    const free = [...left].filter(({ name }) => ![...left].some(({ refersTo }) => refersTo?.includes(name)));
    if (free.length === 0) throw new Error('assertion failed: tables refer to each other in a circle');
    for (const table of free) left.delete(table);
    ordered.push(...free);
  }
  return ordered;
}
