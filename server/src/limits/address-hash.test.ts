import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAddressHash } from './address-hash.js';

/** Published answers for the key 00 01 … 07 and the input 00 01 … up to the length given. */
const KNOWN_ANSWERS: [length: number, hash: string][] = [
  [0, '218d1f59b9b83cc8'],
  [1, 'be552412f8387315'],
  [2, '064f39ef7c50eb57'],
  [3, 'ce0f1a45f7060679'],
  [4, 'd5e78a175be52ea1'],
  [7, 'ff202728b07bc684'],
  [8, 'edfee820bce4858c'],
  [15, '217d0bcb4e81c902'],
  [16, '7336aad25f7bf3b5'],
  [31, '863c7f155c34117c'],
  [39, '368df6808d403d79'],
];

function hexOf(seed: string, text: string): string {
  const out = new Int32Array(2);
  createAddressHash(Buffer.from(seed, 'hex'))(text, out);
  const bytes = Buffer.alloc(8);
  for (const [at, word] of out.entries()) bytes.writeInt32LE(word, at * 4);
  return bytes.toString('hex');
}

test('the hash gives the published answers of HalfSipHash-2-4', () => {
  for (const [length, expected] of KNOWN_ANSWERS) {
    const input = String.fromCharCode(...Array(length).keys());
    assert.equal(hexOf('0001020304050607', input), expected, `length ${length}`);
  }
});

test('another seed places the same address elsewhere', () => {
  assert.notEqual(hexOf('0001020304050607', '192.0.2.1'), hexOf('0001020304050608', '192.0.2.1'));
});

test('addresses spread evenly over the sets of a table', () => {
  const sets = new Uint32Array(1_024);
  const out = new Int32Array(2);
  const hash = createAddressHash(Buffer.from('5eedfacecafebabe', 'hex'));
  for (let at = 0; at < 65_536; at += 1) {
    hash(`10.0.${at >> 8}.${at & 255}`, out);
    const set = (out[0] ?? 0) & 1_023;
    sets[set] = (sets[set] ?? 0) + 1;
  }
  assert.ok(Math.max(...sets) < 110, 'no set is crowded');
  assert.ok(Math.min(...sets) > 30, 'no set is left out');
});
