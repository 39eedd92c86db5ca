import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { exchange, message } from '../../testing/raw-http.js';
import type { RouteServer } from '../../testing/route-server.js';
import { startRouteServer } from '../../testing/route-server.js';
import { folderFiles } from './page-folder.js';
import { definePage } from './page-route.js';

const POLICY = "default-src 'self'";

describe('routes of the kind page', () => {
  let folder: string;
  let server: RouteServer;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pages-'));
    const root = join(folder, 'root');
    await mkdir(join(root, 'sub'), { recursive: true });
    await writeFile(join(folder, 'secret.txt'), 'outside');
    await writeFile(join(root, 'index.html'), '<p>home</p>');
    await writeFile(join(root, 'app.js'), 'run()');
    await writeFile(join(root, 'sub', 'index.html'), '<p>sub</p>');
    await writeFile(join(root, 'sub', 'a b.css'), 'p {}');
    await writeFile(join(root, 'data.bin'), 'of an unknown type');
    await writeFile(join(root, '.env'), 'SECRET=1');
    await symlink(join(folder, 'secret.txt'), join(root, 'link.txt'));
    const base = { permission: 'public', admits: 'anyone', limits: [], policy: POLICY } as const;
    server = await startRouteServer([
      definePage({ ...base, path: '/pages/*', cache: 'revalidate', find: folderFiles(root) }),
      definePage({
        ...base,
        path: '/one',
        cache: 'never',
        headers: ['Vary', 'Accept'],
        find: ({ accept }) => ({ type: 'text/plain', content: accept ?? '' }),
      }),
    ]);
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it('200 with the file, its type and its policy headers, open to no other origin', async () => {
    for (const [path, type, text] of [
      ['/pages', 'text/html; charset=utf-8', '<p>home</p>'],
      ['/pages/', 'text/html; charset=utf-8', '<p>home</p>'],
      ['/pages/app.js', 'text/javascript; charset=utf-8', 'run()'],
      ['/pages/%61pp.js', 'text/javascript; charset=utf-8', 'run()'],
      ['/pages/sub', 'text/html; charset=utf-8', '<p>sub</p>'],
      ['/pages/sub/a%20b.css', 'text/css; charset=utf-8', 'p {}'],
    ] as const) {
      const answer = await server.call('GET', path);
      assert.deepEqual([answer.status, answer.headers.get('content-type'), answer.text], [200, type, text], path);
      assert.equal(answer.headers.get('content-security-policy'), POLICY);
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(answer.headers.get('cache-control'), 'no-cache');
      assert.equal(answer.headers.get('access-control-allow-origin'), null);
      assert.equal(answer.headers.get('set-cookie'), null);
    }
  });

  it('HEAD has the head of GET and no body', async () => {
    const [full, bare] = [await server.call('GET', '/pages/app.js'), await server.call('HEAD', '/pages/app.js')];
    assert.deepEqual([bare.status, bare.text], [200, '']);
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'content-security-policy']) {
      assert.equal(bare.headers.get(name), full.headers.get(name), name);
    }
  });

  it('304 without a body for a version the client has, and 200 for any other', async () => {
    const { headers } = await server.call('GET', '/pages/app.js');
    const tag = headers.get('etag') ?? '';
    assert.match(tag, /^"[\w-]{43}"$/);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const answer = await server.call('GET', '/pages/app.js', { headers: { 'If-None-Match': known } });
      assert.deepEqual([answer.status, answer.text, answer.headers.get('etag')], [304, '', tag], known);
      assert.equal(answer.headers.get('content-security-policy'), POLICY);
    }
    for (const other of ['"other"', tag.slice(0, -1), '']) {
      const answer = await server.call('GET', '/pages/app.js', { headers: { 'If-None-Match': other } });
      assert.deepEqual([answer.status, answer.text], [200, 'run()'], other);
    }
    const [bare] = await exchange(
      server.port,
      message('GET /pages/app.js', 'Host: h', `If-None-Match: ${tag}`, 'Connection: close'),
    );
    assert.deepEqual([bare?.status, bare?.headers.get('content-length')], [304, undefined]);
  });

  it('404 for what is outside the folder, a link, a hidden file, an unknown type or no file, however it is spelt', async () => {
    for (const target of [
      ...['/pages/../secret.txt', '/pages/%2e%2e/secret.txt', '/pages/..%2fsecret.txt', '/pages/sub/../../secret.txt'],
      ...['/pages/%2e%2e%2fsecret.txt', '/pages/..\\secret.txt', '/pages//etc/hostname', '/pages/%2fetc%2fhostname'],
      ...['/pages/link.txt', '/pages/.env', '/pages/data.bin', '/pages/none.js', '/pages/sub/none', '/pages/app.js%00'],
      ...[`/pages/${encodeURIComponent(join(folder, 'secret.txt'))}`, '/pages/__proto__', '/pages/constructor'],
    ]) {
      const [answer] = await exchange(server.port, message(`GET ${target}`, 'Host: h', 'Connection: close'));
      assert.equal(answer?.status, 404, target);
      assert.doesNotMatch(answer?.body ?? '', /outside|SECRET/);
    }
  });

  it('405 for a change, and nothing that a key or a cookie would alter', async () => {
    const refused = await server.call('POST', '/pages/app.js', { body: {} });
    assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);
    const headers = { Cookie: '__Host-strongroom_session=x' };
    assert.equal((await server.call('GET', '/pages/app.js', { key: 'x', headers })).status, 200);
  });

  it('is not kept where the record says so, and has no tag then', async () => {
    const { headers, text } = await server.call('GET', '/one', { headers: { Accept: 'a/b', 'If-None-Match': '*' } });
    assert.deepEqual([text, headers.get('vary'), headers.get('etag')], ['a/b', 'Accept', null]);
    assert.equal(headers.get('cache-control'), 'no-store');
  });

  it('a preflight is told of no method that other origins may use', async () => {
    const asked = { Origin: 'https://other.test', 'Access-Control-Request-Method': 'GET' };
    const { status, headers } = await server.call('OPTIONS', '/pages/app.js', { headers: asked });
    assert.deepEqual([status, headers.get('allow')], [204, 'GET, HEAD, OPTIONS']);
    assert.deepEqual(
      [...headers.keys()].filter((name) => name.startsWith('access-control')),
      [],
    );
  });
});
