import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDate, monthsBefore, parseClientDate, parseDate } from './dates.js';

const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');
const anyInstant = fc.integer({ min: EARLIEST, max: LATEST });

function assertReads(text: string, iso: string, read = parseDate): void {
  const ms = read(text);
  assert.equal(ms === null ? null : new Date(ms).toISOString(), iso, text);
}

function assertRefuses(texts: readonly string[], read = parseDate): void {
  for (const text of texts) assert.equal(read(text), null, text);
}

test('a date is written in UTC with milliseconds and a numeric offset', () => {
  assert.equal(formatDate(Date.UTC(2024, 1, 13, 9, 30, 0, 125)), '2024-02-13T09:30:00.125+00:00');
  assert.equal(formatDate(0), '1970-01-01T00:00:00.000+00:00');
  assert.equal(formatDate(EARLIEST), '0001-01-01T00:00:00.000+00:00');
  assert.equal(formatDate(LATEST), '9999-12-31T23:59:59.999+00:00');
  for (const ms of [EARLIEST - 1, LATEST + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => formatDate(ms), /assertion failed/);
  }
});

test('what is written reads back as the same instant over the whole range', () => {
  fc.assert(fc.property(anyInstant, (ms) => assert.equal(parseDate(formatDate(ms)), ms)));
  for (const ms of [EARLIEST, EARLIEST + 1, -1, 0, 1, LATEST]) assert.equal(parseDate(formatDate(ms)), ms);
});

test('calendar, ordinal and week dates are read in basic and extended form', () => {
  for (const text of ['2024-02-13', '20240213', '2024-044', '2024044', '2024-W07-2', '2024W072', '2024-w07-2']) {
    assertReads(text, '2024-02-13T00:00:00.000Z');
  }
});

test('every day has the same number in calendar, ordinal and week notation', () => {
  fc.assert(
    fc.property(anyInstant, (instantMs) => {
      const date = new Date(instantMs);
      const midnight = date.setUTCHours(0, 0, 0, 0);
      const [year = ''] = date.toISOString().split('-');
      const newYear = Date.parse(`${year}-01-01T00:00:00.000Z`);
      const dayOfYear = String((midnight - newYear) / 86_400_000 + 1).padStart(3, '0');
      const weekday = date.getUTCDay() || 7;
      // The Thursday of a week decides which year the week belongs to.
      const thursday = new Date(midnight + (4 - weekday) * 86_400_000);
      const weekYear = thursday.getUTCFullYear();
      const firstDay = Date.parse(`${String(weekYear).padStart(4, '0')}-01-01T00:00:00.000Z`);
      const week = Math.floor((thursday.getTime() - firstDay) / 86_400_000 / 7) + 1;
      const weekText = `${String(weekYear).padStart(4, '0')}-W${String(week).padStart(2, '0')}-${weekday}`;
      assert.equal(parseDate(date.toISOString().slice(0, 10)), midnight);
      assert.equal(parseDate(`${year}-${dayOfYear}`), midnight);
      if (weekYear <= 9999) assert.equal(parseDate(weekText), midnight, weekText);
    }),
  );
});

test('leap days, day 366 and week 53 exist only in the years that have them', () => {
  assertReads('2024-02-29', '2024-02-29T00:00:00.000Z');
  assertReads('2000-02-29', '2000-02-29T00:00:00.000Z');
  assertReads('2024-366', '2024-12-31T00:00:00.000Z');
  assertReads('2020-W53-7', '2021-01-03T00:00:00.000Z');
  assertReads('2009-W01-1', '2008-12-29T00:00:00.000Z');
  assertReads('0001-W01-1', '0001-01-01T00:00:00.000Z');
  assertRefuses(['2023-02-29', '1900-02-29', '2100-02-29', '2023-366', '2024-367', '2024-W53-1', '2021-W53-1']);
});

test('times are read in basic and extended form, down to the hour alone', () => {
  assertReads('2024-02-13T09', '2024-02-13T09:00:00.000Z');
  assertReads('2024-02-13T09:30', '2024-02-13T09:30:00.000Z');
  assertReads('2024-02-13T09:30:15', '2024-02-13T09:30:15.000Z');
  assertReads('20240213T0930', '2024-02-13T09:30:00.000Z');
  assertReads('20240213T093015', '2024-02-13T09:30:15.000Z');
  assertReads('2024-02-13t09:30:15z', '2024-02-13T09:30:15.000Z');
  assertReads('2024-W07-2T093015Z', '2024-02-13T09:30:15.000Z');
  assertReads('2024-02-13T23:59:59.999', '2024-02-13T23:59:59.999Z');
});

