import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from './errors.js';
import { hasMoreValues, JSON_DEPTH_MAX, JsonScan, parseJsonBody } from './json-guard.js';

function parse(text: string): unknown {
  return parseJsonBody(Buffer.from(text, 'utf8'));
}

function refusalOf(bytes: Buffer): AppError {
  try {
    parseJsonBody(bytes);
  } catch (error) {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'malformed_json');
    assert.equal(error.status, 400);
    return error;
  }
  return assert.fail('the body was taken');
}

function detailOf(text: string): string {
  return refusalOf(Buffer.from(text, 'utf8')).message;
}

function nested(depth: number, open = '[', close = ']', core = ''): string {
  return open.repeat(depth) + core + close.repeat(depth);
}

test('every JSON value is read as the platform reads it', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      assert.deepEqual(parse(text), JSON.parse(text));
    }),
  );
});

test('a byte order mark before the body is skipped, one inside it is not', () => {
  assert.deepEqual(parse('\ufeff{"a":1}'), { a: 1 });
  assert.match(detailOf('{\ufeff"a":1}'), /line 1, column 2\.$/);
});

test('bytes that are not UTF-8 are refused', () => {
  const broken = [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80]];
  for (const bytes of broken) {
    const body = Buffer.concat([Buffer.from('"'), Buffer.from(bytes), Buffer.from('"')]);
    assert.equal(refusalOf(body).message, 'The body is not valid UTF-8.');
  }
});

test('64 levels of nesting are taken, 65 are refused', () => {
  assert.doesNotThrow(() => parse(nested(JSON_DEPTH_MAX)));
  assert.doesNotThrow(() => parse(nested(JSON_DEPTH_MAX, '{"a":', '}', '1')));
  assert.equal(detailOf(nested(JSON_DEPTH_MAX + 1)), 'The body is nested deeper than 64 levels.');
  assert.equal(detailOf(nested(JSON_DEPTH_MAX + 1, '{"a":', '}', '1')), 'The body is nested deeper than 64 levels.');
});

test('siblings do not add up to depth', () => {
  assert.doesNotThrow(() => parse(`[${Array(1000).fill('[{}]').join(',')}]`));
});

test('brackets inside strings do not count, and an escaped quote does not end a string', () => {
  const brackets = '[{'.repeat(100);
  assert.equal(parse(JSON.stringify(brackets)), brackets);
  assert.deepEqual(parse(JSON.stringify({ [`"${brackets}\\`]: `\\"${brackets}` })), {
    [`"${brackets}\\`]: `\\"${brackets}`,
  });
  assert.match(detailOf(`["\\\\",${nested(JSON_DEPTH_MAX)}]`), /nested deeper/);
});

test('a million open brackets are refused by the count, not by the stack', () => {
  assert.match(detailOf('['.repeat(1_000_000)), /nested deeper/);
  assert.match(detailOf('{"a":'.repeat(200_000)), /nested deeper/);
});

test('a syntax fault is located by line and column', () => {
  assert.match(detailOf('{"a":1,}'), /line 1, column 8\.$/);
  assert.match(detailOf('{\n  "a": 1\n  "b": 2\n}'), /line 3, column 3\.$/);
  assert.match(detailOf('\n\nx'), /line 3, column 1\.$/);
  assert.equal(detailOf('{"a":'), 'The body is not valid JSON: it ends too early.');
  assert.equal(detailOf(''), 'The body is not valid JSON: it ends too early.');
});

test('a refusal repeats nothing of the body, neither in its detail nor in its cause', () => {
  for (const body of ['{"number":"4242424242424242",}', '4242424242424242x', 'card4242', '"4242424242424242']) {
    const refusal = refusalOf(Buffer.from(body));
    assert.doesNotMatch(refusal.message, /4242|card/);
    assert.equal(refusal.cause, undefined);
  }
});

test('a __proto__ key is an own property and changes no prototype', () => {
  const body = '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}';
  const value = parse(body);
  assert.ok(typeof value === 'object' && value !== null);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.ok(Object.hasOwn(value, '__proto__'));
  assert.equal('isAdmin' in {}, false);
  assert.equal(JSON.stringify(value), body);
});

test('of duplicate keys the last counts', () => {
  assert.deepEqual(parse('{"a":1,"a":2}'), { a: 2 });
});

test('arbitrary bytes give a value or the refusal, never another error', () => {
  const soup = fc.array(fc.constantFrom(...'{}[]",:\\u0eE+-.tfn1 \n\u0001é'), { maxLength: 90 });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
        soup.map((characters) => Buffer.from(characters.join(''))),
      ),
      (bytes) => {
        try {
          parseJsonBody(bytes);
        } catch (error) {
          assert.ok(error instanceof AppError);
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

function countOf(pieces: readonly Buffer[]): number {
  const counter = new JsonScan();
  for (const piece of pieces) counter.add(piece, Number.POSITIVE_INFINITY);
  return counter.values;
}

/** The values of parsed JSON: one, and those in it. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + valuesIn(member), 1);
}

test('values are counted the same however the text is cut, and empty lists and objects count twice', () => {
  fc.assert(
    fc.property(fc.json(), fc.array(fc.nat({ max: 40 }), { maxLength: 10 }), (text, cuts) => {
      const bytes = Buffer.from(text);
      const pieces: Buffer[] = [];
      let from = 0;
      for (const length of cuts) {
        pieces.push(bytes.subarray(from, from + length));
        from += length;
      }
      pieces.push(bytes.subarray(from));
      const values = countOf([bytes]);
      assert.equal(countOf(pieces), values);
      const outside = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
      const empty = [...outside.matchAll(/\[\s*\]|\{\s*\}/g)].length;
      // Of duplicate keys only the last is left after parsing.
      assert.ok(values >= valuesIn(JSON.parse(text)) + empty);
    }),
    { numRuns: 2_000 },
  );
});

test('commas and brackets inside strings are no values, also where a piece ends inside the string', () => {
  const cases: readonly (readonly [pieces: readonly string[], values: number])[] = [
    [['["a\\', '","]'], 2],
    [['["a', ',[{"]'], 2],
    [['["a"', ',2]'], 3],
    [['["a\\\\', '",2]'], 3],
    [['{"a,[":"{\\"', '", "b":[]}'], 4],
  ];
  for (const [pieces, values] of cases) {
    const bytes = pieces.map((piece) => Buffer.from(piece));
    assert.equal(countOf(bytes), values, pieces.join(' | '));
    assert.equal(countOf([Buffer.concat(bytes)]), values, pieces.join(''));
  }
});

test('counting ends soon behind the bound', () => {
  const bytes = Buffer.from(`[${'1,'.repeat(500_000)}1]`);
  const counter = new JsonScan();
  counter.add(bytes, 10);
  assert.equal(counter.values, 11);
  assert.equal(hasMoreValues(Buffer.from('[1,2]'), 3), false);
  assert.equal(hasMoreValues(Buffer.from('[1,2]'), 2), true);
});
