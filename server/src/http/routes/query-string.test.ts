import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../kernel/errors.js';
import { parseQueryString } from './query-string.js';

const PARAMETERS_MAX = 1_000;

function isMalformed(error: unknown): boolean {
  assert.ok(error instanceof AppError);
  assert.equal(error.code, 'malformed_request');
  assert.equal(error.status, 400);
  return true;
}

function entriesOf(raw: string): [string, string[]][] {
  return [...parseQueryString(raw)];
}

describe('query strings', () => {
  it('gives back any names and values that were encoded, all of them and in order', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 30 }), (pairs) => {
        const raw = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
        const expected = new Map<string, string[]>();
        for (const [name, value] of pairs) expected.set(name, [...(expected.get(name) ?? []), value]);
        assert.deepEqual(parseQueryString(raw), expected);
      }),
    );
  });

  it('reads what browsers and forms write', () => {
    const params = fc.array(fc.tuple(fc.string(), fc.string()), { maxLength: 10 });
    fc.assert(
      fc.property(params, (pairs) => {
        const read = [...parseQueryString(new URLSearchParams(pairs).toString())];
        const flat = read.flatMap(([name, values]) => values.map((value) => [name, value]));
        const byName = ([a = '']: string[], [b = '']: string[]) => (a < b ? -1 : Number(a > b));
        assert.deepEqual(flat.sort(byName), pairs.map(([name, value]) => [name, value]).sort(byName));
      }),
    );
  });

  for (const [raw, expected] of [
    ['', []],
    ['&&', []],
    ['a', [['a', ['']]]],
    ['a=', [['a', ['']]]],
    ['=b', [['', ['b']]]],
    ['a=b=c', [['a', ['b=c']]]],
    [
      'a=1&b=2&a=3',
      [
        ['a', ['1', '3']],
        ['b', ['2']],
      ],
    ],
    ['a=x+y%2Bz', [['a', ['x y+z']]]],
    ['a+b=1', [['a b', ['1']]]],
    ['a=%25zz', [['a', ['%zz']]]],
    ['a=?#', [['a', ['?#']]]],
    ['metadata%5Bk%5D=v', [['metadata[k]', ['v']]]],
    [
      '__proto__=1&constructor=2',
      [
        ['__proto__', ['1']],
        ['constructor', ['2']],
      ],
    ],
  ] as const) {
    it(`reads ${JSON.stringify(raw)}`, () => {
      assert.deepEqual(entriesOf(raw), expected);
    });
  }

  for (const raw of ['a=%', 'a=%2', 'a=%zz', '%=1', 'a=%FF', 'a=%ED%A0%80', 'a=%C0%80', 'ok=1&b=%E0%A4']) {
    it(`400 for ${raw}, which no encoder writes`, () => {
      assert.throws(() => parseQueryString(raw), isMalformed);
    });
  }

  it(`takes ${PARAMETERS_MAX} parameters, and 400 for one more`, () => {
    const many = (count: number) => Array<string>(count).fill('a=1').join('&');
    assert.equal(parseQueryString(many(PARAMETERS_MAX)).get('a')?.length, PARAMETERS_MAX);
    assert.throws(() => parseQueryString(many(PARAMETERS_MAX + 1)), isMalformed);
  });

  it('400 and nothing else, whatever the text, and the text is never quoted', () => {
    const parts = fc.constantFrom('%', '%2', '%zz', '%E2%82', '%E2%82%AC', '+', '=', '&', 'canary', '\0', '\ud800');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(parts).map((all) => all.join('')),
        ),
        (raw) => {
          try {
            parseQueryString(raw);
          } catch (error) {
            assert.ok(isMalformed(error));
            assert.ok(error instanceof AppError && !error.message.includes('canary'));
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
