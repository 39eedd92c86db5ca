import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import { byteaArray, int4Array, int8Array, textArray, timestampArray, uuidArray } from './binary-array.js';

describe('a list in binary form', () => {
  let db: TestDatabase;
  before(async () => {
    db = await createTestDatabase();
  });
  after(() => db.drop());

  /** What the server makes of it, each element as text. */
  async function readBack(type: string, encoded: Buffer, shown = 'element::text'): Promise<(string | null)[]> {
    const sql = `SELECT ${shown} AS shown FROM unnest($1::${type}[]) WITH ORDINALITY AS given (element, n) ORDER BY n`;
    return (await db.owner.query<{ shown: string | null }>(sql, [encoded])).rows.map((row) => row.shown);
  }

  const holds = <T>(type: string, element: fc.Arbitrary<T>, encode: (values: readonly T[]) => Buffer, shown?: string) =>
    fc.assert(
      fc.asyncProperty(fc.array(element, { maxLength: 20 }), async (values) => {
        const expected = values.map((value) =>
          value === null ? null : Buffer.isBuffer(value) ? value.toString('hex') : String(value),
        );
        assert.deepEqual(await readBack(type, encode(values), shown), expected);
      }),
      { numRuns: 60 },
    );

  it('gives text back, whatever it holds, and null as null', () =>
    holds('text', fc.option(fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'))), textArray));

  it('gives UUIDs back in lower case', async () => {
    await holds('uuid', fc.option(fc.uuid()), uuidArray);
    assert.deepEqual(await readBack('uuid', uuidArray(['ABCDEF01-2345-6789-ABCD-EF0123456789'])), [
      'abcdef01-2345-6789-abcd-ef0123456789',
    ]);
  });

  it('gives bytes back', () =>
    holds(
      'bytea',
      fc.option(fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes))),
      byteaArray,
      "encode(element, 'hex')",
    ));

  it('gives whole numbers back up to the last a number holds', async () => {
    await holds('int', fc.integer({ min: -2_147_483_648, max: 2_147_483_647 }), int4Array);
    await holds('bigint', fc.maxSafeInteger(), int8Array);
  });

  it('gives instants back to the millisecond, before and after 2000', () =>
    holds(
      'timestamptz',
      fc.option(fc.integer({ min: Date.UTC(1, 0, 1) - 62_000_000_000_000, max: 253_402_300_799_999 })),
      timestampArray,
      '(extract(epoch FROM element) * 1000)::bigint::text',
    ));

  it('refuses what is no UUID and no instant, instead of sending bytes that nobody wrote', () => {
    const good = '0f6f1c0e-6d0b-4c57-9a35-5f1f3c2a9d10';
    const odd = ['', '-', 'a', good.slice(1), `${good}0`, `${good}-0`, good.replaceAll('-', ''), `{${good.slice(2)}}`];
    const wrongDigits = ['g', 'z', ' ', '\u0000', '\u0661', '/', ':', '@'].map((digit) => digit + good.slice(1));
    const misplaced = `${good.slice(0, 7)}-${good.slice(7, 8)}${good.slice(9)}0`;
    for (const text of [...odd, ...wrongDigits, misplaced]) {
      assert.throws(() => uuidArray([good, text, good]), RangeError, JSON.stringify(text));
    }
    for (const instant of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      assert.throws(() => timestampArray([0, instant]), RangeError);
    }
  });
});
