import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type pg from 'pg';
import { newId } from '../kernel/ids.js';
import { migrate } from '../storage/migrate.js';
import type { EmptyDatabase } from '../testing/empty-database.js';
import { connectAs, createEmptyDatabase } from '../testing/empty-database.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import { NO_ACTOR_ID } from './count-queries.js';

/** The last schema without counters. */
const BEFORE = 29;
const [TENANT, DELETED, ACTOR] = [newId(), newId(), newId()];

describe('a log from before its entries were counted', () => {
  let beside: TestDatabase;
  let empty: EmptyDatabase;
  let owner: pg.Client;
  let plain: string;
  before(async () => {
    beside = await createTestDatabase();
    empty = await createEmptyDatabase(beside);
    // Row-level security binds an owner that is no superuser.
    plain = `plain_${empty.login}`;
    const working = ['strongroom_app', 'strongroom_system', 'strongroom_purge', 'strongroom_people'].join(', ');
    await empty.owner.query(`CREATE ROLE ${plain} LOGIN CREATEROLE NOSUPERUSER NOINHERIT`);
    await empty.owner.query(`GRANT ${working} TO ${plain} WITH ADMIN OPTION`);
    await empty.owner.query(
      `ALTER DATABASE ${'database' in empty.target ? empty.target.database : ''} OWNER TO ${plain}`,
    );
    await empty.owner.query(`ALTER SCHEMA public OWNER TO ${plain}`);
    const ownerTarget = { ...empty.ownerTarget, user: plain };
    const options = { owner: ownerTarget, login: empty.login, createLogin: true };
    await migrate({ ...options, upTo: BEFORE });
    owner = await connectAs(ownerTarget);
    await fill();
    await migrate(options);
  });
  after(async () => {
    await owner.end();
    await empty.drop();
    await beside.owner.query(`DROP ROLE IF EXISTS ${plain}`);
    await beside.drop();
  });

  async function fill(): Promise<void> {
    await empty.owner.query('INSERT INTO users (id, created_at) VALUES ($1, now())', [TENANT]);
    for (const id of [TENANT, DELETED]) {
      await empty.owner.query(
        `INSERT INTO tenants (id, owner_id, name, created_at, deleted_at) VALUES ($1, $2, 'T', now(), $3)`,
        [id, TENANT, id === DELETED ? new Date() : null],
      );
      for (const month of [500, 40, 0]) {
        await empty.owner.query(`SELECT ensure_log_partitions(now() - $1::int * interval '1 day', 3)`, [month]);
      }
      await empty.owner.query(
        `INSERT INTO logs (tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message, outcome)
         SELECT $1, date_trunc('day', now(), 'UTC') - days * interval '1 day', gen_random_uuid(), actor_type,
           CASE WHEN actor_type = 'application' THEN $2::uuid WHEN actor_type = 'session' THEN gen_random_uuid() END,
           'card', 'e', 'read', 'm', outcome
         FROM (VALUES (0, 'application', 'success'), (0, 'application', 'success'), (0, 'application', 'denied'),
                      (1, 'session', 'success'), (1, 'session', 'success'), (40, NULL, 'success'),
                      (450, 'application', 'success')) AS given (days, actor_type, outcome)`,
        [id, ACTOR],
      );
    }
  }

  it('is counted by the migration, also by an owner whom row-level security binds, for tenants that are there', async () => {
    const { rows } = await empty.owner.query<{ row: string }>(
      `SELECT concat_ws(' ', (now() AT TIME ZONE 'UTC')::date - day, actor_type, actor_id, outcome, count) AS row
       FROM log_counts WHERE tenant_id = $1 ORDER BY day DESC, actor_type, outcome`,
      [TENANT],
    );
    assert.deepEqual(
      rows.map(({ row }) => row),
      [
        `0 application ${ACTOR} denied 1`,
        `0 application ${ACTOR} success 2`,
        `1 session ${NO_ACTOR_ID} success 2`,
        `40  ${NO_ACTOR_ID} success 1`,
      ],
    );
    const all = await empty.owner.query('SELECT FROM log_counts WHERE tenant_id <> $1', [TENANT]);
    assert.equal(all.rowCount, 0);
  });

  it('is hidden from its owner again afterwards, and so are the counters', async () => {
    for (const table of ['logs', 'log_counts']) assert.equal((await owner.query(`SELECT FROM ${table}`)).rowCount, 0);
  });
});
