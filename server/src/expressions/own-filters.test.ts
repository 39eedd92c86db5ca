import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { evaluateText, filtered, refused } from './expressions-fixture.js';

const NULL_SAFE = [
  ...['last4', 'reveal_last: 4', 'reveal: 1, 1', 'card_mask: true, true', 'card_bin', "card_exp: 'MM'", 'alias_card'],
  ...['alias_preserve_format', 'alias_preserve_length', "json: '$.a'", 'stringify', 'to_string', 'to_number'],
  ...['to_boolean', "pad_left: 3, '0'", "pad_right: 3, '0'", "hmac: 'sha-256', 'k'", 'to_base64', 'to_base16'],
];

describe('filters of our own', () => {
  it('leave null as null and an absent value absent', () => {
    for (const filter of NULL_SAFE) {
      assert.equal(filtered(null, filter), null, filter);
      assert.equal(evaluateText(`{{ data.absent | ${filter} }}`, {}), undefined, filter);
    }
  });

  it('refuse lists and objects where they work on text, and arguments they do not know', () => {
    for (const filter of ['last4', 'reveal_last: 2', 'reveal', 'card_mask', 'alias_card', 'to_string', 'to_number']) {
      refused([1], filter);
      refused({ a: 1 }, filter);
    }
    for (const filter of ['last4: 1', 'reveal_last', 'reveal_last: -1', 'reveal_last: 1.5', "reveal_last: 2, ''"]) {
      refused('abcdef', filter);
    }
    for (const filter of ["reveal_last: 2, 'ab'", "reveal: 'x'", "card_mask: 'yes'", "pad_left: 3, '0', 1", 'json']) {
      refused('abcdef', filter);
    }
  });

  it('last4: the last four characters, shorter input whole', () => {
    assert.equal(filtered('ABC98765', 'last4'), '8765');
    assert.equal(filtered('abc', 'last4'), 'abc');
    assert.equal(filtered('', 'last4'), '');
    assert.equal(filtered(123456, 'last4'), '3456');
    assert.equal(filtered('ab😀cd😀', 'last4'), '😀cd😀');
  });

  it('reveal_last: all hidden but the last, dashes stay, short input whole', () => {
    assert.equal(filtered('12-3456789', 'reveal_last: 4'), 'XX-XXX6789');
    assert.equal(filtered('123-45-6789', "reveal_last: '4', '*'"), '***-**-6789');
    assert.equal(filtered('1234', 'reveal_last: 4'), '1234');
    assert.equal(filtered('12345', 'reveal_last: 0'), 'XXXXX');
    assert.equal(filtered(4111111111111111, 'reveal_last: 4'), 'XXXXXXXXXXXX1111');
    assert.equal(filtered('😀😀ab', "reveal_last: 1, '😀'"), '😀😀😀b');
  });

  it('reveal: both ends shown, preserved characters kept, everything hidden where nothing would be', () => {
    assert.equal(filtered('AB-CD-EF', "reveal: 2, 2, '*', '-'"), 'AB-**-EF');
    assert.equal(filtered('ABCD', 'reveal: 2, 2'), 'XXXX');
    assert.equal(filtered('ABC', 'reveal: 2, 2'), 'XXX');
    assert.equal(filtered('AB-CD', "reveal: 2, 2, '*', '-'"), '**-**');
    assert.equal(filtered('ABCD', 'reveal'), 'XXXX');
    assert.equal(filtered('ABCD', 'reveal: 1'), 'AXXX');
    assert.equal(filtered('1234', "reveal: 0, 0, 'X', '1234'"), 'XXXX');
    assert.equal(filtered('a😀b😀', "reveal: 1, 1, '*'"), 'a**😀');
    assert.equal(filtered('', 'reveal: 1, 1'), '');
  });

  it('card_mask: BIN of 6 below 16 digits, else of 8, the last four, everything hidden if all would show', () => {
    assert.equal(filtered('378282246310005', 'card_mask: true, true'), '378282XXXXX0005');
    assert.equal(filtered('378282246310005', "card_mask: 'true', 'true'"), '378282XXXXX0005');
    assert.equal(filtered('4111111111111111', 'card_mask: true, false'), '41111111XXXXXXXX');
    assert.equal(filtered('4111-1111-1111-1111', "card_mask: true, true, '*', '-'"), '4111-1111-****-1111');
    assert.equal(filtered('4111111111111111', 'card_mask'), 'XXXXXXXXXXXXXXXX');
    assert.equal(filtered('4111111111111111', "card_mask: 'false', true, '#'"), '############1111');
    assert.equal(filtered('1234567890', 'card_mask: true, true'), 'XXXXXXXXXX');
    assert.equal(filtered('1234', 'card_mask: false, true'), 'XXXX');
    assert.equal(filtered('4111111111111111', "card_mask: true, true, '1'"), '1111111111111111');
  });

  it('card_bin: without separators, and not of what is no card number', () => {
    assert.equal(filtered('4111-1111-1111-1111', "card_bin: '-'"), '41111111');
    assert.equal(filtered('378282246310005', 'card_bin'), '378282');
    assert.equal(filtered('4111 1111 1111 1111', 'card_bin'), '41111111');
    refused('123456', 'card_bin');
    refused('none', 'card_bin');
  });

  it('card_exp: every format, from numbers and from text', () => {
    const card = { expiration_month: 3, expiration_year: 2031 };
    const shown = { MM: '03', MMYY: '0331', 'MM/YY': '03/31', 'MM/YYYY': '03/2031', 'MM-YYYY': '03-2031' };
    for (const [format, text] of Object.entries({ ...shown, MM_YYYY: '03_2031', YYYY: '2031', 'YYYY-MM': '2031-03' })) {
      assert.equal(filtered(card, `card_exp: '${format}'`), text);
      assert.equal(filtered({ expiration_month: '03', expiration_year: '2031' }, `card_exp: '${format}'`), text);
    }
    assert.equal(filtered({ expiration_year: 2031 }, "card_exp: 'YYYY'"), '2031');
    assert.equal(filtered({ expiration_year: 2031 }, "card_exp: 'MM/YY'"), null);
    refused(card, "card_exp: 'mm/yy'");
    refused({ ...card, expiration_month: 13 }, "card_exp: 'MM'");
    refused('0331', "card_exp: 'MM'");
  });

  it('stringify: JSON text, while text and null stay', () => {
    assert.equal(filtered({ k: 1 }, 'stringify'), '{"k":1}');
    assert.equal(filtered([1, 'a', null], 'stringify'), '[1,"a",null]');
    assert.equal(filtered('text', 'stringify'), 'text');
    assert.equal(filtered(5, 'stringify'), '5');
  });

  it('casts: to_string, to_number and to_boolean, or a refusal', () => {
    assert.equal(filtered(7, 'to_string'), '7');
    assert.equal(filtered(true, 'to_string'), 'true');
    assert.equal(filtered('007', 'to_number'), 7);
    assert.equal(filtered(' -1.5e2 ', 'to_number'), -150);
    assert.equal(filtered(true, 'to_number'), 1);
    for (const text of ['', 'x', '0x10', 'Infinity', '1e999', '1234567890123456789', '1,5']) refused(text, 'to_number');
    assert.equal(filtered('TRUE', 'to_boolean'), true);
    assert.equal(filtered(0, 'to_boolean'), false);
    for (const text of ['', 'yes', 'falsey']) refused(text, 'to_boolean');
    refused(2, 'to_boolean');
  });

  it('pad_left and pad_right: to a length, longer input stays, lengths are bounded', () => {
    assert.equal(filtered('7', "pad_left: 3, '0'"), '007');
    assert.equal(filtered('7', "pad_right: 3, '0'"), '700');
    assert.equal(filtered(7, 'pad_left: 3, 0'), '007');
    assert.equal(filtered('12345', "pad_left: 3, '0'"), '12345');
    assert.equal(filtered('😀', "pad_left: 2, 'x'"), 'x😀');
    refused('7', "pad_left: 1000000000, '0'");
    refused('7', 'pad_left: 3');
  });

  it('hmac, to_base64, to_base16: bytes and their two encodings, base 16 in upper case', () => {
    for (const [name, algorithm] of Object.entries({ 'sha-256': 'sha256', 'sha-1': 'sha1', 'sha-512': 'sha512' })) {
      const bytes = createHmac(algorithm, 'key').update('dätä').digest();
      assert.equal(filtered('dätä', `hmac: '${name}', 'key' | to_base64`), bytes.toString('base64'));
      assert.equal(filtered('dätä', `hmac: '${name}', 'key' | to_base16`), bytes.toString('hex').toUpperCase());
    }
    const byDefault = createHmac('sha256', 'key').update('x').digest('base64');
    assert.equal(filtered('x', "hmac: 'key' | to_base64"), byDefault);
    assert.equal(evaluateText("{{ data | hmac: nil, 'key' | to_base64 }}", 'x'), byDefault);
    assert.equal(filtered('ab', 'to_base64'), 'YWI=');
    assert.equal(filtered('ab\u00ff', 'to_base16'), '6162C3BF');
    for (const filter of [
      "hmac: 'sha-256', 'key'",
      "hmac: 'sha-256'",
      'hmac',
      "hmac: 'md5', 'key'",
      "hmac: 'sha-1', ''",
    ]) {
      refused('x', filter);
    }
  });
});
