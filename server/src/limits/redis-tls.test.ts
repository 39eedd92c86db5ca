// needs: redis-server

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { certificatesIn } from '@strongroom/test-servers/certificates.js';
import { freePort } from '@strongroom/test-servers/programs.js';
import type { RedisServer } from '@strongroom/test-servers/redis.js';
import { startRedis } from '@strongroom/test-servers/redis.js';
import { generateRootKey } from '../crypto/root-key.js';
import { launch, urlOf } from '../testing/command-runner.js';
import { eventually, HANGS_MS, START_HANGS_MS } from '../testing/eventually.js';
import { createCaller } from '../testing/http-client.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import { LIMITS } from './catalogue.js';
import { connectRedis } from './redis-connection.js';

const MAX = LIMITS.tokensSearch.requests;

interface Node {
  readonly child: ChildProcess;
  readonly lines: () => string[];
  search(address: string): Promise<number>;
  figure(name: string): Promise<number>;
}

/** Which authorities a process trusts is settled when it starts, so each node here is a process of its own. */
describe('nodes and a Redis that speaks TLS', () => {
  let folder: string;
  let db: TestDatabase;
  let redis: RedisServer;
  let file: (name: string) => string;
  const rootKey = generateRootKey().reveal();
  const children: ChildProcess[] = [];
  before(async () => {
    folder = await mkdtemp('/tmp/sr-redis-tls-');
    const certificates = certificatesIn(folder);
    ({ file } = certificates);
    await certificates.makeAuthority('authority');
    await certificates.makeAuthority('stranger');
    await certificates.makeCertificate('redis', 'authority', 'localhost', 'DNS:localhost,IP:127.0.0.1');
    redis = await startRedis({
      certificate: file('redis.pem'),
      key: file('redis.key'),
      authority: file('authority.pem'),
    });
    db = await createTestDatabase();
  });
  after(async () => {
    for (const child of children) {
      if (child.exitCode !== null) continue;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    }
    await redis?.end('SIGKILL');
    await db?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  async function startNode(authority: string | undefined, url = redis.url): Promise<Node> {
    const metricsPort = await freePort();
    const child = launch(
      {
        STRONGROOM_DATABASE_URL: urlOf(db.target),
        STRONGROOM_ROOT_KEY: rootKey,
        STRONGROOM_PORT: '0',
        STRONGROOM_METRICS_PORT: String(metricsPort),
        STRONGROOM_REDIS_URL: url,
        STRONGROOM_TRUSTED_PROXIES: 'loopback',
        ...(authority !== undefined && { NODE_EXTRA_CA_CERTS: file(`${authority}.pem`) }),
      },
      'serve',
    );
    children.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
    const address = (): string | undefined => /"address":"(http:[^"]+)".*"msg":"ready"/.exec(output)?.[1];
    await eventually(
      () => `it serves; so far it wrote: ${output}`,
      () => address() !== undefined || (child.exitCode !== null && assert.fail(output)),
      START_HANGS_MS,
    );
    const call = createCaller(address() ?? '');
    const scrape = createCaller(`http://127.0.0.1:${metricsPort}`);
    return {
      child,
      lines: () => output.split('\n').filter((line) => line.includes('"event":"rate_store_')),
      search: async (from) =>
        (await call('POST', '/tokens/search', { body: {}, headers: { 'X-Forwarded-For': from } })).status,
      figure: async (name) =>
        Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await scrape('GET', '/metrics')).text)?.[1]),
    };
  }

  it('429 on either node once both together have seen the limit: they trust its authority and count over TLS', async () => {
    const nodes = [await startNode('authority'), await startNode('authority')];
    for (const node of nodes) {
      const isUp = async () => (await node.figure('strongroom_rate_store_up')) === 1;
      await eventually('counts are shared', isUp);
    }
    const statuses: number[] = [];
    for (let sent = 0; sent < MAX; sent += 1) {
      statuses.push(...(await Promise.all(nodes.map((node) => node.search('203.0.113.1')))));
    }
    let local = 0;
    for (const node of nodes) local += await node.figure('strongroom_rate_store_fallbacks_total');
    const passed = statuses.filter((status) => status === 401).length;
    assert.equal(passed + statuses.filter((status) => status === 429).length, 2 * MAX);
    // On a machine so busy that Redis looked slow, those requests were counted where they arrived.
    assert.ok(passed >= MAX && passed <= MAX + local, `${passed} passed, ${local} counted by one node alone`);
  });

  const REFUSED: readonly (readonly [string, string | undefined, (url: string) => string])[] = [
    ['its authority is not the one this process trusts', 'stranger', (url) => url],
    ['its authority is none of the public ones', undefined, (url) => url],
    ['this process speaks no TLS to it', 'authority', (url) => url.replace('rediss:', 'redis:')],
  ];
  for (const [why, authority, change] of REFUSED) {
    it(`401, then 429 at the full limit of the node, never 5xx, when ${why}`, async () => {
      const node = await startNode(authority, change(redis.url));
      const statuses: number[] = [];
      for (let sent = 0; sent < MAX + 10; sent += 1) statuses.push(await node.search('203.0.113.2'));
      assert.deepEqual(statuses, [...Array(MAX).fill(401), ...Array(10).fill(429)]);
      assert.equal(await node.figure('strongroom_rate_store_up'), 0);
      assert.ok((await node.figure('strongroom_rate_store_fallbacks_total')) >= MAX);
      const [line, ...more] = node.lines();
      assert.match(line ?? '', /"level":"warn".*"event":"rate_store_lost","reason":"[\w ]+"/);
      assert.deepEqual(more, []);
      // On a machine so busy that a second was not enough to find out, that is the reason.
      const isTooLate = line?.includes('"reason":"ConnectionTimeoutError"');
      if (change(redis.url) === redis.url && !isTooLate)
        assert.match(line ?? '', /"reason":"[A-Z_]*(CERT|SIGNATURE|ISSUER)/);
    });
  }

  it('the reason for a stranger is its certificate, where there is time to find out', async () => {
    const asked = connectRedis({ url: redis.url, callMaxMs: HANGS_MS, connectMaxMs: HANGS_MS, onLost: () => {} });
    await assert.rejects(asked, { code: /CERT|SIGNATURE|ISSUER/ });
  });
});
