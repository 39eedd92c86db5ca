// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { DialTarget } from '../../../outbound/connect.js';
import { dialTcp } from '../../../outbound/connect.js';
import { HIDDEN } from '../../../outbound/hidden-hosts-fixture.js';
import { refuseToDial } from '../../../outbound/outbound-fixture.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { WireAnswer } from './canaries-fixture.js';
import { callRaw } from './canaries-fixture.js';
import type { TestDestination } from './destination-fixture.js';
import { startDestination } from './destination-fixture.js';

/** Names as an attacker's name server gives them. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'public.test': ['93.184.216.34'],
  'denied.test': ['93.184.216.35'],
  'private.test': ['10.0.0.1'],
  'loopback.test': ['127.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'mixed.test': ['93.184.216.34', '192.168.0.1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'nat64.test': ['64:ff9b::a00:1'],
  'six.test': ['fd00:ec2::254'],
  'odd.test': ['127.1'],
};
const INSIDE = ['private', 'loopback', 'metadata', 'mixed', 'mapped', 'nat64', 'six', 'odd'].map((n) => `${n}.test`);
/** Spellings of a host that the operator denies by its name. */
const DENIED = [
  ...['denied.test', 'DENIED.Test', 'denied.test.', '%64enied.test', 'denied%2etest', 'denied。test', 'ｄenied.test'],
  ...['denied.test:443', 'denied.test:0443', 'de\u00adnied.test', 'de\tnied.test'],
];

