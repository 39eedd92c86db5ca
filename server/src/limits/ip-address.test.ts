import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatIp, parseIp } from './ip-address.js';

const ipv6Words = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff), fc.integer({ min: 0, max: 0xffff_ffff })), {
  minLength: 4,
  maxLength: 4,
});

function canonical(text: string): string | null {
  const address = parseIp(text);
  return address === null ? null : formatIp(address);
}

test('addresses have one way of writing', () => {
  const cases: [given: string, expected: string][] = [
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['192.0.2.1', '192.0.2.1'],
    ['::', '::'],
    ['::1', '::1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['1::', '1::'],
    ['2001:DB8::00A0', '2001:db8::a0'],
    ['2001:db8:0:1:0:0:0:1', '2001:db8:0:1::1'],
    ['2001:0:0:1:0:0:1:1', '2001::1:0:0:1:1'],
    ['1:0:2:0:3:0:4:0', '1:0:2:0:3:0:4:0'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['fe80::1%eth0', 'fe80::1'],
    ['fe80::1%25eth0', 'fe80::1'],
  ];
  for (const [given, expected] of cases) assert.equal(canonical(given), expected, given);
});

test('an IPv4 address mapped into IPv6 is that IPv4 address', () => {
  for (const text of ['::ffff:192.0.2.1', '::FFFF:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:ffff:192.0.2.1']) {
    assert.equal(canonical(text), '192.0.2.1', text);
  }
  assert.equal(canonical('::192.0.2.1'), '::c000:201');
  assert.equal(canonical('::fffe:192.0.2.1'), '::fffe:c000:201');
});

test('what is not exactly an address is none', () => {
  const dotted = ['', '1', '1.2.3', '1.2.3.4.5', '1.2.3.256', '01.2.3.4', '1.2.3.04', '1..3.4', '.1.2.3.4', '1.2.3.4.'];
  const odd = ['0x1.2.3.4', '1.2.3.4 ', ' 1.2.3.4', '1.2.3.4/8', '1.2.3.4:80', '1.2.3.4%eth0', '-1.2.3.4', '１.2.3.4'];
  const colons = [':', ':::', '1', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1::2::3', ':1::2', '1::2:', '12345::', 'g::'];
  const mixed = [
    '::1.2.3',
    '::1.2.3.4:5',
    '1.2.3.4::',
    '1:2:3:4:5:6:7:1.2.3.4',
    '[::1]',
    '::ffff:1.2.3.4.5',
    'unknown',
  ];
  for (const text of [...dotted, ...odd, ...colons, ...mixed, '1:2:3:4:5:6:7:8::', `::${'0'.repeat(80)}`]) {
    assert.equal(parseIp(text), null, text);
  }
});

test('an address is taken exactly when the platform takes it', () => {
  const parts = fc.constantFrom(
    '0',
    '1',
    '255',
    '256',
    '01',
    'ffff',
    'a',
    '::',
    ':',
    '.',
    '1.2.3.4',
    '%',
    'x',
    '10000',
  );
  const text = fc.array(parts, { maxLength: 16 }).map((each) => each.join(''));
  const isTaken = (each: string) => parseIp(each) !== null;
  fc.assert(
    fc.property(fc.oneof(text, fc.ipV4(), fc.ipV6()), (each) => {
      // Zones aside, which the platform restricts and which are cut off here.
      if (!each.includes('%')) assert.equal(isTaken(each), isIP(each) !== 0, each);
    }),
    { numRuns: 20_000 },
  );
});

test('IPv6 is written as the platform writes it and reads back as the same address', () => {
  fc.assert(
    fc.property(ipv6Words, (words) => {
      if (words[0] === 0 && words[1] === 0 && words[2] === 0xffff) return;
      const text = formatIp(words);
      assert.equal(new URL(`http://[${text}]/`).hostname, `[${text}]`);
      assert.deepEqual(parseIp(text), words);
    }),
    { numRuns: 2_000 },
  );
});
