import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatDate } from '../../kernel/dates.js';
import { AppError } from '../../kernel/errors.js';
import type { Query } from './parse.js';
import { parseQuery } from './parse.js';
import { queryArbitrary } from './search-fixture.js';

const DAY_MS = 86_400_000;
const FIRST_MS = Date.UTC(2024, 0, 1);

/** The same search without places, lists in lists taken apart. */
function shapeOf(query: Query): unknown {
  if (query.kind === 'not') return { not: shapeOf(query.part) };
  if (query.kind !== 'and' && query.kind !== 'or') return { ...query, at: 0 };
  return { [query.kind]: query.parts.map(shapeOf) };
}

/** Writes a search down, with a sign and a quotation of the writer's choice. */
function write(query: Query, not: string, isQuoted: boolean): string {
  const value = (text: string): string =>
    isQuoted || text === '' ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : text.replaceAll(/[^\w/*]/gu, '\\$&');
  switch (query.kind) {
    case 'all':
      return '';
    case 'not':
      return `${not}(${write(query.part, not, isQuoted)})`;
    case 'and':
    case 'or':
      return query.parts.map((part) => `(${write(part, not, isQuoted)})`).join(` ${query.kind.toUpperCase()} `);
    case 'metadata':
      return `metadata.${query.key.replaceAll(/[^\w]/g, '\\$&')}:${value(query.value)}`;
    case 'text':
      return `${query.field}:${value(query.value)}`;
    case 'dates': {
      const bound = (ms: number | undefined) => (ms === undefined ? '*' : formatDate(ms));
      return `${query.field}:[${bound(query.fromMs)} TO ${bound(query.beforeMs)}}`;
    }
  }
}

function failureOf(text: string): AppError {
  try {
    parseQuery(text);
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    return error;
  }
  assert.fail(`was read: ${text}`);
}

describe('a search text', () => {
  it('of nothing but white space is all tokens', () => {
    for (const text of ['', ' ', '\t\n  ']) assert.deepEqual(parseQuery(text), { kind: 'all' });
  });

  it('is read back as it was meant, however it was written', () => {
    const sign = fc.constantFrom('NOT ', 'NOT', '!', '-', '! ');
    fc.assert(
      fc.property(queryArbitrary, sign, fc.boolean(), (query, not, isQuoted) => {
        const text = write(query, not, isQuoted);
        let read: Query;
        try {
          read = parseQuery(text);
        } catch (error) {
          // Only what is too long, too deep or has too many terms may be refused.
          assert.ok(error instanceof AppError && /expected at most/.test(error.message), `${text}: ${error}`);
          return;
        }
        assert.deepEqual(shapeOf(read), shapeOf(query));
      }),
      { numRuns: 2_000 },
    );
  });

  it('binds NOT before AND before OR', () => {
    const term = (value: string) => ({ kind: 'text', at: 0, field: 'id', value });
    for (const [text, shape] of [
      ['id:a OR id:b AND id:c', { or: [term('a'), { and: [term('b'), term('c')] }] }],
      ['NOT id:a AND id:b', { and: [{ not: term('a') }, term('b')] }],
      ['-id:a OR !id:b', { or: [{ not: term('a') }, { not: term('b') }] }],
      ['(id:a OR id:b)AND(id:c)', { and: [{ or: [term('a'), term('b')] }, term('c')] }],
      ['  id:a\tAND\nid:b  ', { and: [term('a'), term('b')] }],
      ['id:AND OR id:-b', { or: [term('AND'), term('-b')] }],
      ['id:"a) OR (b" OR id:a\\ b', { or: [term('a) OR (b'), term('a b')] }],
    ] as const) {
      assert.deepEqual(shapeOf(parseQuery(text)), shape, text);
    }
  });

  it('takes a date as its day and a date-time as its millisecond, alone and as a bound', () => {
    const noon = '2024-01-01T12:00:00Z';
    const noonMs = FIRST_MS + DAY_MS / 2;
    for (const [text, fromMs, beforeMs] of [
      ['2024-01-01', FIRST_MS, FIRST_MS + DAY_MS],
      ['"2024-01-01"', FIRST_MS, FIRST_MS + DAY_MS],
      ['20240101', FIRST_MS, FIRST_MS + DAY_MS],
      [noon, noonMs, noonMs + 1],
      ['2024-01-01T14:00:00.000+02:00', noonMs, noonMs + 1],
      [`[${noon} TO ${noon}]`, noonMs, noonMs + 1],
      [`{${noon} TO *}`, noonMs + 1, undefined],
      [`[* TO ${noon}}`, undefined, noonMs],
      ['[2024-01-01 TO 2024-01-02]', FIRST_MS, FIRST_MS + 2 * DAY_MS],
      ['{2024-01-01 TO 2024-01-02}', FIRST_MS + DAY_MS, FIRST_MS + DAY_MS],
      ['[ "2024-01-01"  TO  * ]', FIRST_MS, undefined],
      ['[* TO *]', undefined, undefined],
    ] as const) {
      const read = parseQuery(`created_at:${text}`);
      assert.deepEqual(read, { kind: 'dates', at: 1, field: 'created_at', fromMs, beforeMs }, text);
    }
  });

  it('400 names the character it could not go on from, and what was expected there', () => {
    for (const [text, place, expected] of [
      ['type:card id:x', 11, /AND, OR or the end/],
      ['type:card and id:x', 11, /AND, OR or the end/],
      ['type:card AND', 14, /a term/],
      ['AND type:card', 1, /a term/],
      ['NOT NOT type:card', 5, /a term/],
      ['()', 2, /a term/],
      ['(type:card', 11, /closing parenthesis/],
      ['type:card)', 10, /AND, OR or the end/],
      ['type', 5, /":"/],
      ['type :card', 5, /":"/],
      ['type:', 6, /a value/],
      ['type: card', 6, /a value/],
      ['data:"abc', 10, /closing quotation mark/],
      ['data:a"b"', 7, /AND, OR/],
      ['data:a\\', 8, /a character after/],
      ['colour:red', 1, /id, type, .*metadata\.<key>/],
      ['id:a AND Type:card', 10, /fields/],
      ['metadata:x', 1, /fields/],
      ['metadata.:x', 1, /fields/],
      ['data:😀 x', 8, /AND, OR/],
      ['type:[a TO b]', 6, /without a range/],
      ['created_at:yesterday', 12, /ISO 8601/],
      ['created_at:2024-02-30', 12, /ISO 8601/],
      ['created_at:[2024-01-01 to *]', 24, /TO/],
      ['created_at:[2024-01-01 TO 2024-01-02', 37, /"\]" or "\}"/],
      ['modified_at:[x TO *]', 14, /ISO 8601/],
      ['data:\u0000', 6, /U\+0000/],
      ['data:😀\ud800x', 7, /surrogate/],
      [`data:${'😀'.repeat(996)}`, 1_001, /1000 characters/],
      ['('.repeat(1_000), 34, /32 levels/],
      [Array(26).fill('id:a').join(' OR '), 201, /25 terms/],
    ] as const) {
      const error = failureOf(text);
      assert.deepEqual([error.code, error.status], ['invalid_query', 400], text);
      assert.match(error.message, new RegExp(`at character ${place}: expected .*\\.$`), text);
      assert.match(error.message, expected, text);
      assert.deepEqual(Object.keys(error.errors ?? {}), ['query'], text);
    }
  });

  it('400 never repeats what was written', () => {
    for (const text of [
      'data:s3cret s3cret',
      's3cret:x',
      'created_at:s3cret',
      'data:"s3cret',
      'created_at:[s3cret TO *]',
    ]) {
      const error = failureOf(text);
      assert.doesNotMatch(JSON.stringify([error.message, error.errors]), /s3cret/, text);
    }
  });

  it('of exactly 1,000 characters or 25 terms is read', () => {
    assert.equal(parseQuery(`data:${'😀'.repeat(995)}`).kind, 'text');
    assert.equal(parseQuery(Array(25).fill('id:a').join(' AND ')).kind, 'and');
    assert.equal(parseQuery(`${'('.repeat(32)}id:a${')'.repeat(32)}`).kind, 'text');
  });

  it('of any characters at all is read or refused, and nothing else happens', () => {
    const pieces = fc.constantFrom(
      '(',
      ')',
      '"',
      '\\',
      'type:',
      'a',
      ' ',
      'AND',
      'NOT',
      '!',
      '[',
      'TO',
      '*',
      '}',
      '\u0000',
    );
    const any = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 1_100 }),
      fc.array(pieces).map((list) => list.join('')),
    );
    fc.assert(
      fc.property(any, (text) => {
        try {
          parseQuery(text);
        } catch (error) {
          assert.ok(error instanceof AppError && error.code === 'invalid_query', String(error));
        }
      }),
      { numRuns: 5_000 },
    );
  });
});
