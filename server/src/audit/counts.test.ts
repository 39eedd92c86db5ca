import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import type { Database } from '../storage/database.js';
import { createDatabase } from '../storage/database.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import { TOKEN_EVENTS } from '../vault/events.js';
import { NO_ACTOR_ID } from './count-queries.js';
import type { Actor, AuditContext, Entry } from './entry.js';
import { operatorContext } from './entry.js';
import { ensureLogPartitions } from './partitions.js';
import { record, recordAll } from './record.js';

const NOON_MS = Date.UTC(2030, 0, 15, 12);
const read: Entry = { event: TOKEN_EVENTS.retrieved, entityId: 'one', entityType: 'card', outcome: 'success' };
const created: Entry = { event: TOKEN_EVENTS.created, entityId: 'one', outcome: 'success' };
const denied: Entry = { event: TOKEN_EVENTS.denied, entityId: '*', outcome: 'denied' };

describe('the counters of log entries', () => {
  let db: TestDatabase;
  let database: Database;
  before(async () => {
    db = await createTestDatabase();
    database = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    await ensureLogPartitions(database, NOON_MS);
  });
  after(async () => {
    await database.close();
    await db.drop();
  });

  const by = (actor: Actor | undefined, atMs = NOON_MS): AuditContext => ({ ...operatorContext(atMs), actor });
  const rowsOf = async (tenantId: string): Promise<string[]> => {
    const { rows } = await db.owner.query<{ row: string }>(
      `SELECT concat_ws(' ', day, actor_type, actor_id, entity_type, operation, outcome, sum(count)) AS row FROM log_counts
       WHERE tenant_id = $1 GROUP BY day, actor_type, actor_id, entity_type, operation, outcome
       ORDER BY day, actor_type, actor_id, entity_type, operation, outcome`,
      [tenantId],
    );
    return rows.map(({ row }) => row);
  };
  const slotsOf = async (tenantId: string): Promise<number[]> => {
    const { rows } = await db.owner.query<{ slot: number }>(
      'SELECT DISTINCT slot FROM log_counts WHERE tenant_id = $1 ORDER BY slot',
      [tenantId],
    );
    return rows.map(({ slot }) => slot);
  };

  it('grow by day in UTC, actor, kind and outcome, with sessions as one actor and nobody as another', async () => {
    const [tenantId, id] = [newId(), newId()];
    const midnight = Date.UTC(2030, 0, 16);
    await database.write(tenantId, async (tx) => {
      await recordAll(tx, by({ type: 'application', id }), [read, read, created, read]);
      await record(tx, by({ type: 'application', id }, midnight - 1), denied);
      await record(tx, by({ type: 'user', id }, midnight), read);
      await record(tx, by({ type: 'session', id: newId() }), read);
      await record(tx, by({ type: 'session', id: newId() }), read);
      await record(tx, by(undefined), created);
    });
    assert.deepEqual(await rowsOf(tenantId), [
      `2030-01-15  ${NO_ACTOR_ID} token create success 1`,
      `2030-01-15 application ${id} card read success 3`,
      `2030-01-15 application ${id} token create success 1`,
      `2030-01-15 application ${id} token denied denied 1`,
      `2030-01-15 session ${NO_ACTOR_ID} card read success 2`,
      `2030-01-16 user ${id} card read success 1`,
    ]);
  });

  it('do not count an entry that is rolled back, and count its neighbours in the batch once', async () => {
    const [tenantId, other] = [newId(), newId()];
    const outcomes = await Promise.allSettled([
      database.write(tenantId, (tx) => record(tx, by(undefined), created)),
      database.write(tenantId, async (tx) => {
        await record(tx, by(undefined), read);
        throw new TypeError('no');
      }),
      database.append(other, (tx) => record(tx, by(undefined), read)),
      // No month of the log has it, so the entry itself is refused.
      database.append(other, (tx) => record(tx, by(undefined, Date.UTC(2031, 5, 1)), read)),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected'],
    );
    assert.deepEqual(await rowsOf(tenantId), [`2030-01-15  ${NO_ACTOR_ID} token create success 1`]);
    assert.deepEqual(await rowsOf(other), [`2030-01-15  ${NO_ACTOR_ID} card read success 1`]);
  });

  it('are exact with two processes of two lanes each at once, also where the processes share slots', async () => {
    const [tenantId, neighbour, id] = [newId(), newId(), newId()];
    const processes = [0, 2, 8].map((laneBase) =>
      createDatabase({
        target: db.target,
        isDistributed: db.isDistributed,
        clock: systemClock,
        laneBase,
        connections: { readMax: 1, writeMax: 2 },
      }),
    );
    const [rounds, each] = [30, 8];
    const act = (one: Database, tenant: string) =>
      one.append(tenant, (tx) => recordAll(tx, by({ type: 'application', id }), [read, read, created]));
    for (let round = 0; round < rounds; round += 1) {
      const acts = processes.flatMap((one) =>
        Array.from({ length: each }, (_, n) => act(one, n % 4 === 0 ? neighbour : tenantId)),
      );
      await Promise.all(acts);
    }
    await Promise.all(processes.map((one) => one.close()));
    const expected = (acts: number) => [
      `2030-01-15 application ${id} card read success ${2 * acts}`,
      `2030-01-15 application ${id} token create success ${acts}`,
    ];
    const all = rounds * each * processes.length;
    assert.deepEqual(await rowsOf(tenantId), expected(all * 0.75));
    assert.deepEqual(await rowsOf(neighbour), expected(all * 0.25));
    const slots = new Set(await slotsOf(tenantId));
    assert.ok(slots.size >= 2 && [...slots].every((slot) => slot < 4), `slots ${[...slots]}: 8 and 9 are 0 and 1`);
  });

  it('wait for nobody who holds a counter of another lane', async () => {
    const tenantId = newId();
    const [first, second] = [0, 1].map((laneBase) =>
      createDatabase({
        target: db.target,
        isDistributed: db.isDistributed,
        clock: systemClock,
        laneBase,
        connections: { readMax: 1, writeMax: 1 },
      }),
    );
    assert.ok(first && second);
    await first.append(tenantId, (tx) => record(tx, by(undefined), read));
    try {
      await db.owner.query('BEGIN');
      await db.owner.query('SELECT FROM log_counts WHERE tenant_id = $1 AND slot = 0 FOR UPDATE', [tenantId]);
      await second.append(tenantId, (tx) => record(tx, by(undefined), read));
      assert.deepEqual(await slotsOf(tenantId), [0, 1]);
    } finally {
      await db.owner.query('ROLLBACK');
      await Promise.all([first.close(), second.close()]);
    }
  });
});
