import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import { readMoment, VALUE_TYPES } from './value-types.js';

const TIMESTAMPTZ = 1184;
const ofDriver = pg.types.getTypeParser(TIMESTAMPTZ, 'text');
const ours = VALUE_TYPES.getTypeParser(TIMESTAMPTZ, 'text');

/** As PostgreSQL writes it: without zeros at the end of the fraction. */
function written(ms: number): string {
  const iso = new Date(ms).toISOString();
  const seconds = iso.slice(11, 19);
  const fraction = iso.slice(20, 23).replace(/0+$/, '');
  return `${iso.slice(0, 10)} ${seconds}${fraction === '' ? '' : `.${fraction}`}+00`;
}

test('every millisecond from year 1000 to 9999 is read as the driver reads it', () => {
  const range = { min: Date.UTC(1000, 0, 1), max: Date.UTC(9999, 11, 31) };
  fc.assert(
    fc.property(fc.integer(range), (ms) => {
      const text = written(ms);
      assert.equal(readMoment(text)?.getTime(), ms, text);
      assert.deepEqual(ours(text), ofDriver(text));
    }),
    { numRuns: 2_000 },
  );
});

test('what a server writes otherwise is left to the driver', () => {
  const texts = [
    '2026-11-15 09:37:14.123456+00',
    '2026-11-15 09:37:14+05:30',
    '2026-11-15 09:37:14.5-03',
    '0044-03-15 12:00:00+00 BC',
    '12026-11-15 09:37:14+00',
    'infinity',
    '-infinity',
  ];
  for (const text of texts) {
    assert.equal(readMoment(text), undefined, text);
    assert.deepEqual(ours(text), ofDriver(text), text);
  }
});
