import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatIp } from '../limits/ip-address.js';
import { readDestination } from './destination.js';
import { createOutboundPolicy, type OutboundPolicy, PRODUCT_CALLER, type TenantOutboundRules } from './policy.js';
import { isInternalAddress, isPublicAddress, readAddress } from './public-address.js';
import { parseAllowRules, parseDenyRules } from './rules.js';

const NOT_PUBLIC = [
  ...['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255', '127.0.0.1'],
  ...['127.255.255.255', '169.254.0.0', '169.254.169.254', '172.16.0.0', '172.31.255.255', '192.0.0.0', '192.0.0.255'],
  ...['192.0.2.1', '192.88.99.1', '192.168.0.0', '192.168.255.255', '198.18.0.0', '198.19.255.255', '198.51.100.7'],
  ...['203.0.113.9', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...[
    '::',
    '::1',
    '::7f00:1',
    '::8.8.8.8',
    'fe80::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '100::1',
    '64:ff9b::808:808',
  ],
  ...[
    '64:ff9b:1::1',
    '2001::1',
    '2001:1ff:ffff::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '3fff::1',
    '3fff:fff::1',
    '4000::1',
  ],
  ...[
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '0:0:0:0:0:ffff:a9fe:a9fe',
    '::ffff:0:127.0.0.1',
    '1fff::1',
  ],
];
const PUBLIC = [
  ...['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'],
  ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '191.255.255.255', '192.0.1.0', '192.0.3.0'],
  ...['192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255', '::ffff:8.8.8.8'],
  ...[
    '2001:200::1',
    '2001:4860:4860::8888',
    '2003::1',
    '2606:4700::1111',
    '2a00::1',
    '3ffe::1',
    '3fff:1000::1',
    '3000::',
  ],
];

describe('which addresses are public', () => {
  for (const text of NOT_PUBLIC) it(`not ${text}`, () => assert.equal(isPublicAddress(read(text)), false));
  for (const text of PUBLIC) it(text, () => assert.equal(isPublicAddress(read(text)), true));

  it('none with a zone, and nothing that is not an address', () => {
    for (const text of ['fe80::1%eth0', '2606:4700::1%1', '', '1.2.3', '01.2.3.4', '1.2.3.4 ', 'localhost', '0x7f.1']) {
      assert.equal(readAddress(text), null, text);
    }
  });

  it('internal are private, shared, unique local and loopback ones, and not those of metadata services', () => {
    for (const text of ['10.1.2.3', '100.64.0.1', '127.0.0.1', '172.16.0.1', '192.168.1.1', '::1', 'fd00::1'])
      assert.equal(isInternalAddress(read(text)), true, text);
    for (const text of [
      '169.254.169.254',
      'fe80::1',
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
      '::',
      '64:ff9b::a00:1',
    ])
      assert.equal(isInternalAddress(read(text)), false, text);
  });

  it('the platform’s own lists of ranges judge the same way', () => {
    const refused = new BlockList();
    for (const [network, bits] of [
      ...([
        ['0.0.0.0', 8],
        ['10.0.0.0', 8],
        ['100.64.0.0', 10],
        ['127.0.0.0', 8],
        ['169.254.0.0', 16],
      ] as const),
      ...([
        ['172.16.0.0', 12],
        ['192.0.0.0', 24],
        ['192.0.2.0', 24],
        ['192.88.99.0', 24],
        ['192.168.0.0', 16],
      ] as const),
      ...([
        ['198.18.0.0', 15],
        ['198.51.100.0', 24],
        ['203.0.113.0', 24],
        ['224.0.0.0', 4],
        ['240.0.0.0', 4],
      ] as const),
    ] as const)
      refused.addSubnet(network, bits, 'ipv4');
    const some = fc.oneof(
      fc.nat(0xffff_ffff),
      fc
        .tuple(fc.constantFrom(...NOT_PUBLIC.filter((text) => !text.includes(':'))), fc.integer({ min: -2, max: 2 }))
        .map(([text, step]) => ((read(text)[0] ?? 0) + step) >>> 0),
    );
    fc.assert(
      fc.property(some, (word) => isPublicAddress([word]) === !refused.check(formatIp([word]), 'ipv4')),
      { numRuns: 5_000 },
    );
  });
});

/** What a tenant may reach: URL, addresses of its name, and whether that is allowed. */
type Case = readonly [url: string, addresses: readonly string[], isAllowed: boolean];

const OPEN: readonly Case[] = [
  ['https://api.example.com/', ['93.184.216.34'], true],
  ['https://api.example.com:443/', ['93.184.216.34', '2606:2800::1'], true],
  ['https://93.184.216.34/', ['93.184.216.34'], true],
  ['https://api.example.com/', ['93.184.216.34', '10.0.0.1'], false],
  ['https://api.example.com/', ['10.0.0.1', '93.184.216.34'], false],
  ['https://api.example.com/', ['fe80::1%eth0'], false],
  ['https://api.example.com/', ['nonsense'], false],
  ['https://api.example.com/', [], false],
  ['https://api.example.com:8443/', ['93.184.216.34'], false],
  ['http://api.example.com/', ['93.184.216.34'], false],
  ['http://api.example.com:443/', ['93.184.216.34'], false],
];

