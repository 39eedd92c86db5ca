import assert from 'node:assert/strict';
import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hmacSha256 } from './hmac.js';

const keyOf = (bytes: Uint8Array) => createSecretKey(Buffer.from(bytes));
const bytes = (lengths: { minLength?: number; maxLength: number }) => fc.uint8Array(lengths);

describe('the keyed hash of short messages', () => {
  it('is what RFC 4231 says, for its first three cases', () => {
    const cases = [
      ['0b'.repeat(20), '4869205468657265', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
      [
        '4a656665',
        '7768617420646f2079612077616e7420666f72206e6f7468696e673f',
        '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
      ],
      ['aa'.repeat(20), 'dd'.repeat(50), '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe'],
    ] as const;
    for (const [key, message, expected] of cases) {
      assert.equal(hmacSha256(keyOf(Buffer.from(key, 'hex')), Buffer.from(message, 'hex')).toString('hex'), expected);
    }
  });

  it('is what the platform gives, for any key up to a block and any message', () => {
    fc.assert(
      fc.property(bytes({ minLength: 1, maxLength: 64 }), bytes({ maxLength: 300 }), (key, message) => {
        const expected = createHmac('sha256', key).update(message).digest();
        assert.deepEqual(hmacSha256(keyOf(key), Buffer.from(message)), expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is what the platform gives around the length at which another way is taken', () => {
    for (const length of [0, 1, 2_047, 2_048, 2_049, 9_000]) {
      const key = randomBytes(32);
      const message = randomBytes(length);
      assert.deepEqual(
        hmacSha256(keyOf(key), message),
        createHmac('sha256', key).update(message).digest(),
        `${length}`,
      );
    }
  });

  it('takes no key that would have to be shortened first', () => {
    assert.throws(() => hmacSha256(keyOf(randomBytes(65)), Buffer.from('a')), /no longer than a block/);
  });

  it('keeps keys apart when they are used in turn, and leaves what it is given and what it gave alone', () => {
    const [a, b] = [randomBytes(32), randomBytes(32)];
    const [keyA, keyB] = [keyOf(a), keyOf(b)];
    const message = randomBytes(40);
    const copy = Buffer.from(message);
    const first = hmacSha256(keyA, message);
    for (let turn = 0; turn < 3; turn += 1) {
      assert.deepEqual(hmacSha256(keyB, message), createHmac('sha256', b).update(message).digest());
      assert.deepEqual(hmacSha256(keyA, message), first);
    }
    assert.deepEqual(message, copy);
    assert.deepEqual(keyA.export(), a);
  });
});
