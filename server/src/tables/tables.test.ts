// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SLICES, TABLES, TABLES_OF_PEOPLE } from '../resources.js';
import { TABLES_WITHOUT_TENANT } from '../testing/isolation-pair.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import { defineTable, inPurgeOrder } from './table.js';

describe('the records of tables are what the database has', () => {
  let db: TestDatabase;
  before(async () => {
    db = await createTestDatabase();
  });
  after(() => db.drop());

  const names = async (sql: string, values: unknown[] = []): Promise<string[]> =>
    (await db.owner.query<{ name: string }>(sql, values)).rows.map(({ name }) => name);

  it('each table of tenant data has one record, and each record its table', async () => {
    const stored = await names(
      `SELECT relname::text AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
         AND relnamespace = 'public'::regnamespace AND relname <> 'tenants' AND NOT relname = ANY ($1) ORDER BY 1`,
      [TABLES_WITHOUT_TENANT],
    );
    assert.deepEqual(TABLES.map(({ name }) => name).sort(), stored);
  });

  it('each says which tables it refers to, so that the purge takes them in an order that works', async () => {
    const found = await db.owner.query<{ name: string; target: string }>(
      `SELECT c.relname::text AS name, r.relname::text AS target FROM pg_constraint k
       JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
       WHERE k.contype = 'f' AND NOT c.relispartition AND r.relname NOT IN ('tenants', 'users')`,
    );
    const stored = new Set(found.rows.map(({ name, target }) => `${name} -> ${target}`));
    const declared = TABLES.flatMap(({ name, refersTo = [] }) => refersTo.map((target) => `${name} -> ${target}`));
    assert.deepEqual(declared.sort(), [...stored].sort());
    const order = inPurgeOrder(TABLES).map(({ name }) => name);
    for (const { name, target } of found.rows) assert.ok(order.indexOf(name) < order.indexOf(target), name);
    assert.equal(order.length, TABLES.filter(({ fate }) => fate === 'with its tenant').length);
  });

  for (const [column, kind] of [
    ['sealed', 'sealed'],
    ['mac', 'macs'],
  ] as const) {
    it(`each with a column ${column} says how it is walked through`, async () => {
      const stored = await names(
        `SELECT c.relname::text AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
         WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attname = $1 AND NOT c.relname = ANY ($2) ORDER BY 1`,
        [column, TABLES_WITHOUT_TENANT],
      );
      const declared = TABLES.filter((table) => table[kind] !== undefined).map(({ name }) => name);
      assert.deepEqual(declared.sort(), stored);
    });
  }

  it('each of people with something sealed, or a MAC, says how it is walked through; so do passwords', async () => {
    const stored = await names(
      `SELECT DISTINCT c.relname::text AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       WHERE c.relkind = 'r' AND c.relname = ANY ($1) AND (a.attname ~ 'mac$' OR a.attname = 'sealed') ORDER BY 1`,
      // Whoever opens the database opens the check row.
      [TABLES_WITHOUT_TENANT.filter((name) => name !== 'root_key_check')],
    );
    assert.deepEqual(TABLES_OF_PEOPLE.map(({ name }) => name).sort(), [...stored, 'user_passwords'].sort());
  });

  it('a rotation that an older version began goes on: sealed tables keep their order', () => {
    const sealed = TABLES.filter((table) => table.sealed).map(({ name }) => name);
    assert.deepEqual(sealed.slice(0, 2), ['tokens', 'idempotency_keys']);
  });
});

describe('the order of the purge', () => {
  it('is refused where tables refer to each other', () => {
    const circle = [
      defineTable({ name: 'a', fate: 'with its tenant', refersTo: ['b'] }),
      defineTable({ name: 'b', fate: 'with its tenant', refersTo: ['a'] }),
    ];
    assert.throws(() => inPurgeOrder(circle), /circle/);
  });

  it('leaves out what is kept as long as the log', () => {
    assert.deepEqual(inPurgeOrder([defineTable({ name: 'kept', fate: 'after its log' })]), []);
  });
});

describe('the records of slices', () => {
  it('have names and tables that nobody else has, and caches that something empties', () => {
    const slices = SLICES.map(({ name }) => name);
    assert.equal(new Set(slices).size, slices.length);
    const tables = TABLES.map(({ name }) => name);
    assert.equal(new Set(tables).size, tables.length);
    const caches = SLICES.flatMap((slice) => slice.caches ?? []);
    for (const { name, emptiedBy } of caches) assert.ok(emptiedBy.length > 0, `${name} is emptied by something`);
  });
});
