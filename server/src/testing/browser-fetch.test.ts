import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { createBrowserFetch } from './browser-fetch.js';

const PAGE = 'http://127.0.0.1:1/';
const ALLOWED = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'x-key, content-type' };

describe('the stand-in for a browser', () => {
  let close: () => void = () => {};
  afterEach(() => close());

  /** A page that may talk to a server, which answers each kind of request with these headers. */
  async function open(onOptions: object, onOthers: object) {
    const server = createServer((request, response) => {
      const isQuestion = request.method === 'OPTIONS';
      response
        .writeHead(isQuestion ? 204 : 200, { ...(isQuestion ? onOptions : onOthers) })
        .end(isQuestion ? '' : '{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    close = () => {
      server.closeAllConnections();
      server.close();
    };
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // A TCP listener has one.
    const browser = createBrowserFetch(PAGE);
    const policy = (sources: string) => new Response('', { headers: { 'Content-Security-Policy': sources } });
    browser.remember(policy(`connect-src ${address}`));
    return { ...browser, address, policy };
  }

  const withKey = { method: 'POST', headers: { 'X-Key': 'k', 'Content-Type': 'application/json' } };

  it('asks before it sends headers of our own, and lets pass what is allowed', async () => {
    const { fetch, address, preflights } = await open(ALLOWED, { ...ALLOWED, 'X-Secret': 'not exposed' });
    const answer = await fetch(`${address}/x`, withKey);
    assert.equal(answer.headers.get('x-secret'), null);
    assert.deepEqual(preflights, [{ method: 'POST', path: '/x', headers: ['content-type', 'x-key'] }]);
  });

  it('refuses what a server does not allow: origin, header, method, or to read the answer', async () => {
    const cases: readonly (readonly [object, object, RequestInit, RegExp])[] = [
      [{}, ALLOWED, withKey, /allows nobody/],
      [{ 'Access-Control-Allow-Origin': '*' }, ALLOWED, withKey, /allows every header/],
      [ALLOWED, ALLOWED, { ...withKey, method: 'DELETE' }, /allows $/],
      [ALLOWED, {}, withKey, /POST \/ allows nobody/],
    ];
    for (const [onOptions, onOthers, init, message] of cases) {
      const { fetch, address } = await open(onOptions, onOthers);
      await assert.rejects(fetch(address, init), { message });
      close();
    }
  });

  it('refuses an address the policy of the page does not name', async () => {
    const { fetch, address, remember, policy } = await open(ALLOWED, ALLOWED);
    remember(policy("connect-src 'self'"));
    await assert.rejects(fetch(address, withKey), { message: /policy/ });
  });
});
