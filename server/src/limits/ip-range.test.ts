import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatIp, parseIp } from './ip-address.js';
import { isInRange, parseRange } from './ip-range.js';

function contains(range: string, address: string): boolean {
  const parsedRange = parseRange(range);
  const parsedAddress = parseIp(address);
  assert.ok(parsedRange !== null && parsedAddress !== null, `${range} ${address}`);
  return isInRange(parsedAddress, parsedRange);
}

test('a range holds the addresses that share its prefix', () => {
  const inside: [range: string, address: string][] = [
    ['10.0.0.0/8', '10.255.255.255'],
    ['172.16.0.0/12', '172.31.0.1'],
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1/32', '192.0.2.1'],
    ['0.0.0.0/0', '255.255.255.255'],
    ['128.0.0.0/1', '255.0.0.1'],
    ['fd00::/8', 'fdff::1'],
    ['2001:db8:0:1::/64', '2001:db8:0:1:ffff::'],
    ['::1', '::1'],
    ['::/0', 'ffff::'],
    ['10.0.0.0/8', '::ffff:10.1.1.1'],
    ['::ffff:10.0.0.0/104', '10.1.1.1'],
  ];
  for (const [range, address] of inside) assert.equal(contains(range, address), true, `${range} ${address}`);
});

test('a range holds nothing else, and none of the other family', () => {
  const outside: [range: string, address: string][] = [
    ['10.0.0.0/8', '11.0.0.0'],
    ['172.16.0.0/12', '172.32.0.0'],
    ['192.0.2.1', '192.0.2.2'],
    ['128.0.0.0/1', '127.255.255.255'],
    ['fd00::/8', 'fe00::'],
    ['2001:db8:0:1::/64', '2001:db8:0:2::'],
    ['::/0', '10.0.0.1'],
    ['0.0.0.0/0', '::1'],
    ['::ffff:10.0.0.0/104', '11.1.1.1'],
  ];
  for (const [range, address] of outside) assert.equal(contains(range, address), false, `${range} ${address}`);
});

test('a malformed range, or one with bits beyond its length, is none', () => {
  const texts = ['', '/', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/08', '10.0.0.0/8/8', '10.0.0.0/8 '];
  const others = [
    '10.1.2.3/8',
    'fd00::1/8',
    '::/129',
    'fe80::%eth0/10',
    '::ffff:10.0.0.0/95',
    '::ffff:10.0.0.0/200',
    'x/8',
  ];
  for (const text of [...texts, ...others]) assert.equal(parseRange(text), null, text);
});

test('ranges agree with the platform', () => {
  const word = fc.integer({ min: 0, max: 0xffff_ffff });
  const family = fc.oneof(fc.tuple(word), fc.tuple(word, word, word, word));
  fc.assert(
    fc.property(family, fc.nat(128), fc.array(fc.nat(127), { maxLength: 2 }), (words, length, flips) => {
      const type = words.length === 1 ? 'ipv4' : 'ipv6';
      const prefix = Math.min(length, words.length * 32);
      const base = words.map((each, at) => {
        const bits = Math.min(32, Math.max(0, prefix - at * 32));
        return bits === 0 ? 0 : (each & (0xffff_ffff << (32 - bits))) >>> 0;
      });
      const near = words.map(
        (each, at) => flips.reduce((sum, bit) => (bit >> 5 === at ? sum ^ (1 << (bit & 31)) : sum), each) >>> 0,
      );
      const list = new BlockList();
      list.addSubnet(formatIp(base), prefix, type);
      assert.equal(contains(`${formatIp(base)}/${prefix}`, formatIp(near)), list.check(formatIp(near), type));
    }),
    { numRuns: 2_000 },
  );
});
