// needs: time

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { Answer } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const BLOCK_MS = 10_000;
const GLOBAL_MAX = 1_000;
const SEARCH_MAX = 50;
const LIST_MAX = 100;
const CREATE_MAX = 200;
const AT_ONCE = 50;

type Send = () => Promise<Answer>;

/** Sends the requests a few dozen at a time and counts the answers by status. */
async function statusesOf(count: number, send: (index: number) => Promise<Answer>): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  for (let sent = 0; sent < count; sent += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - sent) }, (_, index) => send(sent + index));
    for (const { status } of await Promise.all(batch)) statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return statuses;
}

/** Other origins may read the refusal where keys are used. */
async function assertBlocked(send: Send, policy: string, seconds: number, origins: string | null = '*'): Promise<void> {
  const { status, headers, json } = await send();
  assert.equal(status, 429);
  assert.equal(json.code, 'rate_limited');
  const [name] = policy.split(';');
  assert.equal(headers.get('retry-after'), String(seconds));
  assert.equal(headers.get('ratelimit-policy'), policy);
  assert.equal(headers.get('ratelimit'), `${name};r=0;t=${seconds}`);
  assert.equal(headers.get('access-control-allow-origin'), origins);
  assert.equal(headers.get('svc-trace-id'), json.trace_id);
}

