import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FIND_KEPT_ANSWERS } from '../../kept-answers/queries.js';
import { newId } from '../../kernel/ids.js';
import { ENTER_PLANNED_SCOPE } from '../../storage/scope.js';
import { ONE_SERVER_ALONE } from '../../testing/cluster-only.js';
import type { TestDatabase } from '../../testing/test-database.js';
import { createTestDatabase } from '../../testing/test-database.js';
import type { RanPlan } from '../plan-rows-fixture.js';
import { rowsRead } from '../plan-rows-fixture.js';
import { FIND_IDS, FIND_MANY_TOKENS, FIND_TOKENS } from '../queries.js';

const ROWS = 20_000;
const NAMES = ['t300', 't9000', 't20000'];

describe('looks that callers share, planned while the tables were empty', { skip: ONE_SERVER_ALONE }, () => {
  const tenantId = newId();
  let db: TestDatabase;
  const keys = NAMES.map((name) => `'${name}'`).join(', ');
  const looks = [
    ...[FIND_TOKENS, FIND_MANY_TOKENS, FIND_IDS].map(({ statement }) => ({
      ...{ statement, types: 'uuid[], text[]' },
      names: `ARRAY[${keys}]`,
    })),
    {
      ...{ statement: FIND_KEPT_ANSWERS.statement, types: 'uuid[], bytea[]' },
      names: `ARRAY[${keys}]::bytea[]`,
    },
  ];

  before(async () => {
    db = await createTestDatabase();
    await db.owner.query('SET session_replication_role = replica');
    for (const { statement, types } of looks)
      await db.owner.query(`PREPARE ${statement.name} (${types}) AS ${statement.text}`);
    for (const name of ['tokens', 'idempotency_keys'])
      await db.owner.query(`ALTER TABLE ${name} SET (autovacuum_enabled = off)`);
  });
  after(() => db.drop());

  async function inScope<T>(act: () => Promise<T>): Promise<T> {
    await db.owner.query('BEGIN');
    try {
      await db.owner.query(ENTER_PLANNED_SCOPE.text, ['strongroom_app', tenantId, '5000', '5000', '5000']);
      return await act();
    } finally {
      await db.owner.query('ROLLBACK');
    }
  }

  const tenants = `ARRAY[${NAMES.map(() => `'${tenantId}'`).join(', ')}]::uuid[]`;
  const executed = ({ statement, names }: (typeof looks)[number]) => `EXECUTE ${statement.name} (${tenants}, ${names})`;

  it('read no more than the rows they name when the tables have grown, and are not planned again', async () => {
    await inScope(async () => {
      for (const look of looks) await db.owner.query(executed(look));
    });
    await db.owner.query(
      `INSERT INTO tokens (tenant_id, id, type, group_id, created_at, tie, terms, data_version, sealed)
       SELECT $1, 't' || n, 'card', $1, '2030-01-31Z', gen_random_uuid(), '\\x00', 1, '\\x00'
       FROM generate_series(1, ${ROWS}) AS n`,
      [tenantId],
    );
    await db.owner.query(
      `INSERT INTO idempotency_keys (tenant_id, id, status, sealed, expires_at)
       SELECT $1, convert_to('t' || n, 'UTF8'), 201, '\\x00', '2030-02-01Z' FROM generate_series(1, ${ROWS}) AS n`,
      [tenantId],
    );
    await inScope(async () => {
      for (const look of looks) {
        const { rows } = await db.owner.query<{ 'QUERY PLAN': [{ Plan: RanPlan }] }>(
          `EXPLAIN (ANALYZE, FORMAT JSON) ${executed(look)}`,
        );
        const plan = rows[0]?.['QUERY PLAN'][0].Plan;
        assert.ok(plan);
        assert.deepEqual([plan['Actual Rows'], rowsRead(plan)], [NAMES.length, NAMES.length], look.statement.name);
      }
    });
    const { rows } = await db.owner.query<{ name: string; custom: string }>(
      'SELECT name, custom_plans AS custom FROM pg_prepared_statements ORDER BY name',
    );
    const names = looks.map(({ statement }) => statement.name).sort();
    assert.deepEqual(
      rows.filter(({ name }) => names.includes(name)),
      names.map((name) => ({ name, custom: '0' })),
    );
  });
});