describe('a caller who wants what the policy forbids', () => {
  let destination: TestDestination;
  let app: TestApp;
  let tenant: TestTenant;
  let key: string;
  /** Addresses with ports, as they would have been dialled. */
  const dialled: string[] = [];
  let asked: string[] = [];
  /** In place of the names above. */
  let resolveOnce: (readonly string[])[] = [];

  /** Only the destination of these tests is reached, whatever the policy says. */
  function dial(target: DialTarget) {
    dialled.push(...target.addresses.map(({ address }) => `${address}:${target.port}`));
    const isDestination = target.addresses.every(({ address }) => address === '127.0.0.1');
    return isDestination && target.port === destination.port ? dialTcp(target) : refuseToDial(target);
  }

  before(async () => {
    destination = await startDestination();
    app = await startTestApp({
      env: { ...destination.env, STRONGROOM_OUTBOUND_DENY: 'denied.test' },
      outboundWay: {
        dial,
        async resolve(name) {
          asked.push(name);
          if (name === 'localhost') return ['127.0.0.1'];
          return (name === 'rebinding.test' ? resolveOnce.shift() : NAMES[name]) ?? [];
        },
      },
    });
    tenant = await app.makeTenant();
    key = await app.makeKey(tenant.id, 'private', ['token:use']);
  });
  after(async () => {
    await app.close();
    await destination.close();
  });

  const written = (text: string) => Buffer.from(text).toString('latin1');
  const send = (target: string, headers: Readonly<Record<string, string>>): Promise<WireAnswer> =>
    callRaw(app.port, target, { method: 'GET', headers: { 'SVC-API-KEY': key, ...headers } });
  const ephemeral = (url: string, target = '/proxy/x') => send(target, { 'SVC-PROXY-URL': written(url) });
  const codeOf = ({ text }: WireAnswer): unknown => JSON.parse(text).proxy_error?.code ?? JSON.parse(text).code;

  async function store(url: string): Promise<{ status: number; id: string; key: string }> {
    const body = { name: 'Attack', destination_url: url };
    const { status, json } = await app.call('POST', '/proxies', { key: tenant.key, body });
    return { status, id: json.id, key: json.key };
  }

  /** What is seen of work that must reach nobody. */
  async function reachesNobody<T>(work: () => Promise<T>): Promise<T> {
    const [dials, seen] = [dialled.length, destination.seen.length];
    const outcome = await work();
    assert.deepEqual([dialled.slice(dials), destination.seen.slice(seen)], [[], []], 'somebody was reached');
    return outcome;
  }

  /** An address that leads nowhere, by each way there is to name one. */
  async function assertUnreachable(url: string): Promise<void> {
    await reachesNobody(async () => {
      const answer = await ephemeral(url);
      assert.ok([400, 422].includes(answer.status), `${url}: ${answer.status} ${answer.text}`);
      assert.match(String(codeOf(answer)), /^(malformed_request|destination_refused)$/);
      const made = await store(url);
      if (made.status === 400) return;
      const stored = await send('/proxy/x', { 'SVC-PROXY-KEY': made.key });
      assert.deepEqual([made.status, stored.status, codeOf(stored)], [201, 422, 'destination_refused'], url);
    });
    const good = await store('https://public.test');
    const patched = await app.call('PATCH', `/proxies/${good.id}`, { key: tenant.key, body: { destination_url: url } });
    if (patched.status === 400) return;
    const changed = await reachesNobody(() => send('/proxy/x', { 'SVC-PROXY-KEY': good.key }));
    assert.deepEqual([patched.status, changed.status], [204, 422], url);
  }

  it('does reach what it allows, so the ways below are open in principle', async () => {
    for (const answer of [
      await ephemeral('https://public.test'),
      await send('/proxy/x', { 'SVC-PROXY-KEY': (await store('https://public.test')).key }),
    ]) {
      assert.deepEqual([answer.status, codeOf(answer)], [502, 'destination_unreachable']);
    }
    assert.deepEqual(dialled.splice(0), ['93.184.216.34:443', '93.184.216.34:443']);
    assert.equal((await ephemeral(destination.url)).status, 200);
    assert.equal((await send('/proxy/x', { 'SVC-PROXY-KEY': (await store(destination.named)).key })).status, 200);
  });

  for (const host of HIDDEN) {
    it(`gets nowhere by ${JSON.stringify(host)}`, async () => {
      // A header holds no line; in JSON it may.
      if (host.includes('\n'))
        await reachesNobody(async () => assert.equal((await store(`https://${host}`)).status, 400));
      else await assertUnreachable(`https://${host}`);
    });
  }

  it('gets nowhere by a name with an address inside, which looks like a name that is not there', async () => {
    const told = new Set<string>();
    for (const host of [...INSIDE, 'nowhere.test', '10.0.0.1']) {
      await assertUnreachable(`https://${host}`);
      const { status, headers, text } = await ephemeral(`https://${host}`);
      const { trace_id: trace, ...problem } = JSON.parse(text).proxy_error;
      assert.equal(headers['svc-trace-id'], trace);
      told.add(JSON.stringify([status, problem, Object.keys(headers).sort()]));
    }
    assert.equal(told.size, 1, [...told].join('\n'));
  });

  it('gets nowhere by another spelling of a host that is denied', async () => {
    for (const host of DENIED) await assertUnreachable(`https://${host}/v1`);
  });

  it('gets nowhere by a port, a scheme or a user that is not allowed', async () => {
    for (const url of [
      ...['https://public.test:80', 'https://public.test:22', 'https://public.test:8443', 'https://public.test:0'],
      ...[`https://public.test:${destination.port}`, `https://localhost:${app.port}`, 'https://localhost'],
      ...['http://public.test', 'http://public.test:443', `http://localhost:${destination.port}`],
      ...['https://public.test@127.0.0.1', 'https://public.test:443@10.0.0.1', 'https://user:pass@public.test'],
      ...['https://localhost@10.0.0.1', 'https://@10.0.0.1', 'https://:@10.0.0.1', 'https://public.test%40@10.0.0.1'],
      ...['https:10.0.0.1', 'https:/10.0.0.1', 'https:\\\\10.0.0.1', 'https:///10.0.0.1', '//10.0.0.1', '10.0.0.1'],
      ...['ftp://public.test', 'file:///etc/passwd', 'unix:/var/run/docker.sock', 'ws://public.test', 'data:,x'],
    ]) {
      await assertUnreachable(url);
    }
  });

  it('gets nowhere by a name whose addresses change: they are asked for once, and those were judged', async () => {
    const { key: stored } = await store('https://rebinding.test');
    for (const go of [() => ephemeral('https://rebinding.test'), () => send('/proxy/x', { 'SVC-PROXY-KEY': stored })]) {
      [asked, resolveOnce] = [[], [['93.184.216.34'], ['127.0.0.1'], ['93.184.216.34', '10.0.0.1'], ['93.184.216.36']]];
      dialled.length = 0;
      const statuses = [await go(), await go(), await go(), await go()].map(({ status }) => status);
      assert.deepEqual(statuses, [502, 422, 422, 502]);
      assert.deepEqual(dialled, ['93.184.216.34:443', '93.184.216.36:443']);
      assert.equal(asked.length, statuses.length, 'one question for one connection');
    }
  });

  it('gets nowhere by a redirect: it is told, never followed, and no client follows it by itself', async () => {
    const { key: stored } = await store(destination.named);
    for (const status of [300, 301, 302, 303, 305, 307, 308]) {
      for (const location of ['https://10.0.0.1/', `http://127.0.0.1:${app.port}/`, '//private.test', '/elsewhere']) {
        const head = { Location: location, Refresh: `0; url=${location}`, Link: `<${location}>` };
        destination.answers.set('/moved', (response) => response.writeHead(status, head).end());
        for (const where of [{ 'SVC-PROXY-URL': destination.url }, { 'SVC-PROXY-KEY': stored }]) {
          const [seen, dials] = [destination.seen.length, new Set(dialled).size];
          const { status: told, headers } = await send('/proxy/moved', where);
          assert.deepEqual(
            [told, headers.location, headers.refresh, headers.link, headers['svc-proxy-destination-location']],
            [status, undefined, undefined, undefined, location],
          );
          assert.equal(destination.seen.length, seen + 1);
          assert.ok(new Set(dialled).size <= dials + 1);
        }
      }
    }
    assert.deepEqual(
      dialled.filter((each) => each.startsWith('10.') || each.endsWith(`:${app.port}`)),
      [],
    );
  });

  /** What is written behind `/proxy`, with what the destination may see of it; nothing where it is refused. */
  const PATHS: readonly (readonly [string, string?])[] = [
    ['//evil.test/x', '/v1//evil.test/x'],
    ['/http://evil.test/', '/v1/http://evil.test/'],
    ['/https:%2f%2fevil.test', '/v1/https:%2f%2fevil.test'],
    ['/@evil.test', '/v1/@evil.test'],
    ['/:443/x', '/v1/:443/x'],
    ['/a%2Fb', '/v1/a%2Fb'],
    ['/..a/...', '/v1/..a/...'],
    ['/a..%2f', '/v1/a..%2f'],
    ['/x?/../../admin', '/v1/x?/../../admin'],
    ['/x?url=https://10.0.0.1', '/v1/x?url=https://10.0.0.1'],
    ...['@evil.test', '.evil.test', ':8080', '%2f..', '%2e', '\\evil.test', ';x'].map((path) => [path] as const),
    ...['/\\evil.test', '\\\\evil.test', '/a\\..\\..\\admin', '/a#/../x'].map((path) => [path] as const),
    ...['/..', '/../', '/../admin', '/./x', '/a/..', '/a/../../admin', '/..?x', '/a/./../../b'].map(
      (path) => [path] as const,
    ),
    ...['/%2e%2e', '/%2e%2e/admin', '/.%2E/admin', '/%2E./x', '/a/%2e%2e/%2e%2e/admin'].map((path) => [path] as const),
    ...['/..%2fadmin', '/%2e%2e%2fadmin', '/a%2f..%2f..%2fadmin', '/..%5cadmin', '/%5c..%5cadmin', '/a%2F%2e%2E'].map(
      (path) => [path] as const,
    ),
    ...['/..;/admin', '/..;a=b/admin', '/%2e%2e;/admin', '/..%3b/admin', '/.;/admin'].map((path) => [path] as const),
  ];
  for (const [path, expected] of PATHS) {
    it(`stays below the base with ${path}`, async () => {
      const { key: stored } = await store(`${destination.named}/v1`);
      for (const where of [{ 'SVC-PROXY-URL': `${destination.url}/v1/` }, { 'SVC-PROXY-KEY': stored }]) {
        const seen = destination.seen.length;
        const answer = await send(`/proxy${path}`, { ...where, Host: 'evil.test' });
        if (expected === undefined) {
          assert.ok([400, 404].includes(answer.status), `${answer.status} ${answer.text}`);
          assert.equal(destination.seen.length, seen, destination.last().url);
        } else {
          assert.deepEqual([answer.status, destination.last().url], [200, expected]);
          assert.match(
            String(destination.last().headers.host),
            new RegExp(`^(localhost|127.0.0.1):${destination.port}$`),
          );
        }
      }
      assert.deepEqual(
        dialled.filter((each) => each !== `127.0.0.1:${destination.port}` && !each.startsWith('93.')),
        [],
      );
    });
  }

  it('gets nowhere by a whole address as the target, or by saying twice where to', async () => {
    const { key: stored } = await store(`${destination.named}/v1`);
    await reachesNobody(async () => {
      for (const target of ['http://10.0.0.1/proxy/x', 'https://private.test/proxy/x']) {
        const answer = await send(target, { 'SVC-PROXY-URL': 'https://private.test' });
        assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status}`);
      }
      const twice = await send('/proxy/x', { 'SVC-PROXY-URL': 'https://public.test, https://10.0.0.1' });
      assert.ok([400, 422].includes(twice.status), twice.text);
    });
    const ignored = await send('/proxy/x', { 'SVC-PROXY-KEY': stored, 'SVC-PROXY-URL': 'https://private.test' });
    assert.deepEqual([ignored.status, destination.last().url], [200, '/v1/x']);
    const inQuery = await send(`/proxy/x?svc-proxy-key=${stored}&svc-proxy-url=https://private.test`, {});
    assert.deepEqual([inQuery.status, destination.last().url], [200, '/v1/x?svc-proxy-url=https://private.test']);
  });

  it('gets nowhere by code, whose requests are judged the same', async () => {
    const urls = ['https://10.0.0.1', 'https://private.test', 'https://0x7f.1', `https://127.0.0.1:${app.port}`];
    const code = `module.exports = async () => ({ body: await Promise.all(${JSON.stringify(urls)}.map(
      (url) => fetch(url).then(() => 'reached', () => 'refused'))) });`;
    const body = { name: 'Code', destination_url: destination.named, response_transform: { code } };
    const { json } = await app.call('POST', '/proxies', { key: tenant.key, body });
    dialled.length = 0;
    const { status, text } = await send('/proxy/x', { 'SVC-PROXY-KEY': json.key });
    assert.deepEqual([status, JSON.parse(text)], [200, urls.map(() => 'refused')]);
    assert.deepEqual(
      dialled.filter((each) => each !== `127.0.0.1:${destination.port}`),
      [],
    );
  });
});
