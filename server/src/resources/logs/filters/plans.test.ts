// needs: processes

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '../../../kernel/ids.js';
import type { TenantTx } from '../../../storage/scope.js';
import { alongShorterHistory, countLogs, listLogs } from '../queries.js';
import type { LogFilter } from './filter.js';
import type { PlannedDatabase } from './plan-fixture.js';
import { insertOf, lookedAt, SERVERS } from './plan-fixture.js';

const NOON_MS = Date.UTC(2026, 5, 15, 12);
const DAY_MS = 86_400_000;
const ROWS = 20_000;
/** For ten rows: the leaps, a few of each kind, and the entries themselves. Anything that walks reads thousands. */
const ROWS_MAX = 150;
/** Those times the ways down the indexes of a few months. A walk through one kind in an index is hundreds more. */
const BLOCKS_MAX = 400;
const [MANY, FEW] = [newId(), newId()];
const HOT = newId();

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

for (const { name: server, skip, open } of SERVERS) {
  for (const isAnalyzed of [false, true]) {
    const title = `a page of a filtered log on ${server}, ${isAnalyzed ? 'with' : 'without'} statistics`;
    describe(title, { skip }, () => {
      const tenantId = newId();
      let planned: PlannedDatabase;
      before(async () => {
        planned = await open(NOON_MS - 60 * DAY_MS);
        await fill(planned, tenantId);
        // Autovacuum does both, a minute after a table was filled.
        if (isAnalyzed) await planned.write('VACUUM (ANALYZE) logs');
      });
      after(() => planned.close());

      const look = (work: (tx: TenantTx) => Promise<unknown>) =>
        planned.database.read(tenantId, (tx) => lookedAt(tx, work));

      async function assertFew(name: string, work: (tx: TenantTx) => Promise<unknown>, besides = 0): Promise<void> {
        const { rows, blocks } = await look(work);
        assert.ok(rows <= ROWS_MAX + besides, `${name}: ${rows} rows were read`);
        assert.ok(blocks <= BLOCKS_MAX + besides, `${name}: ${blocks} blocks were read`);
      }

      for (const given of FILTERS) {
        it(`is read without what lies between, ${JSON.stringify(given, nameOf)}`, async () => {
          const filter = { ...NONE, ...given };
          const deep = { atMs: NOON_MS - 45 * DAY_MS, id: newId() };
          const day = { startMs: deep.atMs, endMs: deep.atMs + DAY_MS };
          await assertFew('first', (tx) => listLogs(tx, filter, 10, 0));
          await assertFew('deep', (tx) => listLogs(tx, { ...filter, after: deep, endMs: NOON_MS }, 10, 0));
          await assertFew('between dates', (tx) => listLogs(tx, { ...filter, ...day }, 10, 0));
          await assertFew('within a day', (tx) => listLogs(tx, { ...filter, startMs: NOON_MS - 1000 }, 10, 0));
          await assertFew('second', (tx) => listLogs(tx, filter, 10, 10));
          const matches = await planned.database.read(tenantId, (tx) => countLogs(tx, filter));
          await assertFew('count', (tx) => countLogs(tx, filter), matches);
        });
      }

      it('is read with no more than a millisecond besides, where a cursor is among thousands of one', async () => {
        const bulk = newId();
        await planned.write(
          insertOf(`SELECT $1::uuid AS tenant_id, $2::timestamptz - (n / 10000) * interval '1 second' AS created_at,
            gen_random_uuid() AS id, 'application' AS actor_type, 'm' AS message, $3::uuid AS actor_id, 'one' AS entity_id,
            'card' AS entity_type, CASE WHEN n % 5 = 0 THEN 'update' ELSE 'read' END AS operation, 'success' AS outcome
            FROM generate_series(0, 29999) AS n`),
          [bulk, new Date(NOON_MS), MANY],
        );
        const middle = { atMs: NOON_MS - 1_000, id: '80000000-0000-4000-8000-000000000000' };
        for (const given of [{ entityType: 'card' }, { entityId: 'one' }, { actorId: MANY }]) {
          const filter = { ...NONE, ...given, operation: 'update', after: middle };
          const { rows } = await planned.database.read(bulk, (tx) =>
            lookedAt(tx, (each) => listLogs(each, filter, 10, 0)),
          );
          assert.ok(rows >= 1_000 && rows <= 2_000 + ROWS_MAX, `${JSON.stringify(given)}: ${rows} rows were read`);
        }
      });

      it('is looked for in the shorter history where both an entity and an actor are given', async () => {
        for (const [given, most] of [
          [{ entityId: HOT, actorId: FEW }, 40],
          [{ entityId: 'nobody', actorId: MANY }, 0],
          [{ entityId: HOT, actorId: FEW, operation: 'update' }, 40],
          [{ entityId: HOT, actorId: newId() }, 0],
        ] as const) {
          const filter = await planned.database.read(tenantId, (tx) => alongShorterHistory(tx, { ...NONE, ...given }));
          await assertFew(JSON.stringify(given, nameOf), (tx) => listLogs(tx, filter, 10, 0), most);
        }
      });
    });
  }
}

/**
 * A month in which everything is of one kind, so that statistics say any kind is everything, and one that has rare kinds only
 * at its beginning.
 */
async function fill(planned: PlannedDatabase, tenantId: string): Promise<void> {
  const entries = `SELECT $1::uuid AS tenant_id, $2::timestamptz - n * interval '10 seconds' AS created_at, gen_random_uuid() AS id,
    'application' AS actor_type, 'm' AS message,`;
  await planned.write(
    insertOf(`${entries} $4::uuid AS actor_id, 'card' AS entity_type, gen_random_uuid()::text AS entity_id,
      'read' AS operation, 'success' AS outcome FROM generate_series(1, $3::int) AS n`),
    [tenantId, new Date(NOON_MS - 30 * DAY_MS), ROWS, MANY],
  );
  await planned.write(
    insertOf(`${entries} CASE WHEN n > $3 - 40 THEN $5::uuid ELSE $4::uuid END AS actor_id,
      CASE WHEN n > $3 - 60 THEN 'bank' ELSE 'card' END AS entity_type,
      CASE WHEN n % 3 = 0 THEN $6 ELSE gen_random_uuid()::text END AS entity_id,
      CASE WHEN n > $3 - 80 AND n % 2 = 0 THEN 'update' ELSE 'read' END AS operation,
      CASE WHEN n > $3 - 20 THEN 'failure' ELSE 'success' END AS outcome FROM generate_series(1, $3::int) AS n`),
    [tenantId, new Date(NOON_MS), ROWS, MANY, FEW, HOT],
  );
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
