import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { clientAddressOf, createClientAddressReader, parseTrustedProxies } from './client-address.js';

const NOBODY = parseTrustedProxies([]);
const PROXIES = parseTrustedProxies(['loopback', 'private', '198.51.100.7']);
const PROXY = '127.0.0.1';

function textOf(peer: string, forwarded: string | undefined, trusted = PROXIES): string {
  return clientAddressOf(peer, forwarded, trusted).text;
}

test('the client is the peer when nobody is trusted, whatever the header says', () => {
  for (const header of [undefined, '', '203.0.113.9', '127.0.0.1, 203.0.113.9']) {
    assert.equal(textOf('192.0.2.1', header, NOBODY), '192.0.2.1');
    assert.equal(textOf('127.0.0.1', header, NOBODY), '127.0.0.1');
    assert.equal(textOf('192.0.2.1', header), '192.0.2.1');
  }
});

test('behind trusted proxies the client is the right-most entry that is not trusted', () => {
  assert.equal(textOf(PROXY, '203.0.113.9'), '203.0.113.9');
  assert.equal(textOf(PROXY, '192.0.2.66, 203.0.113.9'), '203.0.113.9');
  assert.equal(textOf(PROXY, '192.0.2.66,203.0.113.9 ,\t10.1.2.3,198.51.100.7'), '203.0.113.9');
  assert.equal(textOf('::ffff:10.0.0.1', '2001:db8::9'), '2001:db8::9');
  assert.equal(textOf('::1', '::ffff:203.0.113.9'), '203.0.113.9');
  assert.equal(textOf('fd12::1', '203.0.113.9'), '203.0.113.9');
});

test('a chain of trusted proxies alone leads to its left-most', () => {
  assert.equal(textOf(PROXY, '10.0.0.1'), '10.0.0.1');
  assert.equal(textOf(PROXY, '10.0.0.1, 10.0.0.2, 10.0.0.3'), '10.0.0.1');
  assert.equal(textOf(PROXY, undefined), PROXY);
});

test('an entry that is no address ends the reading at the last good one', () => {
  for (const garbage of [
    '',
    ' ',
    'unknown',
    '_hidden',
    '1.2.3',
    '999.1.1.1',
    '1.2.3.4 5',
    '"1.2.3.4"',
    '[1.2.3.4]',
    '::g',
  ]) {
    assert.equal(textOf(PROXY, garbage), PROXY, garbage);
    assert.equal(textOf(PROXY, `203.0.113.9, ${garbage}`), PROXY, garbage);
    assert.equal(textOf(PROXY, `203.0.113.9, ${garbage}, 10.0.0.1`), '10.0.0.1', garbage);
    assert.equal(textOf(PROXY, `${garbage}, 203.0.113.9`), '203.0.113.9', garbage);
  }
});

test('entries may carry a port, brackets and a zone', () => {
  assert.equal(textOf(PROXY, '203.0.113.9:567'), '203.0.113.9');
  assert.equal(textOf(PROXY, '[2001:db8::9]:80'), '2001:db8::9');
  assert.equal(textOf(PROXY, '[2001:db8::9]'), '2001:db8::9');
  assert.equal(textOf(PROXY, '[fe80::9%eth0]:80'), 'fe80::9');
  assert.equal(textOf(PROXY, 'fe80::9%eth0'), 'fe80::9');
  assert.equal(textOf(PROXY, '203.0.113.9, 10.0.0.1:80'), '203.0.113.9');
  for (const bad of [
    '203.0.113.9:',
    '203.0.113.9:65536',
    '203.0.113.9:x',
    '[2001:db8::9]:',
    '[2001:db8::9',
    '[::1]x',
  ]) {
    assert.equal(textOf(PROXY, bad), PROXY, bad);
  }
});

test('IPv4 is limited by address, IPv6 by its /64, a mapped address as IPv4', () => {
  const keyOf = (peer: string) => clientAddressOf(peer, undefined, NOBODY);
  assert.deepEqual(keyOf('192.0.2.1'), { text: '192.0.2.1', limitKey: '192.0.2.1' });
  assert.deepEqual(keyOf('::ffff:192.0.2.1'), { text: '192.0.2.1', limitKey: '192.0.2.1' });
  assert.deepEqual(keyOf('2001:DB8:0:1::5'), { text: '2001:db8:0:1::5', limitKey: '2001:db8:0:1::/64' });
  assert.deepEqual(keyOf('fe80::1%eth0'), { text: 'fe80::1', limitKey: 'fe80::/64' });
  assert.equal(keyOf('2001:db8:0:1:ffff:ffff:ffff:ffff').limitKey, '2001:db8:0:1::/64');
  assert.equal(keyOf('2001:db8:0:2::5').limitKey, '2001:db8:0:2::/64');
  assert.equal(keyOf('::1').limitKey, '::/64');
});

