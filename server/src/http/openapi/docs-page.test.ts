// alone: it measures the memory of its process

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

/** Where each kind of content may come from. Whatever is not listed may come from nowhere. */
const POLICY: Readonly<Record<string, readonly string[]>> = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

const ASSETS: Readonly<Record<string, RegExp>> = {
  '/docs': /^text\/html; charset=utf-8$/,
  '/docs/start.js': /^text\/javascript; charset=utf-8$/,
  '/docs/swagger-ui.css': /^text\/css; charset=utf-8$/,
  '/docs/swagger-ui-bundle.js': /^text\/javascript; charset=utf-8$/,
};

describe('the documentation page', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp();
  });
  after(() => app.close());

  for (const [path, type] of Object.entries(ASSETS)) {
    it(`200 for ${path} without a key, with its own type and a policy that forbids every other host`, async () => {
      const { status, headers, text } = await app.call('GET', path);
      assert.equal(status, 200);
      assert.match(headers.get('content-type') ?? '', type);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.ok(text.length > 100);
      const directives = (headers.get('content-security-policy') ?? '')
        .split(';')
        .map((part) => part.trim().split(' '));
      assert.deepEqual(Object.fromEntries(directives.map(([name, ...sources]) => [name, sources])), POLICY);
    });
  }

  it('loads only what this server serves, and nothing inline that the policy would stop', async () => {
    const { text } = await app.call('GET', '/docs');
    const addresses = [...text.matchAll(/\s(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address);
    const local = addresses.filter((address) => address !== 'data:,');
    assert.deepEqual(local.sort(), ['/docs/start.js', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css']);
    for (const address of local) assert.equal((await app.call('GET', address)).status, 200, address);
    for (const [, inline] of text.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)) assert.equal(inline, '');
    assert.doesNotMatch(text, /\son[a-z]+=/);
  });

  it('takes no more memory for clients that ask again and again and never read', async () => {
    const path = '/docs/swagger-ui-bundle.js';
    const answered = (): number => app.logLines.join('').split(`GET ${path}`).length;
    const { text } = await app.call('GET', path);
    const earlier = answered();
    const before = process.memoryUsage().arrayBuffers;
    const client = connect(app.port, '127.0.0.1').pause();
    client.write(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`.repeat(30));
    await eventually('every request is answered', () => answered() - earlier === 30);
    const grown = process.memoryUsage().arrayBuffers - before;
    client.destroy();
    assert.ok(grown < 5 * text.length, `grown by ${grown} bytes`);
  });

  it('names no other host in the page and in its start script', async () => {
    for (const path of ['/docs', '/docs/start.js']) {
      const { text } = await app.call('GET', path);
      assert.doesNotMatch(text, /(https?:|wss?:)?\/\/[a-z0-9]/i, path);
    }
  });

  it('reads the document of this very server and asks no foreign validator about it', async () => {
    const { text } = await app.call('GET', '/docs/start.js');
    assert.match(text, /url: '\/openapi\.json'/);
    assert.match(text, /validatorUrl: null/);
  });

  it('200 with a trailing slash and for HEAD, 405 for POST', async () => {
    assert.equal((await app.call('GET', '/docs/')).status, 200);
    const { status, text } = await app.call('HEAD', '/docs');
    assert.deepEqual([status, text], [200, '']);
    assert.equal((await app.call('POST', '/docs')).status, 405);
  });

  it('404 for any other file of the viewer', async () => {
    for (const path of ['/docs/package.json', '/docs/..%2fpackage.json', '/docs/swagger-ui-bundle.js.map']) {
      assert.equal((await app.call('GET', path)).status, 404, path);
    }
  });
});
