import assert from 'node:assert/strict';
import { get } from 'node:http';
import { after, before, describe, it } from 'node:test';
import type { CallOptions } from '../../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { TestDestination } from './destination-fixture.js';
import { startDestination } from './destination-fixture.js';

const CARD = '4242424242424242';

describe('a call through an ephemeral Proxy', () => {
  let destination: TestDestination;
  let app: TestApp;
  let tenant: TestTenant;
  let key: string;
  let card: string;
  before(async () => {
    destination = await startDestination();
    app = await startTestApp({ env: { ...destination.env, STRONGROOM_HEADER_PREFIXES: 'SVC,BT' } });
    tenant = await app.makeTenant();
    key = await app.makeKey(tenant.id, 'private', ['token:create', 'token:use']);
    card = (await app.call('POST', '/tokens', { key, body: { type: 'card_number', data: CARD } })).json.id;
  });
  after(async () => {
    await app.close();
    await destination.close();
  });

  const send = (method: string, path: string, { headers = {}, ...options }: CallOptions = {}) =>
    app.call(method, `/proxy${path}`, { key, ...options, headers: { 'SVC-PROXY-URL': destination.url, ...headers } });
  const entries = async (query: string) =>
    (await app.call('GET', `/logs?size=100&include=details&${query}`, { key: tenant.key })).json.data;

  it('puts values into body, headers and query, and hands the answer on', async () => {
    const answer = await send('POST', '/v1/charges?n={{'.concat(card, '}}&q=a%20b'), {
      headers: { 'X-Card': `last {{ ${card} | last4 }}`, 'SVC-TRACE-ID': 'trace-1' },
      body: { source: { number: `{{ ${card} }}` }, note: `card {{ ${card} | last4 }}`, amount: 12 },
    });
    assert.equal(answer.status, 200);
    const seen = destination.last();
    assert.deepEqual([seen.method, seen.url], ['POST', `/v1/charges?n=${CARD}&q=a%20b`]);
    assert.deepEqual(JSON.parse(seen.body), { source: { number: CARD }, note: 'card 4242', amount: 12 });
    assert.equal(seen.headers['x-card'], 'last 4242');
    assert.equal(seen.headers['svc-trace-id'], 'trace-1');
    assert.deepEqual(answer.json, JSON.parse(JSON.stringify(seen)));
    assert.equal(answer.headers.get('svc-proxy-destination-status'), '200');
    assert.equal(answer.headers.get('content-security-policy'), 'sandbox');
    const [used] = await entries(`entity_id=${card}&operation=use`);
    assert.deepEqual([used.message, used.trace_id], ['Token used in proxy', 'trace-1']);
    const [invoked] = await entries('entity_type=proxy');
    assert.deepEqual(
      [invoked.entity_id, invoked.message, invoked.outcome, invoked.trace_id],
      ['ephemeral', 'Proxy invoked', 'success', 'trace-1'],
    );
  });

  it('forwards what is the caller’s and nothing of ours', async () => {
    await send('GET', '/plain', {
      headers: {
        ...{
          'X-Mine': 'yes',
          Cookie: '__Host-strongroom_session=secret; mine=1; __Host-strongroom_device=secret',
          'X-Forwarded-For': '10.1.1.1',
        },
        ...{ 'SVC-IDEMPOTENCY-KEY': 'x', 'BT-API-KEY': 'y', 'SVC-TENANT-ID': 'z', 'Sec-Fetch-Mode': 'cors' },
        ...{ 'SVC-PROXY-KEEP-ALIVE': 'timeout=5', 'SVC-PROXY-CONNECTION': 'close', 'Proxy-Authorization': 'basic x' },
      },
    });
    const seen = destination.last();
    const names = seen.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
    assert.deepEqual(
      names.filter((name) => /^(svc|bt|sec-fetch|x-forwarded|proxy)-/.test(name)),
      ['svc-trace-id'],
    );
    assert.deepEqual(
      [seen.headers['x-mine'], seen.headers.cookie, seen.headers.connection, seen.headers['keep-alive']],
      ['yes', 'mine=1', 'close', 'timeout=5'],
    );
    assert.ok(!JSON.stringify(seen).includes(key));
  });

  it('leaves bytes without an expression as they came, and looks into text and forms', async () => {
    const cases: readonly (readonly [string, string, string])[] = [
      ['application/json', '{ "a":1.0,\n"b" : 12345678901234567890 }', '{ "a":1.0,\n"b" : 12345678901234567890 }'],
      ['application/json', `{"a":"{{ ${card} | to_number }}"}`, `{"a":${CARD}}`],
      ['text/plain; charset=utf-8', `=={{ ${card} }}==`, `==${CARD}==`],
      ['application/xml', `<n>{{ ${card} }}</n>`, `<n>${CARD}</n>`],
      ['application/x-www-form-urlencoded', `n={{ ${card} }}&a=1`, `n=${CARD}&a=1`],
      ['application/x-www-form-urlencoded', `n=%7B%7B+${card}+%7D%7D&a=%20`, `n=${CARD}&a=%20`],
      ['application/octet-stream', `{{ ${card} }}`, `{{ ${card} }}`],
      ['text/plain; charset=iso-8859-1', `{{ ${card} }}`, `{{ ${card} }}`],
    ];
    for (const [type, raw, expected] of cases) {
      const answer = await send('PUT', '/bodies', { raw, headers: { 'Content-Type': type } });
      assert.deepEqual([answer.status, destination.last().body], [200, expected], type);
    }
  });

  it('refuses before anything is sent', async () => {
    const before = destination.seen.length;
    const cases: readonly (readonly [string, CallOptions, string, number, string])[] = [
      ['unknown token', { body: { a: '{{ not-there-at-all }}' } }, '/x', 400, 'unknown_token'],
      ['not JSON', { raw: `{"a":{{ ${card} }}}` }, '/x', 400, 'malformed_json'],
      ['credentials', { headers: { 'SVC-PROXY-URL': 'https://a:b@example.com' } }, '/x', 400, 'malformed_request'],
      ['no address', { headers: { 'SVC-PROXY-URL': '' } }, '/x', 400, 'malformed_request'],
      ['a port not allowed', { headers: { 'SVC-PROXY-URL': 'https://127.0.0.1:1' } }, '/x', 422, 'destination_refused'],
      ['plain HTTP', { headers: { 'SVC-PROXY-URL': 'http://example.com' } }, '/x', 422, 'destination_refused'],
      [
        'no such Proxy',
        { headers: { 'SVC-PROXY-KEY': 'key_prx_00000000000000000000000000000000' } },
        '/x',
        404,
        'not_found',
      ],
    ];
    for (const [what, options, path, status, code] of cases) {
      const answer = await send('POST', path, options);
      assert.deepEqual([answer.status, answer.json?.proxy_error?.code], [status, code], what);
      assert.equal(answer.headers.get('svc-proxy-destination-status'), null, what);
    }
    assert.equal(destination.seen.length, before);
  });

  it('refuses a browser that would show or run the answer', async () => {
    const before = destination.seen.length;
    const cases = [
      ['mode', 'navigate'],
      ...['document', 'iframe', 'script', 'style', 'worker', 'serviceworker'].map((name) => ['dest', name]),
    ];
    for (const [kind = '', value = ''] of cases) {
      const headers = { 'SVC-API-KEY': key, 'SVC-PROXY-URL': destination.url, [`Sec-Fetch-${kind}`]: value };
      assert.equal(await plainStatus('/proxy/x', headers), 403, value);
    }
    assert.equal(destination.seen.length, before);
  });

  /** As a browser would send it: what is called fetch here has its own idea of these headers. */
  function plainStatus(path: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      get(`${app.baseUrl}${path}`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', reject);
    });
  }

  it('401 without a key, in the words of the contract and with the client’s prefix', async () => {
    for (const prefix of ['SVC', 'BT']) {
      const headers = { [`${prefix}-PROXY-URL`]: destination.url };
      const answer = await app.call('GET', '/proxy/x', { headers });
      assert.deepEqual(
        [answer.status, answer.json.proxy_error.code, answer.json.proxy_error.detail],
        [401, 'missing_api_key', `The ${prefix}-API-KEY header is required`],
      );
    }
    const managed = await app.call('GET', '/proxy', { key: tenant.key, headers: { 'SVC-PROXY-URL': destination.url } });
    assert.deepEqual([managed.status, managed.json.proxy_error.code], [403, 'permission_denied']);
  });

  it('hands statuses, headers and bodies on by the rules for what comes from somebody else', async () => {
    destination.answers.set('/odd', (response) => {
      response.writeHead(418, {
        'Set-Cookie': 'a=1',
        'Clear-Site-Data': '"*"',
        'Service-Worker-Allowed': '/',
        'Strict-Transport-Security': 'max-age=1',
        'Alt-Svc': 'h3=":1"',
        'Access-Control-Allow-Origin': 'https://evil.example',
        'Content-Security-Policy': "default-src 'self'",
        'SVC-PROXY-DESTINATION-STATUS': '200',
        'X-Theirs': 'yes',
        ETag: '"1"',
      });
      response.end('short');
    });
    const odd = await send('GET', '/odd');
    const left = ['set-cookie', 'clear-site-data', 'service-worker-allowed', 'strict-transport-security', 'alt-svc'];
    assert.deepEqual([odd.status, odd.text], [418, 'short']);
    assert.deepEqual(
      left.map((name) => odd.headers.get(name)),
      left.map(() => null),
    );
    assert.deepEqual(
      ['x-theirs', 'etag', 'content-security-policy', 'svc-proxy-destination-status', 'x-content-type-options'].map(
        (name) => odd.headers.get(name),
      ),
      ['yes', '"1"', 'sandbox', '418', 'nosniff'],
    );
    assert.equal(odd.headers.get('access-control-allow-origin'), '*');
    destination.answers.set('/moved', (response) => response.writeHead(302, { Location: 'https://x.example/' }).end());
    const moved = await fetch(`${app.baseUrl}/proxy/moved`, {
      redirect: 'manual',
      headers: { 'SVC-API-KEY': key, 'SVC-PROXY-URL': destination.url },
    });
    assert.deepEqual(
      [moved.status, moved.headers.get('location'), moved.headers.get('svc-proxy-destination-location')],
      [302, null, 'https://x.example/'],
    );
    destination.answers.set('/made', (response) => response.writeHead(201, { Location: '/v1/1' }).end('{}'));
    assert.equal((await send('POST', '/made', { body: {} })).headers.get('location'), '/v1/1');
    for (const status of [204, 304]) {
      destination.answers.set('/none', (response) => response.writeHead(status).end());
      const none = await send('GET', '/none');
      assert.deepEqual([none.status, none.text], [status, '']);
    }
    const head = await send('HEAD', '/head');
    assert.deepEqual([head.status, head.text, destination.last().method], [200, '', 'HEAD']);
  });

  it('tells what became of a destination that fails, and so does the log', async () => {
    destination.answers.set('/resets', (response) => response.socket?.destroy());
    destination.answers.set('/garbage', (response) => response.socket?.end('not HTTP\r\n\r\n'));
    for (const path of ['/resets', '/garbage']) {
      const answer = await send('GET', path, { headers: { 'SVC-TRACE-ID': `trace${path}` } });
      assert.deepEqual([answer.status, answer.json.proxy_error.code], [502, 'destination_unreachable'], path);
      const logged = (await entries('entity_type=proxy')).filter(
        ({ trace_id: trace }: { trace_id: string }) => trace === `trace${path}`,
      );
      assert.deepEqual(
        logged.map(({ message, outcome }: { message: string; outcome: string }) => [message, outcome]),
        [
          ['Proxy invocation failed', 'failure'],
          ['Proxy invoked', 'success'],
        ],
      );
    }
    assert.ok(!app.logLines.join('\n').includes(CARD));
  });
});
