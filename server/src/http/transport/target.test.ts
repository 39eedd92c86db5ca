import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchange, message } from '../../testing/raw-http.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const LAST = 'Connection: close';

describe('targets of requests', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp();
  });
  after(() => app.close());

  const statusOf = async (bytes: string) => (await exchange(app.port, bytes))[0]?.status;

  for (const [target, host, status] of [
    ['http://strongroom.test/healthz', 'strongroom.test', 200],
    ['HTTPS://Strongroom.Test:8443/healthz?x=1', 'strongroom.test:8443', 200],
    ['http://[::1]:80/healthz/', '[::1]:80', 200],
    ['http://strongroom.test', 'strongroom.test', 200],
    ['http://strongroom.test?x=1', 'strongroom.test', 200],
    ['http://strongroom.test/nothing', 'strongroom.test', 404],
    ['http://strongroom.test/permissions', 'strongroom.test', 401],
  ] as const) {
    it(`${status} for ${target} with the Host ${host}`, async () => {
      assert.equal(await statusOf(message(`GET ${target}`, `Host: ${host}`, LAST)), status);
    });
  }

  it('204 for OPTIONS *, with every method', async () => {
    const [answer] = await exchange(app.port, message('OPTIONS *', 'Host: h', LAST));
    const { headers, status } = answer ?? assert.fail('an answer');
    assert.deepEqual([status, headers.get('allow')], [204, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS']);
  });

  it('200 for a probe in HTTP/1.0 without Host, as balancers send it; in HTTP/1.1 it is 400', async () => {
    for (const path of ['/healthz', '/readyz', '/healthz?x=1', '/readyz/?']) {
      assert.equal(await statusOf(`GET ${path} HTTP/1.0\r\n\r\n`), 200);
      assert.equal(await statusOf(`GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`), 400);
    }
  });

  it('a page for people at / and the same as JSON for programs, each naming what is there', async () => {
    const page = await app.call('GET', '/', { headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
    assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    const links = [...page.text.matchAll(/href="(\/[^"]*)"/g)].map(([, href = '']) => href);
    const { status, headers, json } = await app.call('GET', '/', { headers: { Accept: '*/*' } });
    assert.deepEqual([status, headers.get('content-type'), headers.get('vary')], [200, 'application/json', 'Accept']);
    const paths = Object.values(json).filter((value) => String(value).startsWith('/'));
    assert.ok(links.includes('/docs') && paths.includes('/docs'));
    for (const path of [...links, ...paths])
      assert.equal((await app.call('GET', String(path))).status, 200, String(path));
  });

  for (const accept of ['text/html;q=0, */*', 'application/json, text/html;q=0.5', 'application/json', 'text/plain']) {
    it(`JSON at / for Accept: ${accept}`, async () => {
      const { headers } = await app.call('GET', '/', { headers: { Accept: accept } });
      assert.equal(headers.get('content-type'), 'application/json');
    });
  }
});