const LISTED: readonly Case[] = [
  ...OPEN,
  ['https://pay.corp.internal/', ['10.1.1.1'], true],
  ['https://PAY.corp.internal./', ['10.1.1.1'], true],
  ['https://pay.corp.internal/', ['169.254.169.254'], false],
  ['https://pay.corp.internal/', ['10.1.1.1', '0.0.0.0'], false],
  ['https://pay.corp.internal:444/', ['10.1.1.1'], false],
  ['http://pay.corp.internal/', ['10.1.1.1'], false],
  ['https://x.pay.corp.internal/', ['10.1.1.1'], false],
  ['https://a.wild.internal:8443/', ['192.168.1.1'], true],
  ['https://a.b.wild.internal:8443/', ['192.168.1.1'], true],
  ['https://a.wild.internal/', ['192.168.1.1'], false],
  ['https://wild.internal:8443/', ['192.168.1.1'], false],
  ['https://notwild.internal:8443/', ['192.168.1.1'], false],
  ['https://secret.wild.internal:8443/', ['192.168.1.1'], false],
  ['http://old.example.com/', ['93.184.216.34'], true],
  ['https://old.example.com/', ['93.184.216.34'], true],
  ['http://old.example.com:8080/', ['93.184.216.34'], false],
  ['http://172.16.5.5:8080/', ['172.16.5.5'], true],
  ['http://any.test:8080/', ['172.16.5.5'], true],
  ['http://any.test:8080/', ['172.16.5.5', '172.17.0.1'], false],
  ['http://any.test:8080/', ['93.184.216.34'], false],
  ['https://[fd00:1::7]:9443/', ['fd00:1::7'], true],
  ['https://[fd00:2::7]:9443/', ['fd00:2::7'], false],
  ['https://169.254.10.10/', ['169.254.10.10'], true],
  ['https://[::ffff:169.254.10.10]/', ['169.254.10.10'], true],
  ['https://api.blocked.example/', ['93.184.216.34'], false],
  ['https://blocked.example/', ['93.184.216.34'], true],
  ['https://fine.example/', ['198.41.0.4'], false],
  ['https://198.41.0.4/', ['198.41.0.4'], false],
  ['https://fine.example/', ['93.184.216.34', '198.41.0.4'], false],
];

const RULES = {
  allow: parseAllowRules([
    ...['pay.corp.internal', '*.wild.internal:8443', 'http://old.example.com', 'http://172.16.5.0/24:8080'],
    ...['[fd00:1::/32]:9443', '169.254.10.10'],
  ]),
  deny: parseDenyRules(['*.blocked.example', '198.41.0.0/24', 'secret.wild.internal']),
  public: 'allowed',
} as const;
const NONE = { allow: [], deny: [], public: 'allowed' } as const;

