import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ensureLogPartitions } from '../../../audit/partitions.js';
import { systemClock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import type { Database } from '../../../storage/database.js';
import { createDatabase } from '../../../storage/database.js';
import { READ_BY_INDEX } from '../../../storage/in-order.js';
import type { TenantTx } from '../../../storage/scope.js';
import type { Value } from '../../../storage/statement.js';
import { statement } from '../../../storage/statement.js';
import type { TestDatabase } from '../../../testing/test-database.js';
import { createTestDatabase } from '../../../testing/test-database.js';
import { alongShorterHistory, countLogs, listLogs } from '../queries.js';
import type { LogFilter } from './filter.js';

const NOON_MS = Date.UTC(2026, 5, 15, 12);
const DAY_MS = 86_400_000;
const ROWS = 20_000;
/** For ten rows: the leaps, a few of each kind, and the entries themselves. Anything that walks reads thousands. */
const ROWS_MAX = 150;
const [MANY, FEW] = [newId(), newId()];
const HOT = newId();

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Each filter alone and with others: what is nearly everything, what is rare and long ago, what there is none of. */
const FILTERS: readonly Partial<LogFilter>[] = [
  ...[{ entityType: 'card' }, { entityType: 'bank' }, { entityType: 'nonsense' }],
  ...[{ entityId: HOT }, { entityId: 'nobody' }, { entityId: HOT, operation: 'update' }],
  ...[{ actorId: MANY }, { actorId: FEW }, { actorId: newId() }],
  ...[{ operation: 'read' }, { operation: 'update' }, { operation: 'nonsense' }],
  ...[{ outcome: 'success' }, { outcome: 'failure' }, { outcome: 'denied' }],
  ...[
    { entityType: 'card', operation: 'update' },
    { entityType: 'bank', operation: 'read' },
  ],
  ...[
    { entityType: 'card', outcome: 'denied' },
    { operation: 'read', outcome: 'failure' },
  ],
  ...[
    { actorId: MANY, operation: 'update' },
    { actorId: MANY, entityType: 'bank' },
    { actorId: FEW, outcome: 'denied' },
  ],
  ...[{ entityId: HOT, entityType: 'card', operation: 'read', outcome: 'failure' }],
  ...[{ actorId: MANY, entityType: 'card', operation: 'read', outcome: 'denied' }],
];

for (const isAnalyzed of [false, true]) {
  describe(`a page of a filtered log, ${isAnalyzed ? 'with' : 'without'} statistics`, () => {
    const tenantId = newId();
    let db: TestDatabase;
    let database: Database;
    before(async () => {
      db = await createTestDatabase();
      database = createDatabase({ target: db.target, clock: systemClock });
      await ensureLogPartitions(database, NOON_MS - 60 * DAY_MS);
      await fill();
      // Autovacuum does both, a minute after a table was filled.
      if (isAnalyzed) await db.owner.query('VACUUM (ANALYZE) logs');
    });
    after(async () => {
      await database.close();
      await db.drop();
    });

    /**
     * A month in which everything is of one kind, so that statistics say any kind is everything, and one that has rare kinds
     * only at its beginning.
     */
    async function fill(): Promise<void> {
      const rows = `INSERT INTO logs (tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message, outcome)
        SELECT $1, $2::timestamptz - n * interval '10 seconds', gen_random_uuid(), 'application',`;
      await db.owner.query(
        `${rows} $4::uuid, 'card', gen_random_uuid()::text, 'read', 'm', 'success' FROM generate_series(1, $3::int) AS n`,
        [tenantId, new Date(NOON_MS - 30 * DAY_MS), ROWS, MANY],
      );
      await db.owner.query(
        `${rows} CASE WHEN n > $3 - 40 THEN $5::uuid ELSE $4::uuid END,
           CASE WHEN n > $3 - 60 THEN 'bank' ELSE 'card' END,
           CASE WHEN n % 3 = 0 THEN $6 ELSE gen_random_uuid()::text END,
           CASE WHEN n > $3 - 80 AND n % 2 = 0 THEN 'update' ELSE 'read' END, 'm',
           CASE WHEN n > $3 - 20 THEN 'failure' ELSE 'success' END
         FROM generate_series(1, $3::int) AS n`,
        [tenantId, new Date(NOON_MS), ROWS, MANY, FEW, HOT],
      );
    }

    for (const given of FILTERS) {
      it(`is read without what lies between, ${JSON.stringify(given, nameOf)}`, async () => {
        const filter = { ...NONE, ...given };
        const deep = { atMs: NOON_MS - 45 * DAY_MS, id: newId() };
        const pages: [string, (tx: TenantTx) => Promise<unknown>][] = [
          ['first', (tx) => listLogs(tx, filter, 10, 0)],
          ['deep', (tx) => listLogs(tx, { ...filter, after: deep, endMs: NOON_MS }, 10, 0)],
          ['between dates', (tx) => listLogs(tx, { ...filter, startMs: deep.atMs, endMs: deep.atMs + DAY_MS }, 10, 0)],
        ];
        for (const [name, work] of pages) {
          const read = await database.read(tenantId, (tx) => rowsRead(tx, work));
          assert.ok(read <= ROWS_MAX, `${name}: ${read} rows were read`);
        }
        // These say how many they mean, not by which index. A table without statistics is a small one, and not for long.
        if (!isAnalyzed) return;
        const second = await database.read(tenantId, (tx) => rowsRead(tx, (each) => listLogs(each, filter, 10, 10)));
        assert.ok(second <= ROWS_MAX, `second page: ${second} rows were read`);
        const matches = await database.read(tenantId, (tx) => countLogs(tx, filter));
        const counted = await database.read(tenantId, (tx) => rowsRead(tx, (each) => countLogs(each, filter)));
        assert.ok(counted <= matches + ROWS_MAX, `${counted} rows were read to count ${matches}`);
      });
    }

    if (!isAnalyzed) return;
    it('is looked for in the shorter history where both an entity and an actor are given', async () => {
      for (const [given, most] of [
        [{ entityId: HOT, actorId: FEW }, 40],
        [{ entityId: 'nobody', actorId: MANY }, 0],
        [{ entityId: HOT, actorId: FEW, operation: 'update' }, 40],
        [{ entityId: HOT, actorId: newId() }, 0],
      ] as const) {
        const read = await database.read(tenantId, async (tx) => {
          const filter = await alongShorterHistory(tx, { ...NONE, ...given });
          return rowsRead(tx, (each) => listLogs(each, filter, 10, 0));
        });
        assert.ok(read <= most + ROWS_MAX, `${JSON.stringify(given, nameOf)}: ${read} rows were read`);
      }
    });
  });
}

const NONE: LogFilter = {
  ...{ entityType: undefined, entityId: undefined, actorId: undefined, operation: undefined, outcome: undefined },
  ...{ startMs: undefined, endMs: undefined, after: undefined },
};

function nameOf(_: string, value: unknown): unknown {
  const names = new Map<unknown, string>([
    [MANY, 'of many'],
    [FEW, 'of few'],
    [HOT, 'hot'],
  ]);
  return names.get(value) ?? (typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value) ? 'nobody' : value);
}

/** What the server looks at for the statements of `work`, by the plan that serves any values. */
async function rowsRead(tx: TenantTx, work: (tx: TenantTx) => Promise<unknown>): Promise<number> {
  let read = 0;
  const run = (sql: string) => tx.run(statement<{ 'QUERY PLAN': { Plan: PlanNode }[] }>('', sql), []);
  await tx.run(READ_BY_INDEX, []);
  await work({
    ...tx,
    async run(asked, values) {
      if (asked === READ_BY_INDEX) return [];
      await run(`PREPARE explained AS ${asked.text}`);
      const rows = await run(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE explained (${values.map(literalOf).join(', ')})`);
      await run('DEALLOCATE explained');
      for (const row of rows) for (const { Plan } of row['QUERY PLAN']) read += rowsIn(Plan);
      return [];
    },
  });
  return read;
}

function rowsIn(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = node['Relation Name'] === undefined ? 0 : (node['Actual Rows'] + removed) * node['Actual Loops'];
  return own + (node.Plans ?? []).reduce((sum, child) => sum + rowsIn(child), 0);
}

function literalOf(value: Value): string {
  if (value === null) return 'NULL';
  return `'${value instanceof Date ? value.toISOString() : String(value)}'`;
}