test('a peer without an address is never trusted', () => {
  const everyone = parseTrustedProxies(['0.0.0.0/0', '::/0']);
  for (const peer of ['', 'unix', '/tmp/socket', 'localhost']) {
    assert.deepEqual(clientAddressOf(peer, '203.0.113.9', everyone), { text: 'unknown', limitKey: 'unknown' });
  }
});

test('what a client writes to the left of its real address changes nothing', () => {
  const entry = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('10.0.0.1', '', 'x', ',', '[::1]:80', '127.0.0.1:1'));
  const forged = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(entry).map((each) => each.join(', ')),
  );
  fc.assert(
    fc.property(forged, fc.nat(40), (text, times) => {
      const header = `${`${text},`.repeat(times)}203.0.113.9, 10.0.0.1`;
      assert.equal(textOf(PROXY, header), '203.0.113.9');
    }),
  );
});

test('arbitrary headers give the peer or an address that a trusted proxy could have written', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (header) => {
      const { text, limitKey } = clientAddressOf(PROXY, header, PROXIES);
      assert.ok(text === PROXY || /^[\d.]+$|^[\da-f:]+$/.test(text));
      assert.ok(limitKey.length <= 'ffff:ffff:ffff:ffff::/64'.length);
    }),
    { numRuns: 1_000 },
  );
});

test('only the last 32 entries and 4096 characters of a header are read', () => {
  const hops = (count: number) => Array(count).fill('10.0.0.1').join(', ');
  assert.equal(textOf(PROXY, `203.0.113.9, ${hops(31)}`), '203.0.113.9');
  assert.equal(textOf(PROXY, `203.0.113.9, ${hops(32)}`), '10.0.0.1');
  assert.equal(textOf(PROXY, `203.0.113.9, 10.0.0.2,${' '.repeat(4_090)}10.0.0.1`), PROXY);
  // Cut after 4096 characters this would begin with 3.0.113.9, which is another client.
  const cut = `203.0.113.9,${' '.repeat(4_096 - '3.0.113.9,'.length - '10.0.0.1'.length)}10.0.0.1`;
  assert.equal(textOf(PROXY, cut), '10.0.0.1');
});

test('the list of proxies takes addresses, ranges and words', () => {
  assert.deepEqual(parseTrustedProxies([]).ranges, []);
  const trusted = parseTrustedProxies(['loopback', 'private', '203.0.113.0/24', '2001:db8::1']);
  for (const proxy of [
    '127.9.9.9',
    '::1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    'fc00::1',
    '203.0.113.9',
    '2001:db8::1',
  ]) {
    assert.equal(textOf(proxy, '192.0.2.1', trusted), '192.0.2.1', proxy);
  }
  for (const stranger of ['172.32.0.1', '169.254.1.1', '2001:db8::2', '100.64.0.1']) {
    assert.equal(textOf(stranger, '192.0.2.1', trusted), stranger);
  }
});

test('a malformed entry in the list of proxies is named by its place', () => {
  for (const entry of [
    '',
    'localhost',
    '10.0.0.0/33',
    '10.1.0.0/8',
    '300.1.1.1',
    'Loopback',
    'constructor',
    '*',
    '10.0.0.1:80',
  ]) {
    assert.throws(
      () => parseTrustedProxies(['10.0.0.1', entry]),
      /^Error: entry 2 is not an IP address, a range/,
      entry,
    );
  }
  assert.throws(() => parseTrustedProxies(Array(1_025).fill('10.0.0.1')), /at most 1024 entries/);
});

test('what is remembered of peers changes no answer, also past the number that is remembered', () => {
  const read = createClientAddressReader(PROXIES);
  const peers = Array.from({ length: 2_500 }, (_, n) => `192.0.${n >> 8}.${n & 255}`);
  for (const peer of [...peers, ...peers, PROXY, '::1', 'nonsense']) {
    assert.deepEqual(read(peer, undefined), clientAddressOf(peer, undefined, PROXIES));
    assert.deepEqual(read(peer, '203.0.113.9'), clientAddressOf(peer, '203.0.113.9', PROXIES));
  }
});
