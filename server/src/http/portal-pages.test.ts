import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SITE } from '@strongroom/portal/paths.js';
import type { TestApp } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';

const FIRST_LOAD_BYTES_MAX = 200 * 1024;

describe('the files of the Portal', () => {
  let app: TestApp;
  let scripts: string[];
  before(async () => {
    app = await startTestApp();
    scripts = (await readdir(join(SITE, 'assets'))).filter((name) => name.endsWith('.js'));
  });
  after(() => app.close());

  function get(path: string, headers: Readonly<Record<string, string>> = {}) {
    return new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; bytes: number }>(
      (resolve, reject) => {
        request(`${app.baseUrl}${path}`, { headers }, (response) => {
          let bytes = 0;
          response.on('data', (chunk: Buffer) => (bytes += chunk.length));
          response.once('end', () => resolve({ status: response.statusCode, headers: response.headers, bytes }));
        })
          .once('error', reject)
          .end();
      },
    );
  }

  it('have a policy that lets nothing in from elsewhere, on every path of a page and every file', async () => {
    for (const path of ['/portal', '/portal/', '/portal/sign-in', '/portal/t/x/logs', `/portal/assets/${scripts[0]}`]) {
      const { status, headers } = await get(path);
      assert.equal(status, 200, path);
      const policy = String(headers['content-security-policy']);
      for (const part of [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        'require-trusted-types-for',
      ]) {
        assert.ok(policy.includes(part), `${path}: ${part}`);
      }
      assert.ok(!policy.includes('unsafe'));
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['x-frame-options'], 'DENY');
      assert.equal(headers['referrer-policy'], 'no-referrer');
      assert.equal(headers['access-control-allow-origin'], undefined);
    }
  });

  it('200 for the page of a token whose id has a dot in it', async () => {
    const { status, headers } = await get('/portal/tenants/x/tokens/an%20id.with.dots.js');
    assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8']);
  });

  it('are kept for good where a hash is in the name, and asked for again elsewhere', async () => {
    const { headers } = await get(`/portal/assets/${scripts[0]}`);
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    const page = await get('/portal/sign-in');
    assert.equal(page.headers['cache-control'], 'no-cache');
    assert.equal((await get('/portal/', { 'If-None-Match': String(page.headers.etag) })).status, 304);
  });

  it('come compressed for who takes it, plain for who does not, each with its own tag', async () => {
    const path = `/portal/assets/${scripts[0]}`;
    const [br, gzip, plain] = [
      await get(path, { 'Accept-Encoding': 'gzip, deflate, br' }),
      await get(path, { 'Accept-Encoding': 'gzip' }),
      await get(path),
    ];
    assert.deepEqual(
      [br, gzip, plain].map(({ headers }) => headers['content-encoding']),
      ['br', 'gzip', undefined],
    );
    assert.ok(br.bytes < gzip.bytes && gzip.bytes < plain.bytes);
    assert.equal(plain.bytes, (await readFile(join(SITE, 'assets', scripts[0] ?? ''))).length);
    assert.equal(new Set([br, gzip, plain].map(({ headers }) => headers.etag)).size, 3);
    assert.ok([br, gzip, plain].every(({ headers }) => headers.vary === 'Accept-Encoding'));
  });

  it('weigh at most 200 KB of script, compressed, for the first page', async () => {
    const page = await readFile(join(SITE, 'index.html'), 'utf8');
    const loaded = scripts.filter((name) => page.includes(name));
    assert.ok(loaded.length > 0);
    let bytes = 0;
    const files = await readdir(join(SITE, 'assets'));
    for (const name of loaded) {
      // What is tiny is not compressed.
      const sent = files.includes(`${name}.gz`) ? `${name}.gz` : name;
      bytes += (await readFile(join(SITE, 'assets', sent))).length;
    }
    assert.ok(bytes <= FIRST_LOAD_BYTES_MAX, `${bytes} bytes`);
  });

  it('404 for files and calls that are not there, in the shape of every other refusal', async () => {
    for (const path of [
      '/portal/assets/x.js',
      '/portal/x.js',
      '/portal/assets/..%2findex.html',
      '/portal/api/x',
      '/portal/api',
    ]) {
      const answer = await app.call('GET', path);
      assert.deepEqual([answer.status, answer.json?.code], [404, 'not_found'], path);
    }
  });
});
