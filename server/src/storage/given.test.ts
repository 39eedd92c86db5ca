import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { newId } from '../kernel/ids.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import { byteaArray, int4Array, int8Array, textArray, timestampArray, uuidArray } from './binary-array.js';
import { askedPartsOf, bulkWrite } from './bulk.js';
import { givenInsert } from './given.js';
import type { Value } from './statement.js';

const TENANT = newId();
const TABLE = `
  CREATE TABLE things (tenant_id uuid, id text, at timestamptz, mark bytea, size int, count bigint, other uuid, doubled int,
                       PRIMARY KEY (tenant_id, id))`;
const INSERT = givenInsert<never>('insert_things', {
  into: 'things',
  columns: [...['tenant_id uuid', 'id text', 'at timestamptz', 'mark bytea', 'size int', 'count bigint'], 'other uuid'],
  // One is made of its own value, one of another by its bare name.
  made: { size: 'given.size + 1', doubled: 'size * 2' },
  end: 'ON CONFLICT (tenant_id, id) DO UPDATE SET count = things.count + EXCLUDED.count RETURNING id',
});

interface Thing {
  readonly id: string;
  readonly atMs: number | null;
  readonly mark: Buffer | null;
  readonly size: number;
  readonly count: number;
  readonly other: string | null;
}

function columnsOf(things: readonly Thing[]): Value[] {
  return [
    uuidArray(things.map(() => TENANT)),
    textArray(things.map(({ id }) => id)),
    timestampArray(things.map(({ atMs }) => atMs)),
    byteaArray(things.map(({ mark }) => mark)),
    int4Array(things.map(({ size }) => size)),
    int8Array(things.map(({ count }) => count)),
    uuidArray(things.map(({ other }) => other)),
  ];
}

const THINGS = fc.uniqueArray(
  fc.record({
    id: fc.string({ unit: 'grapheme', maxLength: 9 }).filter((text) => !text.includes('\0')),
    atMs: fc.option(fc.integer({ min: 0, max: 4_000_000_000_000 })),
    mark: fc.option(fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))),
    size: fc.integer({ min: -1_000, max: 1_000_000 }),
    count: fc.integer({ min: 0, max: 2 ** 40 }),
    other: fc.option(fc.uuid()),
  }),
  { minLength: 1, maxLength: 22, selector: ({ id }) => id },
);

const BULK = bulkWrite<Thing>(INSERT, 1, columnsOf);
/** Rows and answers of one statement are never mixed with another's. */
const parts = (things: readonly Thing[]) => askedPartsOf(BULK as never, things, TENANT);
const thing = (n: number): Thing => ({ id: `n${n}`, atMs: n, mark: null, size: n, count: n, other: null });
const some = (count: number): Thing[] => Array.from({ length: count }, (_, n) => thing(n));

describe('rows that are given, for a distributed database', () => {
  let db: TestDatabase;
  before(async () => {
    db = await createTestDatabase();
    await db.owner.query(TABLE);
  });
  after(() => db.drop());

  /** What stands there after statements, which are then undone. */
  async function storedBy(asked: readonly { readonly text: string; readonly values: readonly Value[] }[]) {
    await db.owner.query('BEGIN');
    try {
      const returned: string[] = [];
      for (const { text, values } of asked) {
        const { rows } = await db.owner.query<{ id: string }>(text, [...values]);
        returned.push(...rows.map(({ id }) => id));
      }
      const { rows } = await db.owner.query('SELECT * FROM things ORDER BY id');
      return { rows, returned };
    } finally {
      await db.owner.query('ROLLBACK');
    }
  }

  it('as values they are stored as by the statement that takes columns', () =>
    fc.assert(
      fc.asyncProperty(THINGS, async (things) => {
        const asValues = parts(things).map(({ statement, values }) => ({ text: statement.text, values }));
        const expected = await storedBy([{ text: INSERT.text, values: columnsOf(things) }]);
        assert.equal(expected.rows.length, things.length);
        // Those of many rows are columns still, and name a table that only a distributed database reads with them.
        if (things.length <= 20) assert.deepEqual(await storedBy(asValues), expected);
      }),
      { numRuns: 60 },
    ));

  it('each number of rows up to ten is a statement of its own, twenty are two, and more are sent as columns', () => {
    const namesOf = (count: number) => parts(some(count)).map(({ statement }) => statement.name);
    assert.deepEqual(namesOf(1), ['insert_things_of_1']);
    assert.deepEqual(namesOf(10), ['insert_things_of_10']);
    assert.deepEqual(namesOf(11), ['insert_things_of_10', 'insert_things_of_1']);
    assert.deepEqual(namesOf(20), ['insert_things_of_10', 'insert_things_of_10']);
    assert.deepEqual(namesOf(21), ['insert_things']);
    const [first, again] = [parts(some(3))[0]?.statement, parts(some(3))[0]?.statement];
    assert.ok(first);
    assert.equal(first, again);
  });

  it('the tenant is the first value, once, whatever the rows say', () => {
    const [part] = parts(some(2));
    assert.equal(part?.values[0], TENANT);
    assert.equal(part?.values.length, 1 + 2 * 6);
    assert.equal(part?.statement.text.match(/\$1::uuid/g)?.length, 2);
  });

  it('no rows and many are sent as columns, behind the tenant', () => {
    for (const count of [0, 21]) {
      const [part, ...others] = parts(some(count));
      assert.equal(others.length, 0);
      assert.equal(part?.statement, INSERT);
      assert.deepEqual(part?.values, [TENANT, ...columnsOf(some(count)).slice(1)]);
    }
  });

  it('a server alone is asked in the same words as ever, with a tenant a row', () => {
    const [part, ...others] = askedPartsOf(BULK as never, some(2), undefined);
    assert.equal(others.length, 0);
    assert.deepEqual(part, { statement: INSERT, values: columnsOf(some(2)) });
    assert.match(
      INSERT.text,
      /^INSERT INTO things \([^)]*\) SELECT given\.tenant_id, given\.id, .* FROM unnest\(\$1::uuid\[\]/,
    );
  });
});