describe('rate limits behind a trusted proxy', () => {
  let app: TestApp;
  let clock: FakeClock;
  let tenant: TestTenant;
  before(async () => {
    clock = createFakeClock(Date.now());
    const env = { STRONGROOM_RATE_LIMITS: 'on', STRONGROOM_TRUSTED_PROXIES: 'loopback' };
    app = await startTestApp({ clock, env });
    tenant = await app.makeTenant('Untouched');
  });
  after(() => app.close());

  const from = (address: string, method: string, path: string, options: { key?: string; body?: unknown } = {}) =>
    app.call(method, path, { ...options, headers: { 'X-Forwarded-For': address } });
  const search = (address: string) => () => from(address, 'POST', '/tokens/search');
  const GLOBAL = '"global";q=1000;w=10';
  const SEARCH = '"tokens-search";q=50;w=10';

  it('429 for request 1001 of one address in ten seconds, for ten seconds; another address is not held up', async () => {
    const send = () => from('192.0.2.1', 'GET', '/healthz');
    assert.deepEqual(await statusesOf(GLOBAL_MAX, send), { 200: GLOBAL_MAX });
    await assertBlocked(send, GLOBAL, 10, null);
    assert.equal((await from('192.0.2.2', 'GET', '/healthz')).status, 200);
    clock.advance(BLOCK_MS - 1);
    await assertBlocked(send, GLOBAL, 1, null);
    clock.advance(1);
    assert.equal((await send()).status, 200);
  });

  it('204 for a preflight of an address that is blocked, which still counts each', async () => {
    const headers = { 'X-Forwarded-For': '192.0.2.77', 'Access-Control-Request-Method': 'GET' };
    const preflight = () => app.call('OPTIONS', '/tokens', { headers });
    assert.deepEqual(await statusesOf(GLOBAL_MAX + 10, preflight), { 204: GLOBAL_MAX + 10 });
    await assertBlocked(() => from('192.0.2.77', 'GET', '/healthz'), GLOBAL, 10, null);
    assert.equal((await preflight()).status, 204);
  });

  it('429 after a thousand failures: what has no route, no key or the wrong method counts like success', async () => {
    const calls: [string, string][] = [
      ['GET', '/nothing'],
      ['GET', '/tenants/self'],
      ['POST', '/logs'],
      ['OPTIONS', '/logs'],
    ];
    const statuses = await statusesOf(GLOBAL_MAX, (index) => {
      const [method, path] = calls[index % calls.length] ?? ['GET', '/nothing'];
      return from('192.0.2.3', method, path);
    });
    assert.deepEqual(statuses, { 204: 250, 401: 250, 404: 250, 405: 250 });
    await assertBlocked(() => from('192.0.2.3', 'GET', '/nothing'), GLOBAL, 10);
  });

  it('429 before the key is looked at, and a refused change is not made', async () => {
    await statusesOf(GLOBAL_MAX + 1, () => from('192.0.2.4', 'GET', '/healthz'));
    const options = { key: tenant.key, body: { name: 'Changed' } };
    assert.equal((await from('192.0.2.4', 'PUT', '/tenants/self', options)).status, 429);
    assert.equal((await from('192.0.2.5', 'GET', '/tenants/self', { key: tenant.key })).json.name, 'Untouched');
  });

  it('keeps counting through a wall clock that jumps', async () => {
    await statusesOf(GLOBAL_MAX, () => from('192.0.2.6', 'GET', '/healthz'));
    clock.jumpTo(clock.nowMs() + 3_600_000);
    await assertBlocked(() => from('192.0.2.6', 'GET', '/healthz'), GLOBAL, 10, null);
    clock.jumpTo(clock.nowMs() - 7_200_000);
    await assertBlocked(() => from('192.0.2.6', 'GET', '/healthz'), GLOBAL, 10, null);
    clock.jumpTo(clock.nowMs() + 3_600_000);
  });

  it('429 for search 51, under whichever spelling of the path, while everything else goes on', async () => {
    const spellings = [
      '/tokens/search',
      '/tokens/search/',
      '/v2/tokens/search',
      '/%74okens/search',
      '/tokens/search?a=b',
    ];
    const statuses = await statusesOf(SEARCH_MAX, (index) =>
      from('192.0.2.7', 'POST', spellings[index % spellings.length] ?? ''),
    );
    assert.equal(statuses[429], undefined);
    await assertBlocked(search('192.0.2.7'), SEARCH, 10);
    assert.equal((await from('192.0.2.7', 'GET', '/healthz')).status, 200);
    assert.notEqual((await from('192.0.2.7', 'POST', '/tokens')).status, 429);
    assert.notEqual((await from('192.0.2.7', 'GET', '/tokens/search')).status, 429);
  });

  it('429 for list 101, of which HEAD is one, and never for the path of a single token', async () => {
    const list = () => from('192.0.2.8', 'GET', '/tokens');
    await statusesOf(LIST_MAX - 1, (index) => from('192.0.2.8', 'GET', index % 2 ? '/tokens' : '/v2/tokens'));
    assert.notEqual((await from('192.0.2.8', 'HEAD', '/tokens')).status, 429);
    await assertBlocked(list, '"tokens-list";q=100;w=10', 10);
    assert.notEqual((await from('192.0.2.8', 'GET', '/tokens/4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10')).status, 429);
  });

  it('429 for create 201, counted together over both ways to create', async () => {
    const statuses = await statusesOf(CREATE_MAX, (index) =>
      from('192.0.2.9', 'POST', index % 2 ? '/tokens' : '/tokenize'),
    );
    assert.equal(statuses[429], undefined);
    await assertBlocked(() => from('192.0.2.9', 'POST', '/tokenize'), '"tokens-create";q=200;w=10', 10);
    await assertBlocked(() => from('192.0.2.9', 'POST', '/tokens'), '"tokens-create";q=200;w=10', 10);
  });

  it('counts an IPv6 client by its /64, whichever address of it is used', async () => {
    await statusesOf(SEARCH_MAX, (index) => search(`2001:db8:0:1::${index.toString(16)}`)());
    await assertBlocked(search('2001:db8:0:1:ffff:ffff:ffff:ffff'), SEARCH, 10);
    assert.notEqual((await search('2001:db8:0:2::1')()).status, 429);
  });

  it('counts an IPv4 address and its IPv6 spelling as one', async () => {
    await statusesOf(SEARCH_MAX, (index) => search(index % 2 ? '192.0.2.10' : '::ffff:192.0.2.10')());
    await assertBlocked(search('192.0.2.10'), SEARCH, 10);
  });

  it('counts the right-most address no trusted proxy has, whatever the client wrote to its left', async () => {
    await statusesOf(SEARCH_MAX, (index) => search(`198.51.100.${index}, 192.0.2.11, 127.0.0.1`)());
    await assertBlocked(search('192.0.2.11'), SEARCH, 10);
    assert.notEqual((await search('198.51.100.1')()).status, 429);
  });
});

describe('rate limits without a proxy', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp({ clock: createFakeClock(Date.now()), env: { STRONGROOM_RATE_LIMITS: 'on' } });
  });
  after(() => app.close());

  it('429 for a client that makes up a new X-Forwarded-For each time: nobody vouches for it', async () => {
    const send = (index: number) =>
      app.call('POST', '/tokens/search', { headers: { 'X-Forwarded-For': `198.51.100.${index}`, Forwarded: 'for=x' } });
    assert.equal((await statusesOf(SEARCH_MAX, send))[429], undefined);
    assert.equal((await send(SEARCH_MAX)).status, 429);
  });
});

describe('rate limits that are off', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp({ clock: createFakeClock(Date.now()), env: { STRONGROOM_RATE_LIMITS: 'off' } });
  });
  after(() => app.close());

  it('never 429, past every limit there is', async () => {
    const statuses = await statusesOf(GLOBAL_MAX + CREATE_MAX, () => app.call('POST', '/tokens/search'));
    assert.equal(statuses[429], undefined);
  });
});
