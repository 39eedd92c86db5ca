// needs: redis-server

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { freePort } from '@strongroom/test-servers/programs.js';
import type { RedisServer } from '@strongroom/test-servers/redis.js';
import { startRedis } from '@strongroom/test-servers/redis.js';
import { LIMITS } from './limits/catalogue.js';
import { eventually } from './testing/eventually.js';
import type { Answer } from './testing/http-client.js';
import type { TestApp } from './testing/test-app.js';
import { rootKeyOf, startTestApp } from './testing/test-app.js';

const MAX = LIMITS.tokensSearch.requests;
const PASSWORD = 'sesame-word';

describe('two nodes and a Redis', () => {
  let redis: RedisServer;
  let nodes: readonly TestApp[] = [];
  before(async () => {
    redis = await startRedis();
    // A server without passwords takes any.
    const url = redis.url.replace('//', `//default:${PASSWORD}@`);
    const env = { STRONGROOM_RATE_LIMITS: 'on', STRONGROOM_REDIS_URL: url, STRONGROOM_TRUSTED_PROXIES: 'loopback' };
    const first = await startTestApp({ env });
    nodes = [await startTestApp({ env, beside: { db: first.db, rootKey: rootKeyOf(first) } }), first];
    await untilShared();
  });
  after(async () => {
    for (const node of nodes) await node.close();
    await redis.end('SIGKILL');
  });

  const search = (node: TestApp | undefined, address: string): Promise<Answer> =>
    node?.call('POST', '/tokens/search', { body: {}, headers: { 'X-Forwarded-For': address } }) ??
    assert.fail('there are two nodes');
  const untilShared = async (): Promise<void> => {
    for (const node of nodes) {
      await eventually('counts are shared', () => figure(node, 'strongroom_rate_store_up') === 1);
    }
  };
  const fallbacks = (): number =>
    nodes.reduce((sum, node) => sum + figure(node, 'strongroom_rate_store_fallbacks_total'), 0);

  it('429 on either node once both together have seen the limit, with the headers of the one limit', async () => {
    const localBefore = fallbacks();
    const answers: Answer[] = [];
    for (let sent = 0; sent < MAX; sent += 1) answers.push(...(await Promise.all(both('203.0.113.1'))));
    const passed = answers.filter(({ status }) => status === 401).length;
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(passed + refused.length, 2 * MAX);
    // On a machine so busy that Redis looked slow, those requests were counted where they arrived.
    assert.ok(passed >= MAX && passed <= MAX + fallbacks() - localBefore, `${passed} passed`);
    for (const { headers, json } of refused) {
      assert.equal(headers.get('ratelimit-policy'), '"tokens-search";q=50;w=10');
      assert.match(headers.get('ratelimit') ?? '', /^"tokens-search";r=0;t=(10|[1-9])$/);
      assert.match(headers.get('retry-after') ?? '', /^(10|[1-9])$/);
      assert.equal(json.status, 429);
    }
    assert.deepEqual(
      (await Promise.all(both('203.0.113.2'))).map(({ status }) => status),
      [401, 401],
      'another client is not meant',
    );
  });

  it('401 and 429 but never 5xx while Redis is gone, each node at the full limit, a line and a metric for it', async () => {
    await untilShared();
    const linesBefore = nodes.map(storeLines);
    await redis.end('SIGKILL');
    for (const [at, node] of nodes.entries()) {
      const statuses: number[] = [];
      for (let sent = 0; sent < MAX + 10; sent += 1) statuses.push((await search(node, '203.0.113.3')).status);
      assert.deepEqual(statuses, [...Array(MAX).fill(401), ...Array(10).fill(429)]);
      assert.equal(figure(node, 'strongroom_rate_store_up'), 0);
      assert.ok(figure(node, 'strongroom_rate_store_fallbacks_total') >= MAX);
      const [line, ...more] = storeLines(node).slice(linesBefore[at]?.length);
      assert.deepEqual(more, []);
      assert.match(line ?? '', /"level":"warn".*"event":"rate_store_lost"/);
    }
    await redis.start();
    await untilShared();
    for (const [at, node] of nodes.entries()) {
      const [, line, ...more] = storeLines(node).slice(linesBefore[at]?.length);
      assert.deepEqual(more, []);
      assert.match(line ?? '', /"level":"info".*"event":"rate_store_up"/);
    }
  });

  it('writes the password of Redis into no line and no metric', () => {
    for (const node of nodes) {
      assert.ok(storeLines(node).length > 0);
      assert.ok(![...node.logLines, node.metrics.render()].join('').includes(PASSWORD));
    }
  });

  it('stops without waiting for a Redis that hangs', async () => {
    const [node] = nodes;
    assert.ok(node);
    const env = { STRONGROOM_RATE_LIMITS: 'on', STRONGROOM_REDIS_URL: redis.url };
    const hung = await startTestApp({ env, beside: { db: node.db, rootKey: rootKeyOf(node) } });
    await eventually('counts are shared', () => figure(hung, 'strongroom_rate_store_up') === 1);
    redis.pause();
    try {
      assert.equal((await hung.call('GET', '/healthz')).status, 200);
    } finally {
      await hung.close();
      redis.resume();
    }
    await untilShared();
  });

  function both(address: string): Promise<Answer>[] {
    return nodes.map((node) => search(node, address));
  }
});

describe('a node whose Redis was never there', () => {
  it('200 from the start, and 429 past the limit', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    const app = await startTestApp({ env: { STRONGROOM_RATE_LIMITS: 'on', STRONGROOM_REDIS_URL: url } });
    try {
      assert.equal((await app.call('GET', '/readyz')).status, 200);
      const statuses = [];
      for (let sent = 0; sent <= MAX; sent += 1) statuses.push((await app.call('POST', '/tokens/search')).status);
      assert.equal(statuses.indexOf(429), MAX);
      assert.equal(figure(app, 'strongroom_rate_store_up'), 0);
      assert.equal(storeLines(app).length, 1);
    } finally {
      await app.close();
    }
  });
});

function figure(app: TestApp, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(app.metrics.render())?.[1]);
}

function storeLines(app: TestApp): string[] {
  return app.logLines.filter((line) => line.includes('"event":"rate_store_'));
}
