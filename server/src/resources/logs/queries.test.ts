import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ensureLogPartitions } from '../../audit/partitions.js';
import { systemClock } from '../../kernel/clock.js';
import { newId } from '../../kernel/ids.js';
import type { Database } from '../../storage/database.js';
import { createDatabase } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import type { Value } from '../../storage/statement.js';
import { statement } from '../../storage/statement.js';
import { ONE_SERVER_ALONE } from '../../testing/cluster-only.js';
import type { TestDatabase } from '../../testing/test-database.js';
import { createTestDatabase } from '../../testing/test-database.js';
import type { LogFilter } from './filters/filter.js';
import { insertOf } from './filters/plan-fixture.js';
import { listLogs } from './queries.js';

const ROWS = 20_000;
/** For ten rows, some ways down the index of each partition; what lies between an end date and a cursor here takes hundreds. */
const BLOCKS_MAX = 80;
const MINUTE_MS = 60_000;

interface Explained {
  readonly 'QUERY PLAN': readonly {
    readonly Plan: { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
  }[];
}

/** Counted in blocks, of which Citus tells only the coordinator's. */
describe('a page of the log', { skip: ONE_SERVER_ALONE }, () => {
  let db: TestDatabase;
  let database: Database;
  const tenantId = newId();
  const newestMs = Date.UTC(2026, 5, 15, 12);
  before(async () => {
    db = await createTestDatabase();
    database = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    await ensureLogPartitions(database, newestMs);
    await db.owner.query('INSERT INTO users (id, created_at) VALUES ($1, now())', [tenantId]);
    await db.owner.query(`INSERT INTO tenants (id, owner_id, name, created_at) VALUES ($1, $1, 'Under test', now())`, [
      tenantId,
    ]);
    await db.owner.query(
      insertOf(`SELECT $1::uuid AS tenant_id, $2::timestamptz - n * interval '10 milliseconds' AS created_at,
         gen_random_uuid() AS id, NULL AS actor_type, NULL::uuid AS actor_id, 'token' AS entity_type, 'one' AS entity_id,
         'read' AS operation, 'm' AS message, 'success' AS outcome FROM generate_series(1, $3::int) AS n`),
      [tenantId, new Date(newestMs), ROWS],
    );
    await db.owner.query('ANALYZE logs');
  });
  after(async () => {
    await database.close();
    await db.drop();
  });

  const filters: [string, Partial<LogFilter>][] = [
    ['no filter', {}],
    ['an end', { endMs: newestMs + 1 }],
    ['both ends', { startMs: newestMs - 10 * MINUTE_MS, endMs: newestMs + 1 }],
    ['all four', { startMs: newestMs - 10 * MINUTE_MS, endMs: newestMs + 1, entityType: 'token', entityId: 'one' }],
  ];
  for (const [name, given] of filters) {
    it(`is found far down the list without reading what lies before it, with ${name}`, async () => {
      const deep = { atMs: newestMs - ROWS * 10 + 500, id: newId() };
      const none = {
        ...{ entityType: undefined, entityId: undefined, actorId: undefined, operation: undefined, outcome: undefined },
        ...{ startMs: undefined, endMs: undefined },
      };
      const read = await database.read(tenantId, (tx) => blocksRead(tx, { ...none, ...given, after: deep }));
      assert.ok(read > 0 && read <= BLOCKS_MAX, `${read} blocks were read`);
    });
  }

  /** What the server looked at for a page of ten. */
  async function blocksRead(tx: TenantTx, filter: LogFilter): Promise<number> {
    let read = 0;
    const run = async (asked: { readonly text: string }, values: readonly Value[]): Promise<never[]> => {
      const explain = statement<Explained>('', `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${asked.text}`);
      for (const row of await tx.run(explain, values)) {
        for (const { Plan } of row['QUERY PLAN']) read += Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
      }
      return [];
    };
    await listLogs({ ...tx, run }, filter, 10, 0);
    return read;
  }
});
