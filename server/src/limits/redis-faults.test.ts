// needs: redis-server

import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { freePort } from '@strongroom/test-servers/programs.js';
import type { RedisServer } from '@strongroom/test-servers/redis.js';
import { startRedis } from '@strongroom/test-servers/redis.js';
import { eventually, HANGS_MS } from '../testing/eventually.js';
import type { RedisNode } from '../testing/redis-nodes.js';
import { newKey, startNode } from '../testing/redis-nodes.js';
import { LIMITS } from './catalogue.js';
import { connectRedis } from './redis-connection.js';

const CALL_MAX_MS = 500;

const SEARCH = [LIMITS.tokensSearch];
const MAX = LIMITS.tokensSearch.requests;

describe('when Redis', { concurrency: 3 }, () => {
  it('is not there at the start, each node holds the full limit, and shares once it is', async (t) => {
    const redis = await startRedis();
    await redis.end('SIGKILL');
    const nodes = pair(t, redis.url);
    await assertLimited(nodes[0], 'early', MAX);
    await assertLimited(nodes[1], 'early', MAX);
    await eventually('both were told', () => nodes.every(({ told }) => told.length > 0));
    await redis.start();
    t.after(() => redis.end('SIGKILL'));
    await assertShared(nodes);
    for (const { told } of nodes) assert.deepEqual(told, ['lost: ECONNREFUSED', 'up']);
  });

  it('is killed under load, no check fails, limits hold on each node, and one line tells of each change', async (t) => {
    const redis = await started(t);
    const nodes = await upPair(t, redis.url);
    const verdicts = Array.from({ length: 400 }, (_, sent) => nodes[sent % 2]?.check('busy', SEARCH));
    await redis.end('SIGKILL');
    for (let sent = 0; sent < 400; sent += 1) verdicts.push(nodes[sent % 2]?.check('busy', SEARCH));
    const passed = (await Promise.all(verdicts)).filter((verdict) => verdict?.isAllowed).length;
    assert.ok(passed >= MAX && passed <= 3 * MAX, `${passed} passed: one limit in Redis and one on each node at most`);
    for (const node of nodes) {
      await assertLimited(node, 'after', MAX);
      assert.ok(node.fallbacks() > MAX && !node.isUp());
    }
    await redis.start();
    await assertShared(nodes);
    for (const { told } of nodes) {
      assert.match(told.join(), /^lost: (ECONNRESET|EPIPE|SocketClosedUnexpectedlyError),up$/);
    }
  });

  it('stands still, the first check waits for its bound and the next for nothing, until it goes on', async (t) => {
    const redis = await started(t);
    const nodes = await upPair(t, redis.url, CALL_MAX_MS);
    redis.pause();
    const pausedAtMs = performance.now();
    await Promise.all(Array.from({ length: 200 }, () => nodes[0].check('hung', SEARCH)));
    assert.ok(performance.now() - pausedAtMs < 100 * CALL_MAX_MS, 'all of them together, not one after the other');
    assert.ok(!nodes[0].isUp());
    assert.ok(!(nodes[0].check('hung', SEARCH) instanceof Promise), 'decided here and now');
    await assertLimited(nodes[1], 'hung', MAX);
    redis.resume();
    await assertShared(nodes);
    for (const { told } of nodes) assert.deepEqual(told, ['lost: ETIMEDOUT', 'up']);
  });

  it('is flushed or loses its scripts, nobody notices but those who gain by it', async (t) => {
    const redis = await started(t);
    const nodes = await upPair(t, redis.url);
    for (let sent = 0; sent < MAX; sent += 1) await nodes[sent % 2]?.check('spent', SEARCH);
    await command(redis.url, ['SCRIPT', 'FLUSH', 'SYNC']);
    assert.ok(!(await nodes[0].check('spent', SEARCH)).isAllowed, 'counts outlive the script');
    await command(redis.url, ['FLUSHALL']);
    await assertShared(nodes, 'spent again');
    for (const node of nodes) assert.deepEqual([node.told, node.fallbacks()], [[], 0]);
  });

  it('is full, each node counts for itself, and it is not taken for well before it takes counts again', async (t) => {
    const redis = await started(t);
    const nodes = await upPair(t, redis.url);
    await command(redis.url, ['CONFIG', 'SET', 'maxmemory-policy', 'noeviction']);
    await command(redis.url, ['CONFIG', 'SET', 'maxmemory', '1']);
    for (const node of nodes) await assertLimited(node, 'full', MAX);
    const refused = await errors(redis.url);
    await eventually('both have tried again', async () => (await errors(redis.url)) >= refused + 4);
    for (const { told } of nodes) assert.deepEqual(told, ['lost: Redis answered OOM']);
    await command(redis.url, ['CONFIG', 'SET', 'maxmemory', '0']);
    await assertShared(nodes);
    for (const { told } of nodes) assert.deepEqual(told, ['lost: Redis answered OOM', 'up']);
  });

  it('has become a read-only replica, each node counts for itself until it is the primary again', async (t) => {
    const redis = await started(t);
    const nodes = await upPair(t, redis.url);
    await command(redis.url, ['REPLICAOF', '127.0.0.1', String(await freePort())]);
    for (const node of nodes) await assertLimited(node, 'replica', MAX);
    for (const { told } of nodes) assert.match(told.at(-1) ?? '', /^lost: /);
    await command(redis.url, ['REPLICAOF', 'NO', 'ONE']);
    await assertShared(nodes);
    for (const { told } of nodes) assert.match(told.join(), /^lost: [^,]+,up$/);
  });

  it('wants another password, each node counts for itself and no word of it is told', async (t) => {
    const redis = await started(t);
    await command(redis.url, ['CONFIG', 'SET', 'requirepass', 'right-word']);
    const withWord = (word: string): string => redis.url.replace('//', `//:${word}@`);
    const nodes = [patientNode(t, withWord('wrong-word')), patientNode(t, redis.url)];
    for (const node of nodes) {
      await eventually('it is told', () => node.told.length > 0);
      await assertLimited(node, 'locked', MAX);
      assert.match(node.told.join(), /^lost: Redis answered (WRONGPASS|NOAUTH)$/);
    }
    const welcome = pair(t, withWord('right-word'));
    await assertShared(welcome);
  });

  for (const [what, answer] of Object.entries({
    'answers noise': 'HTTP/1.1 400 Bad Request\r\n\r\n',
    'answers with something else': '+OK\r\n',
    'answers with a number that means nothing': ':7\r\n',
    'answers with too few figures': '*0\r\n',
    'answers with a block without end': '*1\r\n:99999999999999\r\n',
    'answers more than it was asked': ':0\r\n:0\r\n:0\r\n',
    'answers with an error nobody knows': '-what is this supposed to be?\r\n',
    'answers nothing': '',
    'hangs up': 'hang up',
  })) {
    it(`${what}, the node counts for itself`, async (t) => {
      const url = await impostor(t, (socket) => (answer === 'hang up' ? socket.destroy() : socket.write(answer)));
      const node = startNode({ url, callMaxMs: 200 });
      t.after(node.close);
      for (const client of ['one', 'two', 'three']) await assertLimited(node, client, MAX);
      await eventually('it is told', () => node.told.length > 0);
      await assertLimited(node, 'four', MAX);
      assert.ok(node.told.filter((line) => line.startsWith('lost')).length >= 1);
      assert.ok(!node.told.join().includes('HTTP'), 'what it said is not repeated');
    });
  }

  it('does not even finish connecting, closing is immediate and counting goes on', async (t) => {
    const url = await impostor(t, () => {});
    const node = startNode({ url: url.replace('//', '//:word@') });
    await assertLimited(node, 'client', MAX);
    node.close();
    await assertLimited(node, 'late client', MAX);
  });

  it('hangs while calls are under way, closing answers them at once', async (t) => {
    const redis = await started(t);
    const [node] = await upPair(t, redis.url, 60_000);
    redis.pause();
    const verdicts = Array.from({ length: 100 }, () => node.check('client', SEARCH));
    node.close();
    const passed = (await Promise.all(verdicts)).filter((verdict) => verdict.isAllowed);
    assert.equal(passed.length, MAX);
  });
});

