// needs: engine
// alone: it measures the memory of its process

import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { systemClock } from '../../../kernel/clock.js';
import type { Way } from '../../../outbound/outbound-fixture.js';
import { TENANT, wayOut } from '../../../outbound/outbound-fixture.js';
import { plainCode, plainInput } from '../../../sandbox/run-fixture.js';
import type { Sandbox } from '../../../sandbox/sandbox.js';
import { openSandbox } from '../../../sandbox/sandbox.js';
import { collectGarbage } from '../../../testing/collect-garbage.js';
import { answerFromOutside, createAnswerBytes } from './outside.js';

interface Seen {
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Two answers of one tenant, each twice, and what lies about until it is collected. */
const LARGE_MAX = 64 * 1024 * 1024;

describe('requests of code', () => {
  let server: Server;
  let port = 0;
  let way: Way;
  let sandbox: Sandbox;
  const seen: Seen[] = [];
  before(async () => {
    server = createServer((request, response) => {
      seen.push({ url: request.url, headers: request.headers });
      if (request.url === '/gzip') {
        response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('plain again'));
      } else if (request.url === '/bomb') {
        response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * 1024 * 1024)));
      } else if (request.url === '/cut') {
        response.writeHead(200, { 'Content-Encoding': 'gzip' });
        response.write(gzipSync('never whole').subarray(0, 12), () => response.destroy());
      } else if (request.url === '/large') {
        response.end(Buffer.alloc(10 * 1024 * 1024));
      } else if (request.url === '/elsewhere') {
        response.writeHead(302, { Location: `http://other.test:${port}/arrived` }).end();
      } else if (request.url === '/inside') {
        response.writeHead(302, { Location: 'http://10.0.0.1/' }).end();
      } else if (request.url === '/cookies') {
        response.writeHead(200, [
          ['Set-Cookie', 'a=1'],
          ['Set-Cookie', 'b=2'],
        ] as never);
        response.end('ok');
      } else {
        let body = '';
        request.on('data', (piece) => (body += piece)).on('end', () => response.end(`${request.method} ${body}`));
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
    way = wayOut({
      allow: [`http://shop.test:${port}`, `http://other.test:${port}`],
      names: { 'shop.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'], 'inner.test': ['10.0.0.1'] },
    });
    const bytes = createAnswerBytes();
    sandbox = await openSandbox({
      ...{ instancesMax: 8, instancesPerTenantMax: 8, blanks: 0, aliases: {}, clientNames: [], clock: systemClock },
      answer: ({ code }, request, signal) =>
        answerFromOutside({ outbound: way, bytes }, code.tenantId, request, signal),
      onFault: (error) => assert.fail(String(error)),
    });
  });
  after(async () => {
    await sandbox?.close();
    await way?.close();
    server.close();
  });

  /** What code returns that runs these lines. */
  async function returns(lines: string): Promise<unknown> {
    const code = `module.exports = async () => { try { ${lines} } catch (error) { return 'failed: ' + error.message } };`;
    const { outcome } = await sandbox.run(plainCode(code, TENANT), plainInput, { deadlineMs: 60_000 });
    return outcome.outcome === 'returned' ? outcome.value : outcome;
  }

  it('reach what is allowed, by fetch, axios and node-fetch', async () => {
    const url = `http://shop.test:${port}/pay`;
    assert.equal(await returns(`return (await fetch('${url}', { method: 'POST', body: 'a' })).text()`), 'POST a');
    assert.equal(await returns(`return (await require('axios').post('${url}', 'b')).data`), 'POST b');
    assert.equal(await returns(`return (await require('node-fetch')('${url}')).text()`), 'GET ');
  });

  it('come plain and whole, and what unpacks to too much does not come', async () => {
    assert.equal(await returns(`return (await fetch('http://shop.test:${port}/gzip')).text()`), 'plain again');
    assert.match(String(await returns(`return (await fetch('http://shop.test:${port}/bomb')).status`)), /too large/);
  });

  it('tell nothing of the engine, and keep every cookie', async () => {
    seen.length = 0;
    const cookies = await returns(`return (await fetch('http://shop.test:${port}/cookies')).headers.getSetCookie()`);
    assert.deepEqual(cookies, ['a=1', 'b=2']);
    assert.deepEqual(
      Object.keys(seen[0]?.headers ?? {}).filter((name) => /^cf-|worker/.test(name)),
      [],
    );
  });

  it('follow a redirect hop by hop, each judged, and take no credentials to another origin', async () => {
    seen.length = 0;
    const headers = `{ Authorization: 'Bearer secret', Cookie: 'a=1' }`;
    const answer = await returns(
      `return (await fetch('http://shop.test:${port}/elsewhere', { headers: ${headers} })).text()`,
    );
    assert.equal(answer, 'GET ');
    assert.deepEqual(
      seen.map(({ url }) => url),
      ['/elsewhere', '/arrived'],
    );
    assert.deepEqual([seen[1]?.headers.authorization, seen[1]?.headers.cookie], [undefined, undefined]);
    assert.match(
      String(await returns(`return (await fetch('http://shop.test:${port}/inside')).status`)),
      /not allowed/,
    );
  });

  it('fail where an answer breaks off in the middle of what is compressed, and nothing else does', async () => {
    const told = await returns(`return (await fetch('http://shop.test:${port}/cut')).text()`);
    assert.match(String(told), /^failed: /);
    assert.equal(await returns(`return (await fetch('http://shop.test:${port}/gzip')).text()`), 'plain again');
  });

  it('hold no more of large answers at once than there is room for, and all of them arrive', async () => {
    const large = `(await (await fetch('http://shop.test:${port}/large')).arrayBuffer()).byteLength`;
    const before = process.memoryUsage().arrayBuffers;
    const held = (): number => process.memoryUsage().arrayBuffers - before;
    let most = 0;
    const timer = setInterval(() => {
      // A busy machine collects late: only what is left after a collection is held.
      if (held() >= LARGE_MAX) collectGarbage();
      most = Math.max(most, held());
    }, 5);
    const lengths = await returns(`return Promise.all(Array.from({ length: 3 }, async () => ${large}))`);
    clearInterval(timer);
    assert.deepEqual(lengths, Array(3).fill(10 * 1024 * 1024));
    assert.ok(most < LARGE_MAX, `${Math.round(most / 1024 / 1024)} MiB`);
  });

  it('to private addresses, other ports and names without an address fail alike', async () => {
    const texts = await Promise.all(
      ['http://10.0.0.1/', 'https://inner.test/', 'https://nowhere.test/', `http://127.0.0.1:${port}/`].map((url) =>
        returns(`return (await fetch('${url}')).status`),
      ),
    );
    assert.equal(new Set(texts).size, 1, texts.join());
    assert.deepEqual(
      way.dialled.filter((address) => address !== '127.0.0.1'),
      [],
    );
  });
});