test('an offset moves the instant, and a space in its place is a plus sign', () => {
  for (const offset of ['+02', '+0200', '+02:00', ' 02', ' 0200', ' 02:00']) {
    assertReads(`2024-02-13T09:30:00${offset}`, '2024-02-13T07:30:00.000Z');
  }
  for (const offset of ['-05', '-0500', '-05:00']) {
    assertReads(`2024-02-13T22:30${offset}`, '2024-02-14T03:30:00.000Z');
  }
  assertReads('2024-03-01T00:00:00+23:59', '2024-02-29T00:01:00.000Z');
  assertReads('2024-02-13T09-00:00', '2024-02-13T09:00:00.000Z');
});

test('the same instant in another notation is the same number', () => {
  const offsetMinutes = fc.integer({ min: -1439, max: 1439 });
  const inner = fc.integer({ min: EARLIEST + 86_400_000, max: LATEST - 86_400_000 });
  fc.assert(
    fc.property(inner, offsetMinutes, (ms, offset) => {
      const local = new Date(ms + offset * 60_000).toISOString().slice(0, -1);
      const hours = String(Math.floor(Math.abs(offset) / 60)).padStart(2, '0');
      const minutes = String(Math.abs(offset) % 60).padStart(2, '0');
      const sign = offset < 0 ? '-' : '+';
      assert.equal(parseDate(`${local}${sign}${hours}:${minutes}`), ms);
      assert.equal(parseDate(`${local.replace('.', ',')}${sign}${hours}${minutes}`), ms);
      assert.equal(parseDate(`${local.replace(/[-:]/g, '')}${sign}${hours}${minutes}`), ms);
      if (sign === '+') assert.equal(parseDate(`${local} ${hours}:${minutes}`), ms);
    }),
  );
});

test('a fraction belongs to the last unit written', () => {
  assertReads('2024-02-13T09:30:00.5', '2024-02-13T09:30:00.500Z');
  assertReads('2024-02-13T09:30:00,125Z', '2024-02-13T09:30:00.125Z');
  assertReads('2024-02-13T09:30.5', '2024-02-13T09:30:30.000Z');
  assertReads('2024-02-13T0930,25+00', '2024-02-13T09:30:15.000Z');
  assertReads('2024-02-13T09.5', '2024-02-13T09:30:00.000Z');
});

test('a fraction finer than a millisecond rounds up, however small the rest', () => {
  assertReads('2024-02-13T09:30:00.125000000000000000000000000000', '2024-02-13T09:30:00.125Z');
  assertReads('2024-02-13T09:30:00.125000000000000000000000000001', '2024-02-13T09:30:00.126Z');
  assertReads('2024-02-13T09:30:00.0001', '2024-02-13T09:30:00.001Z');
  assertReads('2024-12-31T23:59:59.9999', '2025-01-01T00:00:00.000Z');
  assertReads('2024-02-28T23:59:59.9991Z', '2024-02-29T00:00:00.000Z');
});

test('impossible dates are refused', () => {
  assertRefuses(['2024-02-30', '2024-04-31', '2024-00-01', '2024-13-01', '2024-01-00', '2024-01-32', '2024-000']);
  assertRefuses(['2024-W00-1', '2024-W54-1', '2024-W07-0', '2024-W07-8']);
  assertRefuses(['2024-02-13T24:00', '2024-02-13T24:00:00', '2024-02-13T09:60', '2024-02-13T09:30:60']);
  assertRefuses(['2024-02-13T09:30+24:00', '2024-02-13T09:30+02:60', '2024-02-13T09:30-99']);
});

test('years outside 0001 to 9999 are refused, also when offset or rounding leads there', () => {
  assertRefuses(['0000-12-31', '0000-366', '0000-W01-1', '10000-01-01', '+12024-02-13', '-0001-01-01']);
  assertRefuses(['0001-01-01T00:00+00:01', '9999-12-31T23:59:59-00:01', '9999-12-31T23:59:59.9999', '9999-W52-6']);
  assertRefuses(['0000-12-31T23:59-02:00']);
});

