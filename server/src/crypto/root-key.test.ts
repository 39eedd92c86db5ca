import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { generateRootKey, parseRootKey, RootKeyFormatError } from './root-key.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

test('a generated root key has the documented form and parses', () => {
  const text = generateRootKey().reveal();
  assert.match(text, /^rk1_[A-Za-z0-9_-]{43}_[0-9a-f]{8}$/);
  const { id, key } = parseRootKey(text);
  assert.match(id, /^rk-[0-9a-f]{12}$/);
  assert.equal(key.symmetricKeySize, 32);
  assert.equal(key.export().toString('base64url'), text.slice(4, 47));
});

test('generated root keys differ, and so do their ids', () => {
  const texts = Array.from({ length: 50 }, () => generateRootKey().reveal());
  assert.equal(new Set(texts).size, 50);
  assert.equal(new Set(texts.map((text) => parseRootKey(text).id)).size, 50);
});

test('space and line ends around a root key do not matter', () => {
  const text = generateRootKey().reveal();
  assert.equal(parseRootKey(`  ${text}\r\n`).id, parseRootKey(text).id);
});

test('with any one character changed a root key is refused', () => {
  const text = generateRootKey().reveal();
  for (let at = 0; at < text.length; at += 1) {
    for (const character of ALPHABET) {
      const changed = text.slice(0, at) + character + text.slice(at + 1);
      if (changed !== text) assert.throws(() => parseRootKey(changed), RootKeyFormatError);
    }
  }
});

test('a second spelling of the same bytes is refused even with a fitting checksum', () => {
  const text = generateRootKey().reveal();
  const last = ALPHABET.indexOf(text.charAt(46));
  const body = text.slice(0, 46) + ALPHABET.charAt(last + 1);
  const checksum = createHash('sha256').update(body).digest('hex').slice(0, 8);
  assert.throws(() => parseRootKey(`${body}_${checksum}`), RootKeyFormatError);
});

test('each sort of slip is named in a sentence that does not repeat the key', () => {
  const text = generateRootKey().reveal();
  const slips: [string, RegExp][] = [
    ['', /is empty/],
    [' \n', /is empty/],
    [text.slice(4), /does not begin with rk1_/],
    [text.toUpperCase(), /does not begin with rk1_/],
    [text.slice(0, 50), /50 characters instead of 56/],
    [`${text}${text}`, /112 characters instead of 56/],
    [text.replace(/.{3}$/, 'zzz'), /character that does not belong/],
    [text.replace(/.{8}$/, '00000000'), /checksum/],
  ];
  for (const [slip, expected] of slips) {
    assert.throws(
      () => parseRootKey(slip),
      (error) => {
        assert.ok(error instanceof RootKeyFormatError);
        assert.match(error.message, expected);
        assert.ok(!error.message.includes(text.slice(4, 12)));
        return true;
      },
    );
  }
});
