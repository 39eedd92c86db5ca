import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import type { Database } from '../../../storage/database.js';
import { createDatabase } from '../../../storage/database.js';
import type { TestDatabase } from '../../../testing/test-database.js';
import { createTestDatabase } from '../../../testing/test-database.js';
import { sweepLogCounts } from './sweep.js';

const NOON_MS = Date.UTC(2030, 0, 31, 12);

describe('counters of days that are shown no more', () => {
  let db: TestDatabase;
  let database: Database;
  const [many, few, deleted] = [newId(), newId(), newId()];
  before(async () => {
    db = await createTestDatabase();
    database = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    await db.owner.query('INSERT INTO users (id, created_at) VALUES ($1, now())', [many]);
    for (const id of [many, few, deleted]) {
      await db.owner.query(
        `INSERT INTO tenants (id, owner_id, name, created_at, deleted_at) VALUES ($1, $2, 'T', now(), $3)`,
        [id, many, id === deleted ? new Date() : null],
      );
    }
  });
  after(async () => {
    await database.close();
    await db.drop();
  });

  /** Rows of so many actors on a day. */
  const fill = (tenantId: string, daysAgo: number, actors: number) =>
    db.owner.query(
      `INSERT INTO log_counts (tenant_id, day, actor_type, actor_id, entity_type, operation, outcome, slot, count)
       SELECT $1, $2::date - $3::int, 'application', gen_random_uuid(), 'token', 'read', 'success', 0, 1
       FROM generate_series(1, $4::int)`,
      [tenantId, new Date(NOON_MS).toISOString().slice(0, 10), daysAgo, actors],
    );
  const left = async (tenantId: string): Promise<number> => {
    const { rows } = await db.owner.query('SELECT FROM log_counts WHERE tenant_id = $1', [tenantId]);
    return rows.length;
  };

  it('go in bounded steps, of each tenant some, the 400 days that are shown stay, and the purge has its own', async () => {
    await fill(many, 400, 700);
    await fill(many, 500, 400);
    await fill(many, 399, 3);
    await fill(few, 401, 2);
    await fill(few, 0, 1);
    await fill(deleted, 401, 5);
    const steps: number[] = [];
    do steps.push(await sweepLogCounts(database, NOON_MS));
    while (steps.at(-1) !== 0);
    assert.ok(
      steps.every((removed) => removed <= 2 * 500),
      `${steps}`,
    );
    assert.equal(
      steps.reduce((sum, removed) => sum + removed, 0),
      1_102,
    );
    assert.deepEqual([await left(many), await left(few), await left(deleted)], [3, 1, 5]);
  });
});
