import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { hashApiKey, macEquals, macOf } from './keyed-hash.js';

const newKey = () => createSecretKey(randomBytes(32));

test('an API key has one hash under a pepper and another under another', () => {
  const pepper = newKey();
  assert.deepEqual(hashApiKey(pepper, 'key_a'), hashApiKey(pepper, 'key_a'));
  assert.notDeepEqual(hashApiKey(pepper, 'key_a'), hashApiKey(pepper, 'key_b'));
  assert.notDeepEqual(hashApiKey(pepper, 'key_a'), hashApiKey(newKey(), 'key_a'));
});

test('two lists share a MAC only when they are the same, whatever is moved between their parts', () => {
  const key = newKey();
  const anyParts = fc.array(fc.string({ unit: fc.constantFrom('a', '\0'), maxLength: 3 }), { maxLength: 4 });
  fc.assert(
    fc.property(anyParts, anyParts, (a, b) => {
      assert.equal(macEquals(macOf(key, a), macOf(key, b)), JSON.stringify(a) === JSON.stringify(b));
    }),
    { numRuns: 1000 },
  );
});

test('another key gives another MAC', () => {
  assert.equal(macEquals(macOf(newKey(), ['a']), macOf(newKey(), ['a'])), false);
});

test('MACs that differ in one bit or in length are unequal and do not throw', () => {
  const mac = macOf(newKey(), ['a']);
  const flipped = Buffer.from(mac);
  flipped.writeUInt8(flipped.readUInt8(31) ^ 1, 31);
  assert.equal(macEquals(mac, Buffer.from(mac)), true);
  assert.equal(macEquals(mac, flipped), false);
  assert.equal(macEquals(mac, mac.subarray(0, 31)), false);
  assert.equal(macEquals(mac, Buffer.alloc(0)), false);
});