test('partial dates and other notations are refused', () => {
  assertRefuses(['', '2024', '2024-02', '202402', '2024-W07', '2024W07', '24-02-13', '--02-13', 'now', '1707816600']);
  assertRefuses(['2024-0213', '202402-13', '2024-W072', '2024W07-2', '2024-2-13', '2024/02/13', '2/13/2024']);
  assertRefuses(['2024-02-13 09:30', '2024-02-13T', 'T09:30', '2024-02-13Z', '2024-02-13+02:00', '2024-02-13T9:30']);
  assertRefuses(['2024-02-13T09:3000', '2024-02-13T0930:00', '2024-02-13T09:30:', '2024-02-13T09:30:00.']);
  assertRefuses(['2024-02-13T09:30:00Z+00:00', '2024-02-13T09:30:00  02:00', '2024-02-13T09:30:00+2', '2024-02-13T.5']);
  assertRefuses([
    ' 2024-02-13',
    '2024-02-13\n',
    '2024-02-13T09:30Z ',
    '２０２４-02-13',
    `2024-02-13T00:00:00.${'0'.repeat(64)}`,
  ]);
});

test('random text and damaged dates never throw', () => {
  const alphabet = fc.constantFrom(...'0123456789-:+.,TtZzWw /AMPamp\n\u202f');
  const garbage = fc.array(alphabet, { maxLength: 70 }).map((characters) => characters.join(''));
  fc.assert(
    fc.property(fc.oneof(garbage, fc.string({ unit: 'binary' })), (text) => {
      for (const ms of [parseDate(text), parseClientDate(text)]) {
        assert.ok(ms === null || (Number.isInteger(ms) && ms >= EARLIEST && ms <= LATEST));
      }
    }),
    { numRuns: 5_000 },
  );
});

test('a client may write the month first, with a twelve-hour time', () => {
  const reads = (text: string, iso: string) => assertReads(text, iso, parseClientDate);
  reads('2/13/2024', '2024-02-13T00:00:00.000Z');
  reads('02/03/2024', '2024-02-03T00:00:00.000Z');
  reads('2/13/2024 9:30 AM', '2024-02-13T09:30:00.000Z');
  reads('2/13/2024 9:30:15 pm', '2024-02-13T21:30:15.000Z');
  reads('2/13/2024 9:30:15\u202fPM', '2024-02-13T21:30:15.000Z');
  reads('2/13/2024 12:00 AM', '2024-02-13T00:00:00.000Z');
  reads('2/13/2024 12:00 PM', '2024-02-13T12:00:00.000Z');
  reads('2/13/2024 9:30:00 AM +02:00', '2024-02-13T07:30:00.000Z');
  reads('2/13/2024 11:30 PM -05:00', '2024-02-14T04:30:00.000Z');
  reads('2024-02-13T09:30:00Z', '2024-02-13T09:30:00.000Z');
});

test('an impossible month-first date is refused', () => {
  assertRefuses(['2/30/2024', '13/2/2024', '0/1/2024', '1/0/2024', '1/1/0000', '2/13/24'], parseClientDate);
  assertRefuses(['2/13/2024 13:00 PM', '2/13/2024 0:30 AM', '2/13/2024 9:60 AM', '2/13/2024 9:30'], parseClientDate);
  assertRefuses(
    ['2/13/2024 9:30 AM +24:00', '2/13/2024 +02:00', '2/13/2024 9 AM', '12/31/9999 11:59 PM -00:01'],
    parseClientDate,
  );
});

test('so many months before is the same day and time, or the last day of a shorter month, also across years', () => {
  for (const [from, months, to] of [
    ['2041-02-15T12:34:56.789Z', 13, '2040-01-15T12:34:56.789Z'],
    ['2027-03-31T00:00:00.000Z', 13, '2026-02-28T00:00:00.000Z'],
    ['2025-03-29T23:59:59.999Z', 13, '2024-02-29T23:59:59.999Z'],
    ['2024-01-31T00:00:00.001Z', 1, '2023-12-31T00:00:00.001Z'],
    ['1970-01-31T06:00:00.000Z', 2, '1969-11-30T06:00:00.000Z'],
    ['1969-12-31T06:00:00.000Z', 1, '1969-11-30T06:00:00.000Z'],
  ] as const) {
    assert.equal(new Date(monthsBefore(Date.parse(from), months)).toISOString(), to);
  }
});
