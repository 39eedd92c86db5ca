import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { KIND_NUMBER } from '../../../audit/kind.js';
import { systemClock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import type { Database } from '../../../storage/database.js';
import { createDatabase } from '../../../storage/database.js';
import { migrate } from '../../../storage/migrate.js';
import type { EmptyDatabase } from '../../../testing/empty-database.js';
import { createEmptyDatabase } from '../../../testing/empty-database.js';
import type { TestDatabase } from '../../../testing/test-database.js';
import { createTestDatabase } from '../../../testing/test-database.js';
import { countLogs, listLogs } from '../queries.js';
import type { LogFilter } from './filter.js';

/** The last schema whose entries have no number. */
const BEFORE = 18;
const AT_MS = Date.UTC(2026, 5, 15);
const [TENANT, ACTOR] = [newId(), newId()];

describe('a log from before kinds had numbers', () => {
  let beside: TestDatabase;
  let empty: EmptyDatabase;
  let database: Database;
  before(async () => {
    beside = await createTestDatabase();
    empty = await createEmptyDatabase(beside);
    const options = { owner: empty.ownerTarget, login: empty.login, createLogin: true };
    await migrate({ ...options, upTo: BEFORE });
    await empty.owner.query('SELECT ensure_log_partitions($1, 2)', [new Date(AT_MS)]);
    await write(100);
    await migrate(options);
    database = createDatabase({ target: empty.target, clock: systemClock });
  });
  after(async () => {
    await database.close();
    await empty.drop();
    await beside.drop();
  });

  /** In the words of the release before. */
  async function write(count: number): Promise<void> {
    await empty.owner.query(
      `INSERT INTO logs (tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message, outcome,
                         source_address, trace_id)
       SELECT $1, $2::timestamptz + n * interval '10 hours', gen_random_uuid(), 'application', $3,
         CASE WHEN n % 2 = 0 THEN 'card' ELSE 'token' END, 'e', 'read', 'm', 'success', NULL, 't'
       FROM generate_series(1, $4::int) AS n`,
      [TENANT, new Date(AT_MS), ACTOR, count],
    );
  }

  const FILTERS: readonly Partial<LogFilter>[] = [
    ...[{ entityType: 'card' }, { entityId: 'e', entityType: 'card' }],
    ...[{ actorId: ACTOR, entityType: 'card', operation: 'read', outcome: 'success' }],
  ];
  const found = (given: Partial<LogFilter>) =>
    database.read(TENANT, async (tx) => {
      const filter = { ...NONE, ...given };
      const rows = await listLogs(tx, filter, 1_000, 0);
      assert.ok(rows.every((row) => row.entity_type === 'card'));
      return [rows.length, await countLogs(tx, filter)];
    });

  it('has them after the migration, in every month, and filters find its entries', async () => {
    const { rows } = await empty.owner.query(`SELECT count(*)::int AS count FROM logs WHERE kind = ${KIND_NUMBER}`);
    assert.deepEqual(rows, [{ count: 100 }]);
    for (const given of FILTERS) assert.deepEqual(await found(given), [50, 50], JSON.stringify(given));
  });

  it('is still written to by a process of the release before, also in a month made later, and filters find that too', async () => {
    await empty.owner.query('SELECT ensure_log_partitions($1, 4)', [new Date(AT_MS)]);
    await write(200);
    const { rows } = await empty.owner.query('SELECT count(*)::int AS count FROM logs WHERE kind = 0');
    assert.deepEqual(rows, [{ count: 200 }]);
    for (const given of FILTERS) assert.deepEqual(await found(given), [150, 150], JSON.stringify(given));
  });
});

const NONE: LogFilter = {
  ...{ entityType: undefined, entityId: undefined, actorId: undefined, operation: undefined, outcome: undefined },
  ...{ startMs: undefined, endMs: undefined, after: undefined },
};
