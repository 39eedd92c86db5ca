import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isForDisplay } from './custom-response.js';
import { passedHeaders } from './foreign-headers.js';

const passed = (pairs: readonly (readonly [string, string])[]) => passedHeaders(pairs, ['SVC', 'ACME']);

describe('headers that somebody else chose', () => {
  it('pass where they are about the answer alone, in their order and spelling', () => {
    const given: [string, string][] = [
      ['X-Tea', 'green'],
      ['Content-Type', 'text/plain'],
      ['x-tea', 'black'],
      ['ETag', '"1"'],
    ];
    assert.deepEqual(passed(given), ['Content-Security-Policy', 'sandbox', ...given.flat()]);
  });

  it('are left out where they would act on our origin, on others or on the connection', () => {
    const names = [
      ...['Set-Cookie', 'CLEAR-SITE-DATA', 'Service-Worker-Allowed', 'Strict-Transport-Security', 'Alt-Svc'],
      ...['Access-Control-Allow-Origin', 'access-control-expose-headers', 'Cross-Origin-Resource-Policy'],
      ...['Content-Security-Policy', 'Content-Security-Policy-Report-Only', 'X-Content-Type-Options'],
      ...['Connection', 'Transfer-Encoding', 'Content-Length', 'Content-Encoding', 'Upgrade', 'Trailer', 'TE'],
      ...['SVC-TRACE-ID', 'acme-trace-id', 'Proxy-Authenticate', 'WWW-Authenticate', 'RateLimit', 'RateLimit-Policy'],
      ...['X-Accel-Redirect', 'X-Sendfile', 'Surrogate-Control', 'Cache-Control', 'Expires', 'Location', 'Age'],
      ...['NEL', 'Report-To', 'Reporting-Endpoints', 'Refresh', 'Link', 'Server', 'Date'],
      ...[
        'Attribution-Reporting-Register-Source',
        'Shared-Storage-Write',
        'Observe-Browsing-Topics',
        'Ad-Auction-Signals',
      ],
      ...['Public-Key-Pins-Report-Only', 'Expect-CT', 'Authentication-Info'],
    ];
    for (const name of names) {
      assert.deepEqual(passed([[name, 'x']]), ['Content-Security-Policy', 'sandbox'], name);
    }
  });

  it('are none where they are no headers, or too many', () => {
    const cases: [string, string][] = [
      ['x y', 'z'],
      ['', 'z'],
      ['x:', 'z'],
      ['x', 'a\r\nSet-Cookie: b=1'],
      ['x', 'a\u0000'],
      ['x', '\u20ac'],
      ['x', 'y'.repeat(20_000)],
    ];
    for (const pair of cases) assert.equal(passed([pair]), undefined, JSON.stringify(pair).slice(0, 60));
  });
});

describe('a browser that would show or run an answer', () => {
  const wants = (headers: Record<string, string>) => isForDisplay({ headers });
  it('is told by what it says it wants', () => {
    assert.ok(wants({ 'sec-fetch-mode': 'navigate' }));
    for (const destination of ['document', 'iframe', 'script', 'style', 'worker', 'serviceworker', 'object', 'xslt']) {
      assert.ok(wants({ 'sec-fetch-dest': destination, 'sec-fetch-mode': 'no-cors' }), destination);
    }
    assert.ok(!wants({ 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }));
    assert.ok(!wants({}));
  });
});
