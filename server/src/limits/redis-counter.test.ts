// needs: redis-server

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RedisServer } from '@strongroom/test-servers/redis.js';
import { startRedis } from '@strongroom/test-servers/redis.js';
import { HANGS_MS } from '../testing/eventually.js';
import { newKey, startNode, startNodeInTestTime } from '../testing/redis-nodes.js';
import { LIMITS, type LimitRow } from './catalogue.js';
import { rateCounterSuite } from './rate-counter-suite.js';
import type { RedisConnection } from './redis-connection.js';
import { connectRedis } from './redis-connection.js';

const CLIENT = '192.0.2.1';
const SEARCH = [LIMITS.global, LIMITS.tokensSearch];

/** A limit small enough to see its end in real time. */
const SHORT: LimitRow = { ...LIMITS.tokensSearch, requests: 5, blockMs: 300 };

describe('a counter in Redis', () => {
  let redis: RedisServer;
  let connection: RedisConnection;
  before(async () => {
    redis = await startRedis();
    connection = await connect();
  });
  after(async () => {
    connection.close();
    await redis.end('SIGKILL');
  });

  const connect = (): Promise<RedisConnection> =>
    connectRedis({ url: redis.url, callMaxMs: 5_000, connectMaxMs: 5_000, onLost: () => {} });
  const keys = async (): Promise<string[]> => {
    const found = await connection.send(['KEYS', '*']);
    assert.ok(Array.isArray(found));
    return found.map(String);
  };

  rateCounterSuite('with blocks remembered', (clock) => startNodeInTestTime(connection, clock, 1_000));
  rateCounterSuite('asked about every block', (clock) => startNodeInTestTime(connection, clock, 0));

  it('lets exactly the limit pass over two nodes, one after the other and all at once', async () => {
    const nodes = await pair();
    for (const isAtOnce of [false, true]) {
      const client = `client ${isAtOnce}`;
      const verdicts = [];
      for (let sent = 0; sent < 300; sent += 1) {
        const verdict = nodes[sent % 2]?.check(client, [LIMITS.global, LIMITS.tokensCreate]);
        verdicts.push(isAtOnce ? verdict : await verdict);
      }
      const passed = (await Promise.all(verdicts)).filter((verdict) => verdict?.isAllowed);
      assert.equal(passed.length, LIMITS.tokensCreate.requests);
    }
    assert.deepEqual(
      nodes.map((node) => node.fallbacks()),
      [0, 0],
    );
    for (const node of nodes) node.close();
  });

  it('tells a second node of a block the first has caused, with the same end', async () => {
    const [first, second] = await pair();
    for (let sent = 0; sent <= LIMITS.tokensSearch.requests; sent += 1) await first.check(CLIENT, SEARCH);
    const verdict = await second.check(CLIENT, SEARCH);
    assert.ok(!verdict.isAllowed && verdict.row === LIMITS.tokensSearch);
    assert.ok(verdict.retryAfterMs > 9_000 && verdict.retryAfterMs <= 10_000);
    first.close();
    second.close();
  });

  it('asks no more about a client that its first limit has blocked', async () => {
    const [node] = await pair();
    for (let sent = 0; sent <= SHORT.requests; sent += 1) await node.check(CLIENT, [SHORT]);
    const before = await calls();
    for (let sent = 0; sent < 100; sent += 1) {
      const verdict = node.check(CLIENT, [SHORT, LIMITS.tokensList]);
      assert.ok(!(verdict instanceof Promise), 'known without asking');
      assert.equal(verdict.isAllowed, false);
    }
    assert.equal(await calls(), before);
    node.close();
  });

  it("ends a block by the server's clock and gives the whole allowance again", async () => {
    const [node] = await pair();
    const startedAtMs = performance.now();
    for (let sent = 0; sent < SHORT.requests; sent += 1) assert.ok((await node.check(CLIENT, [SHORT])).isAllowed);
    let verdict = await node.check(CLIENT, [SHORT]);
    const blockedAtMs = performance.now();
    assert.deepEqual(verdict, { isAllowed: false, row: SHORT, retryAfterMs: SHORT.blockMs });
    while (!verdict.isAllowed) {
      assert.ok(performance.now() < blockedAtMs + HANGS_MS, 'the block ends');
      verdict = await node.check(CLIENT, [SHORT]);
    }
    assert.ok(performance.now() - startedAtMs >= SHORT.blockMs, 'not before its time');
    for (let sent = 1; sent < SHORT.requests; sent += 1) assert.ok((await node.check(CLIENT, [SHORT])).isAllowed);
    assert.ok(!(await node.check(CLIENT, [SHORT])).isAllowed);
    node.close();
  });

  it('does not blame Redis for an answer that this process was too busy to read', async () => {
    const node = startNode({ url: redis.url, callMaxMs: 1_000 });
    await node.untilUp();
    const verdict = node.check(CLIENT, SEARCH);
    const busyUntilMs = performance.now() + 1_200;
    while (performance.now() < busyUntilMs);
    assert.ok((await verdict).isAllowed);
    assert.ok(node.isUp() && node.fallbacks() === 0);
    node.close();
  });

  it('forgets what was written at a later time than now, so that a clock set back refuses nobody', async () => {
    let nowMs = 3_600_000;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const node = await startNodeInTestTime(connection, clock, 0);
    const rows = [LIMITS.tokensSearch];
    for (let sent = 0; sent <= LIMITS.tokensSearch.requests; sent += 1) await node.check('blocked', rows);
    for (let sent = 0; sent < LIMITS.tokensSearch.requests; sent += 1) await node.check('busy', rows);
    nowMs = 1_000;
    for (const client of ['blocked', 'busy']) {
      for (let sent = 0; sent < LIMITS.tokensSearch.requests; sent += 1) {
        assert.ok((await node.check(client, rows)).isAllowed);
      }
      assert.ok(!(await node.check(client, rows)).isAllowed);
    }
    node.close();
  });

  it('writes no address, and nothing that stays', async () => {
    await connection.send(['FLUSHALL']);
    const [node] = await pair();
    const clients = ['203.0.113.77', '2001:db8:1:2::/64'];
    for (const client of clients) {
      for (let sent = 0; sent <= LIMITS.tokensSearch.requests; sent += 1) await node.check(client, SEARCH);
    }
    const found = await keys();
    assert.equal(found.filter((key) => !key.includes('{probe}')).length, 4);
    for (const key of found) {
      assert.match(key, /^strongroom:rl:\{[\w-]+\}:[a-z-]+$/);
      const value = String(await connection.send(['GET', key]));
      for (const text of [...clients, '203.0.113', '2001:db8']) assert.ok(!`${key} ${value}`.includes(text));
      const lifeMs = Number(await connection.send(['PTTL', key]));
      assert.ok(lifeMs > 0 && lifeMs <= 10_000, `${key} ends by itself`);
    }
    node.close();
  });

  it('stands the same address for something else in another installation', async () => {
    await connection.send(['FLUSHALL']);
    const nodes = [startNode({ url: redis.url }), startNode({ url: redis.url })];
    for (const node of nodes) {
      await node.untilUp();
      await node.check(CLIENT, [LIMITS.global]);
      node.close();
    }
    assert.equal((await keys()).filter((key) => !key.includes('{probe}')).length, 2);
  });

  /** Two nodes of a new installation. */
  async function pair() {
    const key = newKey();
    const nodes = [startNode({ url: redis.url, key }), startNode({ url: redis.url, key })] as const;
    for (const node of nodes) await node.untilUp();
    return nodes;
  }

  /** Script calls so far. */
  async function calls(): Promise<number> {
    const stats = String(await connection.send(['INFO', 'commandstats']));
    return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  }
});
