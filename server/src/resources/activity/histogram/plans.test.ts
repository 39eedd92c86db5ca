// needs: processes

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '../../../kernel/ids.js';
import type { TenantTx } from '../../../storage/scope.js';
import type { PlannedDatabase } from '../../logs/filters/plan-fixture.js';
import { insertOf, lookedAt, SERVERS } from '../../logs/filters/plan-fixture.js';
import type { LogFilter } from '../../logs/index.js';
import { countNewestByBucket } from '../../logs/index.js';
import { findSteps, listBusyApplications, listKindsByDay } from '../queries.js';
import { countByDay, hasActor } from './queries.js';

const NOON_MS = Date.UTC(2026, 5, 15, 12);
const DAY_MS = 86_400_000;
const TODAY = Math.floor(NOON_MS / DAY_MS);
const ROWS = 20_000;
/** So many entries of each kind are looked at here, in place of the 10,000 of the product. */
const LIMIT = 200;
/** Reads of cards and of banks, and a last one to be sure of: the kinds there are. */
const KINDS = 3;
const ACTORS = 4;
const DAYS = 100;
const ACTOR = newId();

const FILTERS: readonly Partial<LogFilter>[] = [
  ...[{}, { entityType: 'card' }, { entityType: 'bank' }, { operation: 'read' }, { outcome: 'success' }],
  ...[{ actorId: ACTOR }, { entityId: 'hot' }, { actorId: ACTOR, operation: 'read' }, { entityType: 'nonsense' }],
];
const NONE: LogFilter = {
  ...{ entityType: undefined, entityId: undefined, actorId: undefined, operation: undefined, outcome: undefined },
  ...{ startMs: undefined, endMs: undefined, after: undefined },
};

for (const { name: server, skip, open } of SERVERS) {
  for (const isAnalyzed of [false, true]) {
    const title = `what pages of activity look at on ${server}, ${isAnalyzed ? 'with' : 'without'} statistics`;
    describe(title, { skip }, () => {
      const tenantId = newId();
      let planned: PlannedDatabase;
      before(async () => {
        planned = await open(NOON_MS - 60 * DAY_MS);
        await fill(planned, tenantId);
        if (isAnalyzed) for (const table of ['logs', 'log_counts']) await planned.write(`VACUUM (ANALYZE) ${table}`);
      });
      after(() => planned.close());

      const look = (work: (tx: TenantTx) => Promise<unknown>) =>
        planned.database.read(tenantId, (tx) => lookedAt(tx, work));

      for (const given of FILTERS) {
        it(`a bounded number of entries, ${JSON.stringify(given)}`, async () => {
          const filter = { ...NONE, ...given, startMs: NOON_MS - 50 * DAY_MS, endMs: NOON_MS + 1 };
          const { rows, blocks } = await look((tx) => countNewestByBucket(tx, filter, DAY_MS, LIMIT));
          const most = KINDS * LIMIT + 150;
          assert.ok(rows <= most, `${rows} rows were read`);
          assert.ok(blocks <= 3 * most, `${blocks} blocks were read`);
        });
      }

      it('the counters of the days that are shown, and no entry', async () => {
        const span = { firstDay: TODAY - 29, lastDay: TODAY };
        const ofSpan = 30 * ACTORS;
        for (const [name, most, work] of [
          ['kinds by day', ofSpan, (tx: TenantTx) => listKindsByDay(tx, span)],
          ['busy Applications', ofSpan + ACTORS, (tx: TenantTx) => listBusyApplications(tx, span, NOON_MS, 5)],
          ['by day', ofSpan, (tx: TenantTx) => countByDay(tx, { ...NONE, entityType: 'card' }, span)],
          ['an actor', ofSpan, (tx: TenantTx) => hasActor(tx, newId(), span)],
        ] as const) {
          const { rows } = await look(work);
          assert.ok(rows <= most, `${name}: ${rows} rows were read`);
        }
        const permissionsMax = { public: 2, private: 6, management: 20 };
        const { rows } = await look((tx) => findSteps(tx, { nowMs: NOON_MS, tokenTypes: ['token'], permissionsMax }));
        assert.ok(rows <= DAYS * ACTORS + 10, `first steps: ${rows} rows were read`);
      });
    });
  }
}

/** Two months of entries, nearly all alike, and the counters that stand for them; a neighbour has as many. */
async function fill(planned: PlannedDatabase, tenantId: string): Promise<void> {
  for (const id of [tenantId, newId()]) {
    await planned.write(
      insertOf(`SELECT $1::uuid AS tenant_id, $2::timestamptz - n * interval '3 minutes' AS created_at, gen_random_uuid() AS id,
        'application' AS actor_type, 'm' AS message, $4::uuid AS actor_id, 'hot' AS entity_id,
        CASE WHEN n % 3 = 0 THEN 'bank' ELSE 'card' END AS entity_type, 'read' AS operation, 'success' AS outcome
        FROM generate_series(1, $3::int) AS n`),
      [id, new Date(NOON_MS), ROWS, ACTOR],
    );
    await planned.write(
      `INSERT INTO log_counts (tenant_id, day, actor_type, actor_id, entity_type, operation, outcome, slot, count)
       SELECT $1, DATE '1970-01-01' + ($2::int - d), 'application', ('00000000-0000-4000-8000-00000000000' || a)::uuid, 'card',
         'create', 'success', 0, 100 FROM generate_series(0, $3::int - 1) d, generate_series(1, $4::int) a`,
      [id, TODAY, DAYS, ACTORS],
    );
  }
}
