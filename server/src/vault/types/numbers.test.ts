import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { givesAway, secretNumberOf } from './numbers.js';

const CARD = '4242424242424242';

/** The same said in one line, without care for what it costs. */
const isWithin = (id: string, number: string): boolean =>
  id
    .normalize('NFKC')
    .replaceAll(/[^0-9]/g, '')
    .includes(number);

test('an id gives a number away whatever stands between its digits', () => {
  for (const id of [
    CARD,
    `a${CARD}`,
    `${CARD}-1`,
    '4-2a4.2_4242 4242x4242-4242',
    '９4242424242424242',
    '４２４２424242424242',
  ]) {
    assert.equal(givesAway(id, CARD), true, id);
  }
  for (const id of ['', '424242424242424', '4242424242424243', 'x', '０１２'])
    assert.equal(givesAway(id, CARD), false, id);
  assert.equal(givesAway(CARD, undefined), false);
});

test('looking digit by digit finds what folding, stripping and searching find', () => {
  const character = fc.constantFrom('1', '2', '-', 'a', ' ', '１', '²', '٢', '½', '\u0301');
  const number = fc.array(fc.constantFrom('1', '2'), { minLength: 1, maxLength: 5 }).map((digits) => digits.join(''));
  fc.assert(
    fc.property(fc.array(character, { maxLength: 24 }), number, (characters, digits) => {
      const id = characters.join('');
      assert.equal(givesAway(id, digits), isWithin(id, digits));
    }),
    { numRuns: 2_000 },
  );
});

test('the number of a token is its digits, and too short a one is none', () => {
  assert.equal(secretNumberOf('card', { number: CARD }), CARD);
  assert.equal(secretNumberOf('social_security_number', '123-45-6789'), '123456789');
  assert.equal(secretNumberOf('us_bank_account_number', '123456'), undefined);
  assert.equal(secretNumberOf('token', CARD), undefined);
});
