import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../kernel/json.js';
import { TOKEN_TYPE_CATALOGUE } from './catalogue.js';
import { hasCvc, withoutCvc } from './cvc.js';
import type { TokenType } from './names.js';
import { TOKEN_TYPES } from './names.js';

const CARD = { number: '4242424242424242', expiration_month: 3, expiration_year: 2031, cvc: '987' };
const BANK = { routing_number: '021000021', account_number: '000123456789' };

const PLACES: Readonly<Record<TokenType, readonly [string, string]>> = {
  token: ['/general/high/', 'redact'],
  card: ['/pci/high/', 'mask'],
  bank: ['/bank/high/', 'mask'],
  card_number: ['/pci/high/', 'mask'],
  us_bank_account_number: ['/bank/high/', 'mask'],
  us_bank_routing_number: ['/bank/low/', 'mask'],
  social_security_number: ['/pii/high/', 'mask'],
  employer_id_number: ['/pii/high/', 'mask'],
};

test('each type lies in its container, and its privacy follows', () => {
  for (const type of TOKEN_TYPES) {
    const { container, privacy, mask } = TOKEN_TYPE_CATALOGUE[type];
    assert.deepEqual([container, privacy.restriction_policy], PLACES[type], type);
    assert.equal(`/${privacy.classification}/${privacy.impact_level}/`, container, type);
    assert.equal(mask !== undefined, privacy.restriction_policy === 'mask', type);
  }
});

test('a masked view shows the last four and never a cvc', () => {
  const views: readonly (readonly [TokenType, Json, Json | undefined])[] = [
    ['token', 'secret', undefined],
    ['card', CARD, { number: 'XXXXXXXXXXXX4242', expiration_month: 3, expiration_year: 2031 }],
    ['card', { number: CARD.number, cvc: 123, expiration_month: null, extra: 1 }, { number: 'XXXXXXXXXXXX4242' }],
    ['bank', BANK, { routing_number: '021000021', account_number: 'XXXXXXXX6789' }],
    ['card_number', '378282246310005', 'XXXXXXXXXXX0005'],
    ['us_bank_account_number', '12345', 'X2345'],
    ['us_bank_account_number', '123', '123'],
    ['us_bank_routing_number', '021000021', 'XXXXX0021'],
    ['social_security_number', '123-45-6789', 'XXX-XX-6789'],
    ['social_security_number', '123456789', 'XXXXX6789'],
    ['employer_id_number', '12-3456789', 'XX-XXX6789'],
  ];
  for (const [type, data, view] of views) assert.deepEqual(TOKEN_TYPE_CATALOGUE[type].maskedView(data), view, type);
  assert.doesNotMatch(JSON.stringify(TOKEN_TYPE_CATALOGUE.card.mask), /cvc/);
});

test('what a fingerprint is made of', () => {
  const texts: readonly (readonly [TokenType, Json, string])[] = [
    ['token', 'a', '"a"'],
    ['token', { b: [1, null] }, '{"b":[1,null]}'],
    ['card', CARD, '4242424242424242'],
    ['bank', BANK, '000123456789|021000021'],
    ['card_number', '4242424242424242', '4242424242424242'],
    ['us_bank_account_number', '007', '007'],
    ['us_bank_routing_number', '021000021', '021000021'],
    ['social_security_number', '123-45-6789', '123456789'],
    ['employer_id_number', '12-3456789', '123456789'],
  ];
  for (const [type, data, text] of texts) assert.equal(TOKEN_TYPE_CATALOGUE[type].fingerprintText(data), text, type);
  const { fingerprintText } = TOKEN_TYPE_CATALOGUE.token;
  assert.notEqual(fingerprintText('1'), fingerprintText(1), 'text and number stay apart');
});

test('identity numbers are found as sent, without dashes and by the last four; other types have no index', () => {
  for (const [type, data, indexes] of [
    ['social_security_number', '123-45-6789', ['123-45-6789', '123456789', '6789']],
    ['social_security_number', '123456789', ['123456789', '6789']],
    ['employer_id_number', '12-3456789', ['12-3456789', '123456789', '6789']],
  ] as const) {
    assert.deepEqual(TOKEN_TYPE_CATALOGUE[type].defaultIndexes(data), indexes);
    assert.equal(TOKEN_TYPE_CATALOGUE[type].searchIndexes.length, 3);
  }
  for (const type of TOKEN_TYPES.slice(0, 6)) {
    assert.deepEqual(TOKEN_TYPE_CATALOGUE[type].defaultIndexes(type === 'card' ? CARD : 'x'), [], type);
    assert.deepEqual(TOKEN_TYPE_CATALOGUE[type].searchIndexes, [], type);
  }
});

test('only a card has a cvc to forget, and forgetting it leaves the rest and the original alone', () => {
  assert.equal(hasCvc('card', CARD), true);
  assert.equal(hasCvc('card', { ...CARD, cvc: 0 }), true);
  assert.equal(hasCvc('card', { ...CARD, cvc: null }), false);
  assert.equal(hasCvc('card', { number: CARD.number }), false);
  assert.equal(hasCvc('token', CARD), false);
  assert.equal(hasCvc('card', 'cvc'), false);

  const data = JSON.parse('{"cvc":"123","__proto__":{"a":1},"number":"1"}') as Json; // Text of our own.
  assert.equal(JSON.stringify(withoutCvc(data)), '{"__proto__":{"a":1},"number":"1"}');
  assert.equal(hasCvc('card', data), true);
  assert.equal(withoutCvc('text'), 'text');
  assert.deepEqual(withoutCvc(['cvc']), ['cvc']);
});
