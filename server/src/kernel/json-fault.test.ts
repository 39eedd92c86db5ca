import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findJsonFault } from './json-fault.js';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Anything that completes some unfinished text: one of these must help, or the text did not merely end too early. */
const COMPLETIONS = ['', '0', '"', '":0', '1', ':0', '0:0', '"":0'];

function canBeCompleted(text: string): boolean {
  const closers: string[] = [];
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (isInString && character === '\\') at += 1;
    else if (character === '"') isInString = !isInString;
    else if (!isInString && '[{'.includes(character)) closers.unshift(character === '[' ? ']' : '}');
    else if (!isInString && ']}'.includes(character)) closers.shift();
  }
  return COMPLETIONS.some((completion) => isJson(text + completion + closers.join('')));
}

test('the fault is the start of the first token that does not fit', () => {
  const cases: [text: string, at: number][] = [
    ['x', 0],
    ['{} {}', 3],
    ['[1 2]', 3],
    ['[1,]', 3],
    ['[,1]', 1],
    ['{"a" 1}', 5],
    ['{"a":}', 5],
    ['{"a":1,}', 7],
    ['{a:1}', 1],
    ['{1:1}', 1],
    ['[}', 1],
    ['{]', 1],
    ['[1}', 2],
    ['01', 1],
    ['-', 0],
    ['1.x', 1],
    ['+1', 0],
    ['[tru]', 1],
    ['[truex]', 5],
    ['["\\x"]', 1],
    ['["\\u12g4"]', 1],
    ['["a\nb"]', 1],
    ["['a']", 1],
    ['[1]\u00a0', 3],
  ];
  for (const [text, at] of cases) {
    assert.equal(isJson(text), false, text);
    assert.equal(findJsonFault(text), at, text);
  }
});

test('text that only ends too early has its fault at its end', () => {
  for (const text of ['', ' ', '{', '[', '{"a"', '{"a":', '{"a":1', '{"a":1,', '["abc', '[1,']) {
    assert.equal(findJsonFault(text), text.length, text);
  }
});

test('JSON has no fault', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      assert.equal(findJsonFault(text), text.length);
      const spaced = JSON.stringify(JSON.parse(text), null, 2);
      assert.equal(findJsonFault(spaced), spaced.length);
    }),
  );
});

test('a fault is found exactly where a parser finds one', () => {
  const tokens = ['{', '}', '[', ']', ',', ':', '"', '"a"', '1', '-0.5e3', 'null', ' ', '\\', '\\n', 'x', '\t'];
  const text = fc.array(fc.constantFrom(...tokens), { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (candidate) => {
      const at = findJsonFault(candidate);
      if (at < candidate.length) assert.equal(isJson(candidate), false, candidate);
      else assert.ok(isJson(candidate) || canBeCompleted(candidate), candidate);
    }),
    { numRuns: 20_000 },
  );
});