describe('what a tenant may reach', () => {
  for (const [title, policy, cases] of [
    ['without rules', createOutboundPolicy(NONE, new Map())(''), OPEN],
    ['with rules', createOutboundPolicy(RULES, new Map())(''), LISTED],
  ] as const) {
    for (const [url, addresses, isAllowed] of cases) {
      it(`${title}: ${isAllowed ? 'yes' : 'no'} to ${url} at ${addresses.join(' ')}`, () =>
        assert.equal(mayReach(policy, url, addresses), isAllowed));
    }
  }

  it('where public addresses are refused, only what is listed', () => {
    const policy = createOutboundPolicy({ ...RULES, public: 'refused' }, new Map())('');
    assert.equal(mayReach(policy, 'https://api.example.com/', ['93.184.216.34']), false);
    assert.equal(mayReach(policy, 'https://pay.corp.internal/', ['93.184.216.34']), true);
    assert.equal(mayReach(policy, 'https://pay.corp.internal/', ['10.0.0.1']), true);
    const ranged = createOutboundPolicy(
      { ...NONE, allow: parseAllowRules(['10.0.0.0/8']), public: 'refused' },
      new Map(),
    )('');
    assert.equal(mayReach(ranged, 'https://10.0.0.1/', ['10.0.0.1']), true);
    const spelt = destinationOf('https://4242424242424242.example.com/');
    assert.equal(ranged.refusal(spelt), 'not_listed', 'no name server is told a name that nobody listed');
    const bare = createOutboundPolicy({ ...NONE, public: 'refused' }, new Map())('');
    assert.equal(bare.refusal(destinationOf('https://api.example.com/')), 'not_listed');
  });

  it('a tenant’s own rules widen and narrow, and hold for no other tenant; a common denial wins', () => {
    const own: TenantOutboundRules = {
      allow: parseAllowRules(['own.internal', '198.41.0.4', 'api.blocked.example']),
      deny: parseDenyRules(['pay.corp.internal']),
      public: 'refused',
    };
    const of = createOutboundPolicy(RULES, new Map([['a', own]]));
    assert.equal(mayReach(of('a'), 'https://own.internal/', ['10.0.0.1']), true);
    assert.equal(mayReach(of('b'), 'https://own.internal/', ['10.0.0.1']), false);
    assert.equal(mayReach(of('a'), 'https://pay.corp.internal/', ['10.0.0.1']), false);
    assert.equal(mayReach(of('b'), 'https://pay.corp.internal/', ['10.0.0.1']), true);
    assert.equal(mayReach(of('a'), 'https://198.41.0.4/', ['198.41.0.4']), false);
    assert.equal(mayReach(of('a'), 'https://api.blocked.example/', ['93.184.216.34']), false);
    assert.equal(mayReach(of('a'), 'https://api.example.com/', ['93.184.216.34']), false);
    assert.equal(mayReach(of('b'), 'https://api.example.com/', ['93.184.216.34']), true);
  });

  it('the product reaches what is named for it alone, whatever is allowed or denied to tenants', () => {
    const common = {
      allow: parseAllowRules(['tenants.internal']),
      deny: parseDenyRules(['10.0.0.0/8', 'id.internal']),
      public: 'allowed',
    } as const;
    const own = { allow: parseAllowRules(['id.internal:8443']), deny: [], public: 'refused' } as const;
    const policyOf = createOutboundPolicy(common, new Map(), own);
    const ofProduct = policyOf(PRODUCT_CALLER);
    assert.ok(mayReach(ofProduct, 'https://id.internal:8443/', ['10.0.0.1']));
    assert.ok(!mayReach(policyOf('a'), 'https://id.internal:8443/', ['10.0.0.1']));
    for (const url of [
      'https://id.internal/',
      'https://tenants.internal/',
      'https://example.com/',
      'https://10.0.0.1:8443/',
    ]) {
      assert.ok(!mayReach(ofProduct, url, ['10.0.0.1']) && !mayReach(ofProduct, url, ['8.8.8.8']), url);
    }
    const unnamed = createOutboundPolicy(common, new Map())(PRODUCT_CALLER);
    assert.ok(!mayReach(unnamed, 'https://example.com/', ['8.8.8.8']));
    assert.ok(!mayReach(unnamed, 'https://tenants.internal/', ['10.0.0.1']));
  });

  it('what is dialled is written from what was judged: a mapped address as IPv4', () => {
    const policy = createOutboundPolicy(NONE, new Map())('');
    assert.deepEqual(policy.vet(destinationOf('https://x.test/'), ['::ffff:8.8.8.8', '2606:4700:0:0::1111']), [
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
  });
});

describe('rules', () => {
  for (const text of [
    ...[
      '',
      '*',
      '*.',
      '*.*.example',
      'a b',
      'https://',
      'ftp://x',
      'x/path',
      'https://x/',
      'u@x',
      'x:0',
      'x:65536',
      'x:-1',
    ],
    ...[
      '10.0.0.1/8',
      '10.0.0.0/33',
      '256.1.1.1',
      '010.0.0.1',
      '0x7f.1',
      '2130706433',
      '*.10.0.0.1',
      'fd00::/8:8443',
      '[fd12::',
    ],
    ...['[x]:1', 'fe80::1%eth0', 'a..b', 'x?y', 'x#y', 'x\\y', 'x:8443:1', '١.example:1:2'],
  ]) {
    it(`refuses ${JSON.stringify(text)}, and does not repeat it`, () => {
      // A lone sign may be a part of any sentence.
      const isShown = (message: string): boolean => text.length > 4 && message.includes(text);
      assert.throws(
        () => parseAllowRules(['good.example', text]),
        (error: Error) => /^must be rules such as .*; rule 2 is none\.$/.test(error.message) && !isShown(error.message),
      );
    });
  }

  it('read names as a URL would: lower case, and other alphabets as DNS has them', () => {
    const policy = createOutboundPolicy(
      { ...NONE, allow: parseAllowRules(['Bücher.Internal', 'X.INTERNAL.']) },
      new Map(),
    )('');
    assert.equal(mayReach(policy, 'https://xn--bcher-kva.internal/', ['10.0.0.1']), true);
    assert.equal(mayReach(policy, 'https://x.internal/', ['10.0.0.1']), true);
  });

  it('are at most 1,024', () => {
    assert.throws(() => parseDenyRules(Array(1_025).fill('x.test')), /at most 1024 rules/);
  });
});

function mayReach(policy: OutboundPolicy, url: string, addresses: readonly string[]): boolean {
  const destination = destinationOf(url);
  return policy.refusal(destination) === undefined && typeof policy.vet(destination, addresses) !== 'string';
}

function destinationOf(url: string) {
  const destination = readDestination(url);
  return typeof destination === 'string' ? assert.fail(`${url}: ${destination}`) : destination;
}

function read(text: string) {
  return readAddress(text) ?? assert.fail(text);
}
