import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import type { DialTarget } from './connect.js';
import { HIDDEN } from './hidden-hosts-fixture.js';
import type { WayOptions } from './outbound-fixture.js';
import { bodyText, failureFrom, OTHER_TENANT, rawServer, refuseToDial, TENANT, wayOut } from './outbound-fixture.js';
import { isPublicAddress, readAddress } from './public-address.js';

const NAMES = {
  'public.test': ['93.184.216.34'],
  'both.test': ['93.184.216.34', '2606:2800::1'],
  'private.test': ['10.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'mixed.test': ['93.184.216.34', '192.168.0.1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'empty.test': [],
  'listed.test': ['10.9.9.9'],
};
const ALLOW = ['listed.test', 'http://10.8.0.0/16:8080'];

/** Writes down what would have been dialled. Nothing here reaches a network, whatever the policy says. */
function recording(more: WayOptions = {}) {
  return wayOut({ allow: ALLOW, names: NAMES, isDialled: false, ...more });
}

const REFUSED: readonly (readonly [string, string])[] = [
  ...HIDDEN.map((host) => [`https://${host}/`, 'address'] as const),
  ['https://private.test/', 'address'],
  ['https://metadata.test/', 'address'],
  ['https://mixed.test/', 'address'],
  ['https://mapped.test/', 'address'],
  ['https://nat64.test/', 'address'],
  ['https://empty.test/', 'unresolved'],
  ['https://nowhere.test/', 'unresolved'],
  ['https://localhost/', 'unresolved'],
  ['http://public.test/', 'scheme'],
  ['http://public.test:443/', 'scheme'],
  ['https://public.test:80/', 'port'],
  ['https://public.test:8443/', 'port'],
  ['https://93.184.216.34:22/', 'port'],
  ['https://public.test:0/', 'host'],
  ['https://user@public.test/', 'userinfo'],
  ['https://user:pass@public.test/', 'userinfo'],
  ['https://:pass@public.test/', 'userinfo'],
  ['https://public.test@127.0.0.1/', 'userinfo'],
  ['https://public.test\\@127.0.0.1/', 'unresolved-or-dialled'],
  ['ftp://public.test/', 'scheme'],
  ['file:///etc/passwd', 'scheme'],
  ['data:text/plain,x', 'scheme'],
  ['blob:https://public.test/x', 'scheme'],
  ['javascript:1', 'scheme'],
  ['ws://public.test/', 'scheme'],
  ['unix:/var/run/docker.sock', 'scheme'],
  ['https://public..test/', 'host'],
  ['https://*/', 'host'],
  ['https://a!b.test/', 'host'],
  [`https://${'a'.repeat(64)}.test/`, 'host'],
  ['https://', 'url'],
  ['https://[fe80::1%25eth0]/', 'url'],
  ['https://1.2.3.4.5/', 'url'],
  ['https://256.1.1.1/', 'url'],
  ['https://public.test:99999/', 'url'],
  ['//public.test/', 'url'],
  ['', 'url'],
];

describe('destinations that are refused', () => {
  for (const [url, reason] of REFUSED.filter(([, why]) => why !== 'unresolved-or-dialled')) {
    it(`${JSON.stringify(url)}: ${reason}, nothing is dialled`, async () => {
      const way = recording();
      const failure = await failureFrom(way.get(url));
      assert.equal(failure.reason, reason);
      assert.deepEqual(way.dialled, []);
      assert.equal(way.figure('refusals_total', reason), 1);
      assert.equal(way.refusals.length, reason === 'unresolved' ? 0 : 1);
    });
  }

  for (const [url, addresses] of [
    ['https://public.test/', ['93.184.216.34']],
    ['https://both.test/', ['93.184.216.34', '2606:2800::1']],
    ['https://PUBLIC.test./', ['93.184.216.34']],
    ['https://public.test\\@127.0.0.1/', ['93.184.216.34']],
    ['https://93.184.216.34/', ['93.184.216.34']],
    ['https://0x5db8d822/', ['93.184.216.34']],
    ['https://[2606:2800::1]/', ['2606:2800::1']],
    ['https://[::ffff:93.184.216.34]/', ['93.184.216.34']],
    ['https://listed.test/', ['10.9.9.9']],
    ['http://10.8.1.1:8080/', ['10.8.1.1']],
  ] as const) {
    it(`not ${JSON.stringify(url)}: ${addresses.join(', ')} would be dialled`, async () => {
      const way = recording();
      assert.equal((await failureFrom(way.get(url))).code, 'unreachable');
      assert.deepEqual(way.dialled, addresses);
    });
  }

  it('look alike to the caller, whether a name is private, mixed, denied or not there at all', async () => {
    const way = recording({ deny: ['denied.test'], resolve: async (name) => resolveOrThrow(name) });
    const shown = new Set<string>();
    for (const host of [
      'private.test',
      'mixed.test',
      'metadata.test',
      'empty.test',
      'nowhere.test',
      'denied.test',
      'broken.test',
      '10.0.0.1',
    ]) {
      const { name, code, message } = await failureFrom(way.get(`https://${host}/`));
      shown.add(JSON.stringify({ name, code, message }));
    }
    const slow = recording({ resolve: () => new Promise(() => {}), bounds: { connectMs: 20 } });
    const { name, code, message } = await failureFrom(slow.get('https://slow.test/'));
    shown.add(JSON.stringify({ name, code, message }));
    assert.equal(shown.size, 1, [...shown].join('\n'));
  });

  it('leave tenant, reason and host in the security log, and nothing else of the request', async () => {
    const way = recording();
    const secret = 'canary-4242';
    const failure = await failureFrom(
      way.send({
        tenantId: TENANT,
        method: 'POST',
        url: `https://private.test/${secret}?${secret}#${secret}`,
        headers: [['Authorization', secret]],
        body: Buffer.from(secret),
      }),
    );
    await failureFrom(way.get(`https://${secret}:${secret}@public.test/`));
    await failureFrom(way.get('https://card-4242-4242-4242-4242.private.test:8443/'));
    await failureFrom(way.get('https://192.168.100.100/'));
    assert.deepEqual(way.refusals, [
      { tenantId: TENANT, reason: 'address', host: 'private.test' },
      { tenantId: TENANT, reason: 'userinfo' },
      { tenantId: TENANT, reason: 'port', host: 'card-#.private.test' },
      { tenantId: TENANT, reason: 'address', host: '192.168.100.100' },
    ]);
    const everything = `${inspect(failure, { depth: 9 })} ${inspect(way.gauges.map(({ read }) => read()))}`;
    assert.doesNotMatch(everything, /canary|private\.test|10\.0\.0\.1/);
  });

  it('fill no log: ten lines a minute for a tenant, then one with the number of the others', async () => {
    const way = recording();
    for (let sent = 0; sent < 25; sent += 1) await failureFrom(way.get('https://10.0.0.1/'));
    await failureFrom(way.get('https://10.0.0.1/', { tenantId: OTHER_TENANT }));
    assert.equal(way.refusals.length, 11);
    way.clock.advance(60_000);
    await failureFrom(way.get('https://10.0.0.2/'));
    assert.deepEqual(way.refusals.slice(11), [
      { tenantId: TENANT, reason: 'address', host: '10.0.0.1', unlogged: 15 },
      { tenantId: TENANT, reason: 'address', host: '10.0.0.2' },
    ]);
    assert.equal(way.figure('refusals_total', 'address'), 27);
    await way.close();
    assert.equal(way.refusals.length, 13);
  });
});

describe('whatever is given', () => {
  const host = fc.oneof(
    fc.constantFrom(...HIDDEN, ...Object.keys(NAMES)),
    fc.ipV4(),
    fc.ipV4Extended(),
    fc.ipV6().map((text) => `[${text}]`),
    fc.domain(),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.nat(0xffff_ffff).map(String),
  );
  const scheme = fc.constantFrom('https://', 'https:', 'HTTPS:\\\\', 'http://', 'https:///', ' https://');
  const port = fc.constantFrom('', ':443', ':8080', ':80', ':00443', ':');
  const url = fc.oneof(
    fc
      .tuple(scheme, fc.constantFrom('', '', '', 'a@', '@'), host, port, fc.constantFrom('', '/', '/x?y', '\\x', '#'))
      .map((parts) => parts.join('')),
    fc.webUrl(),
    fc.string({ unit: 'binary' }),
  );
  const address = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('10.8.0.1', '93.184.216.34', '2606:2800::1', '::ffff:8.8.8.8') },
    fc.ipV4(),
    fc.ipV6(),
    fc.constantFrom('x', '', 'fe80::1%eth0'),
  );
  const addresses = fc.array(address, { maxLength: 4 });
  const bytes = fc.string({ unit: 'binary', maxLength: 6 });
  const headers = fc.oneof(
    { weight: 9, arbitrary: fc.constant([]) },
    fc.array(fc.tuple(bytes, bytes), { maxLength: 3 }),
  );

  it('it fails as an OutboundError, and every address dialled is public on 443 or allowed', async () => {
    const wrong: string[] = [];
    let dials = 0;
    function dial(target: DialTarget): Socket {
      dials += 1;
      for (const { address } of target.addresses) {
        const isOpen = target.port === 443 && isPublicAddress(readAddress(address) ?? assert.fail(address));
        const isListed =
          (target.port === 443 && address === '10.9.9.9') || (target.port === 8080 && address.startsWith('10.8.'));
        if (!isOpen && !isListed) wrong.push(`${address}:${target.port}`);
      }
      return refuseToDial(target);
    }
    await fc.assert(
      fc.asyncProperty(url, addresses, headers, async (text, found, pairs) => {
        const way = recording({ resolve: async (name) => (name === 'listed.test' ? ['10.9.9.9'] : found), dial });
        await failureFrom(way.get(text, { headers: pairs }));
        assert.deepEqual(wrong, [], text);
      }),
      { numRuns: 3_000 },
    );
    assert.ok(dials > 100, `${dials} were dialled, so the policy was really asked`);
  });
});

describe('a name that changes its addresses', () => {
  it('200, then refused: each connection is judged by the addresses it goes to', async () => {
    const server = await rawServer((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'),
    );
    const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1', '10.0.0.1'], [], ['127.0.0.1']];
    let asked = 0;
    const way = wayOut({
      allow: [`http://127.0.0.1:${server.port}`],
      resolve: async () => answers[asked++] ?? [],
    });
    const url = `http://rebinding.test:${server.port}/`;
    assert.equal(await bodyText(await way.get(url)), 'ok');
    for (const reason of ['address', 'address', 'unresolved']) {
      assert.equal((await failureFrom(way.get(url))).reason, reason);
    }
    assert.equal(await bodyText(await way.get(url)), 'ok');
    assert.equal(asked, 5, 'one question for one connection');
    assert.deepEqual(way.dialled, ['127.0.0.1', '127.0.0.1']);
    await way.close();
    await server.close();
  });
});

async function resolveOrThrow(name: string): Promise<readonly string[]> {
  if (name === 'broken.test') throw Object.assign(new Error('queryA ESERVFAIL broken.test'), { code: 'ESERVFAIL' });
  return (NAMES as Readonly<Record<string, readonly string[]>>)[name] ?? [];
}
