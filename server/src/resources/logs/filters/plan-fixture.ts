import { findPostgres, unless } from '@strongroom/test-servers/find.js';
import { KIND_NUMBER } from '../../../audit/kind.js';
import { ensureLogPartitions } from '../../../audit/partitions.js';
import { systemClock } from '../../../kernel/clock.js';
import type { Database } from '../../../storage/database.js';
import { createDatabase } from '../../../storage/database.js';
import { READ_BY_INDEX } from '../../../storage/in-order.js';
import type { TenantTx } from '../../../storage/scope.js';
import type { Value } from '../../../storage/statement.js';
import { statement } from '../../../storage/statement.js';
import { IS_CLUSTER, ONE_SERVER_ALONE } from '../../../testing/cluster-only.js';
import { scansOfTask } from '../../../testing/cluster-plan.js';
import { databaseOn, startMigratedServer } from '../../../testing/migrated-server.js';
import { createTestDatabase } from '../../../testing/test-database.js';

/** A database with the current schema and partitions from a month on. */
export interface PlannedDatabase {
  readonly database: Database;
  /** Past every wall. */
  write(sql: string, values?: readonly unknown[]): Promise<void>;
  close(): Promise<void>;
}

/** Plans are the planner's, which is another one in each version: the bundled server, and an older one where there is one. */
export const SERVERS: readonly {
  readonly name: string;
  readonly skip: string | false;
  readonly open: (firstMs: number) => Promise<PlannedDatabase>;
}[] = [
  { name: 'the bundled PostgreSQL', skip: false, open: openBundled },
  {
    name: 'PostgreSQL from packages',
    skip: ONE_SERVER_ALONE || unless(findPostgres(), 'PostgreSQL from packages'),
    open: openPackaged,
  },
];

async function openBundled(firstMs: number): Promise<PlannedDatabase> {
  const db = await createTestDatabase();
  const database = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
  await ensureLogPartitions(database, firstMs);
  return {
    database,
    async write(sql, values) {
      await db.owner.query(sql, values && [...values]);
    },
    async close() {
      await database.close();
      await db.drop();
    },
  };
}

async function openPackaged(firstMs: number): Promise<PlannedDatabase> {
  const server = await startMigratedServer();
  const db = await databaseOn(server);
  const superuser = await server.connect();
  const database = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
  await ensureLogPartitions(database, firstMs);
  return {
    database,
    async write(sql, values) {
      await superuser.query(sql, values && [...values]);
    },
    async close() {
      await database.close();
      await superuser.end();
      await db.drop();
      await server.remove();
    },
  };
}

/** Entries with the columns that a query names, numbered as the product does it. */
export function insertOf(query: string): string {
  const columns =
    'tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message, outcome';
  return `INSERT INTO logs (${columns}, kind) SELECT ${columns}, ${KIND_NUMBER} FROM (${query}) AS given`;
}

export interface Looked {
  /** What scans gave and what they threw away. */
  readonly rows: number;
  /** What an index was walked through for shows only here. */
  readonly blocks: number;
}

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** What the server looks at for the statements of `work`, by the plan that serves any values. */
export async function lookedAt(tx: TenantTx, work: (tx: TenantTx) => Promise<unknown>): Promise<Looked> {
  let looked: Looked = { rows: 0, blocks: 0 };
  const run = <Row>(sql: string) => tx.run(statement<Row>('', sql), []);
  await tx.run(READ_BY_INDEX, []);
  await work({
    ...tx,
    async run(asked, values) {
      if (asked === READ_BY_INDEX) return [];
      const { text, distributed = text } = asked;
      await run(`PREPARE explained AS ${IS_CLUSTER ? distributed : text}`);
      const execute = `EXECUTE explained (${values.map(literalOf).join(', ')})`;
      // Of blocks Citus tells only the coordinator's.
      const found = IS_CLUSTER
        ? { rows: sumOf(scansOfTask(await run(`EXPLAIN (ANALYZE, TIMING OFF) ${execute}`)).map(rowsIn)), blocks: 0 }
        : lookedAtByNodes(await run(`EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${execute}`));
      await run('DEALLOCATE explained');
      looked = { rows: looked.rows + found.rows, blocks: looked.blocks + found.blocks };
      return [];
    },
  });
  return looked;
}

function lookedAtByNodes(rows: readonly { 'QUERY PLAN': { Plan: PlanNode }[] }[]): Looked {
  let looked: Looked = { rows: 0, blocks: 0 };
  for (const { Plan: plan } of rows.flatMap((row) => row['QUERY PLAN'])) {
    const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    looked = { rows: looked.rows + rowsIn(plan), blocks: looked.blocks + blocks };
  }
  return looked;
}

function rowsIn(node: Omit<PlanNode, 'Shared Hit Blocks' | 'Shared Read Blocks'>): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = node['Relation Name'] === undefined ? 0 : (node['Actual Rows'] + removed) * node['Actual Loops'];
  return own + sumOf((node.Plans ?? []).map(rowsIn));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

function literalOf(value: Value): string {
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return `ARRAY[${value.map(literalOf).join(', ')}]`;
  return `'${value instanceof Date ? value.toISOString() : String(value)}'`;
}