async function started(t: TestContext): Promise<RedisServer> {
  const redis = await startRedis();
  t.after(() => redis.end('SIGKILL'));
  return redis;
}

/** Has the time to hear why it is refused, on a busy machine as well. */
function patientNode(t: TestContext, url: string): RedisNode {
  const node = startNode({ url, connectMaxMs: HANGS_MS });
  t.after(node.close);
  return node;
}

function pair(t: TestContext, url: string, callMaxMs?: number): readonly [RedisNode, RedisNode] {
  const options = { url, key: newKey(), ...(callMaxMs !== undefined && { callMaxMs }) };
  const nodes = [startNode(options), startNode(options)] as const;
  for (const node of nodes) t.after(node.close);
  return nodes;
}

async function upPair(t: TestContext, url: string, callMaxMs?: number): Promise<readonly [RedisNode, RedisNode]> {
  const nodes = pair(t, url, callMaxMs);
  for (const node of nodes) {
    await node.untilUp();
    node.told.length = 0;
  }
  return nodes;
}

/** One node alone lets just so many pass and no more. */
async function assertLimited(node: RedisNode, client: string, passes: number): Promise<void> {
  let passed = 0;
  for (let sent = 0; sent < passes + 20; sent += 1) if ((await node.check(client, SEARCH)).isAllowed) passed += 1;
  assert.equal(passed, passes);
}

/** Both nodes together let one limit pass. */
async function assertShared(nodes: readonly RedisNode[], client = 'shared'): Promise<void> {
  for (const node of nodes) await node.untilUp();
  let passed = 0;
  for (let sent = 0; sent < 2 * MAX; sent += 1) {
    for (const node of nodes) if ((await node.check(client, SEARCH)).isAllowed) passed += 1;
  }
  assert.equal(passed, MAX);
}

async function command(url: string, args: readonly string[]): Promise<unknown> {
  const connection = await connectRedis({ url, callMaxMs: 5_000, connectMaxMs: 5_000, onLost: () => {} });
  try {
    return await connection.send(args);
  } finally {
    connection.close();
  }
}

/** Errors the server has answered with. */
async function errors(url: string): Promise<number> {
  const stats = String(await command(url, ['INFO', 'stats']));
  return Number(/total_error_replies:(\d+)/.exec(stats)?.[1]);
}

/** A listener that is no Redis; what it does on every word it hears. */
async function impostor(t: TestContext, onData: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => onData(socket));
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `redis://127.0.0.1:${port}`;
}
