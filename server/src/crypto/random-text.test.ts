import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DIGITS, LOWER_CASE_ALPHANUMERICS, LOWER_CASE_LETTERS, randomText } from './random-text.js';

test('random text has the length asked for and only characters of its alphabet', () => {
  for (const alphabet of [DIGITS, LOWER_CASE_LETTERS, LOWER_CASE_ALPHANUMERICS, 'x']) {
    for (const length of [0, 1, 2, 19, 400, 10_000]) {
      const text = randomText(alphabet, length);
      assert.equal(text.length, length);
      assert.ok([...text].every((character) => alphabet.includes(character)));
    }
  }
});

test('every character is equally likely, the first of the alphabet no more than the last', () => {
  for (const alphabet of [DIGITS, LOWER_CASE_LETTERS, LOWER_CASE_ALPHANUMERICS]) {
    const drawn = 200_000;
    const counts = new Map<string, number>();
    for (const character of randomText(alphabet, drawn)) counts.set(character, (counts.get(character) ?? 0) + 1);
    const expected = drawn / alphabet.length;
    // Nine standard deviations: a bias by modulo (4 % for digits, 10 % for letters) is far outside, chance far inside.
    const tolerance = 9 * Math.sqrt(expected);
    for (const character of alphabet) {
      assert.ok(Math.abs((counts.get(character) ?? 0) - expected) < tolerance, `${character} of ${alphabet}`);
    }
  }
});

test('two texts differ', () => {
  assert.notEqual(randomText(DIGITS, 40), randomText(DIGITS, 40));
});
