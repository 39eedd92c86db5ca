// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ensureLogPartitions } from '../audit/partitions.js';
import { systemClock } from '../kernel/clock.js';
import { createDatabase } from '../storage/database.js';
import { COORDINATOR_TABLES } from '../storage/distribution/plan.js';
import { TABLES_WITHOUT_TENANT } from './isolation-pair.js';
import type { TestDatabase } from './test-database.js';
import { createTestDatabase } from './test-database.js';

interface Key {
  readonly name: string;
  readonly kind: 'unique' | 'reference' | 'exclusion';
  /** Columns of the key, null for an expression. */
  readonly columns: readonly (string | null)[];
  readonly target: string | null;
  readonly target_columns: readonly (string | null)[] | null;
  readonly table: string;
}

/** The column that says whose row it is. */
const tenantColumn = (table: string): string => (table === 'tenants' ? 'id' : 'tenant_id');

/** Every key of the live schema, of partitions too, that does not lead with the tenant. */
async function keysThatDoNotLead(db: TestDatabase): Promise<{ seen: Key[]; wrong: string[] }> {
  const { rows } = await db.owner.query<Key>(
    `WITH ours AS (SELECT oid, relname FROM pg_class
                   WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relname = ANY ($1))
     SELECT i.relname AS name, ours.relname AS table, CASE WHEN x.indisexclusion THEN 'exclusion' ELSE 'unique' END AS kind,
            ARRAY(SELECT a.attname::text FROM unnest(x.indkey::smallint[]) WITH ORDINALITY AS k (n, place)
                  LEFT JOIN pg_attribute a ON a.attrelid = ours.oid AND a.attnum = k.n AND k.n > 0
                  WHERE k.place <= x.indnkeyatts ORDER BY k.place) AS columns,
            NULL AS target, NULL::text[] AS target_columns
     FROM ours JOIN pg_index x ON x.indrelid = ours.oid AND (x.indisunique OR x.indisexclusion)
     JOIN pg_class i ON i.oid = x.indexrelid
     UNION ALL
     SELECT c.conname, ours.relname, 'reference',
            ARRAY(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY AS k (n, place)
                  JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.n ORDER BY k.place),
            t.relname,
            ARRAY(SELECT a.attname::text FROM unnest(c.confkey) WITH ORDINALITY AS k (n, place)
                  JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.n ORDER BY k.place)
     FROM ours JOIN pg_constraint c ON c.conrelid = ours.oid AND c.contype = 'f' JOIN pg_class t ON t.oid = c.confrelid`,
    [TABLES_WITHOUT_TENANT],
  );
  const wrong = rows.filter((key) => !leads(key)).map(({ table, name }) => `${table}.${name}`);
  return { seen: rows, wrong: wrong.sort() };
}

function leads({ table, kind, columns, target, target_columns }: Key): boolean {
  // A copy of a small table stands on every server, so a reference to it stays on its own.
  // What distribution gives up, because no server could hold its rows to it.
  if (kind === 'reference' && target === 'users') return true;
  if (columns[0] !== tenantColumn(table)) return false;
  return kind !== 'reference' || target_columns?.[0] === tenantColumn(target ?? '');
}

describe('the live schema, spread by tenant', () => {
  let db: TestDatabase;
  before(async () => {
    db = await createTestDatabase();
    const database = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    await ensureLogPartitions(database, systemClock.nowMs());
    await database.close();
  });
  after(() => db.drop());

  it('every unique and every foreign key of tenant data leads with the tenant, on partitions too, without exception', async () => {
    const { seen, wrong } = await keysThatDoNotLead(db);
    assert.deepEqual(wrong, []);
    assert.ok(seen.filter(({ kind }) => kind === 'unique').length >= 16);
    assert.ok(seen.filter(({ kind }) => kind === 'reference').length >= 6);
    assert.ok(
      seen.some(({ table }) => /^logs_\d{4}_\d\d$/.test(table)),
      'partitions were looked at',
    );
    assert.deepEqual(
      seen
        .filter(({ target }) => target === 'users')
        .map(({ table }) => table)
        .sort(),
      ['members', 'tenants'],
    );
  });

  it('tables without a tenant are these few, each with its reason and its place', async () => {
    const { rows } = await db.owner.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
         AND relname <> 'tenants' AND NOT EXISTS (
           SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id' AND attnotnull) ORDER BY 1`,
    );
    const names = rows.map(({ name }) => name);
    assert.deepEqual(names, TABLES_WITHOUT_TENANT);
    const named = Object.keys(COORDINATOR_TABLES).filter((name) => name !== 'credential_directory');
    assert.deepEqual(names, named.sort());
    for (const why of Object.values(COORDINATOR_TABLES)) assert.ok(why.length > 20);
  });

  for (const [what, sql, found] of [
    [
      'a unique index on another column first',
      'CREATE UNIQUE INDEX bad ON sessions (hash, tenant_id)',
      ['sessions.bad'],
    ],
    ['a unique index on an expression', 'CREATE UNIQUE INDEX bad ON tokens (lower(id))', ['tokens.bad']],
    ['a partial unique index', 'CREATE UNIQUE INDEX bad ON tokens (id) WHERE expires_at IS NULL', ['tokens.bad']],
    [
      'the tenant only included, not a key',
      'CREATE UNIQUE INDEX bad ON sessions (hash) INCLUDE (tenant_id)',
      ['sessions.bad'],
    ],
    [
      'a unique constraint',
      'ALTER TABLE token_groups ADD CONSTRAINT bad UNIQUE (group_id, slot)',
      ['token_groups.bad'],
    ],
    [
      'a reference across tenants',
      'CREATE TABLE stray (tenant_id uuid NOT NULL, other uuid, id uuid, PRIMARY KEY (tenant_id, id), CONSTRAINT bad FOREIGN KEY (other, id) REFERENCES applications (tenant_id, id))',
      ['stray.bad'],
    ],
  ] as const) {
    it(`the look finds ${what}`, async () => {
      await db.owner.query('BEGIN');
      try {
        await db.owner.query(sql);
        assert.deepEqual((await keysThatDoNotLead(db)).wrong, found);
      } finally {
        await db.owner.query('ROLLBACK');
      }
    });
  }
});
