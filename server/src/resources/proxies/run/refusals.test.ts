// needs: time

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually, HANGS_MS } from '../../../testing/eventually.js';
import type { RawAnswer } from '../../../testing/raw-http.js';
import { exchange, message } from '../../../testing/raw-http.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { TestDestination } from './destination-fixture.js';
import { startDestination } from './destination-fixture.js';

const CARD = '4242424242424242';
const BODY_BYTES_MAX = 1_000_000;
const SLOW_TYPES = ['application/json', 'application/octet-stream'];

describe('what a call through a Proxy is refused for, and how it is told', () => {
  let destination: TestDestination;
  let app: TestApp;
  let tenant: TestTenant;
  let key: string;
  let card: string;
  let slow: Promise<RawAnswer | undefined>[];
  let proxy: { readonly id: string; readonly key: string };
  before(async () => {
    destination = await startDestination();
    const env = { STRONGROOM_HEADER_PREFIXES: 'SVC,BT', STRONGROOM_PROXY_BODY_BYTES_MAX: String(BODY_BYTES_MAX) };
    app = await startTestApp({ env: { ...destination.env, ...env } });
    tenant = await app.makeTenant();
    key = await app.makeKey(tenant.id, 'private', ['token:create', 'token:use']);
    card = (await app.call('POST', '/tokens', { key, body: { type: 'card_number', data: CARD } })).json.id;
    proxy = await make();
    // They take half a minute, beside the others.
    slow = SLOW_TYPES.map(async (type, at) => {
      const said = [`Content-Type: ${type}`, 'Content-Length: 50', `SVC-TRACE-ID: slow-${at}`];
      const bytes = `${message('POST /proxy/slow', 'Host: x', ...ours(), ...said)}{"na`;
      const [answer] = await exchange(app.port, bytes, undefined, HANGS_MS);
      return answer;
    });
  });
  after(async () => {
    await app.close();
    await destination.close();
  });

  async function make(): Promise<{ readonly id: string; readonly key: string }> {
    const manager = await app.makeKey(tenant.id, 'management', ['proxy:create', 'proxy:read']);
    const body = { name: 'Payments', destination_url: destination.named };
    return (await app.call('POST', '/proxies', { key: manager, body })).json;
  }

  /** One request as bytes, for what no client would write. */
  async function raw(line: string, headers: readonly string[], body = ''): Promise<RawAnswer> {
    const [answer] = await exchange(app.port, message(line, 'Host: x', 'Connection: close', ...headers) + body);
    return answer ?? assert.fail(`no answer to ${line}`);
  }
  const told = ({ status, body }: RawAnswer): unknown[] => [status, JSON.parse(body).proxy_error?.code];
  const ours = (): string[] => [`SVC-API-KEY: ${key}`, `SVC-PROXY-URL: ${destination.url}`];
  const uses = async () =>
    (await app.call('GET', `/logs?entity_id=${card}&operation=use`, { key: tenant.key })).json.data.length;

  it('400 for a fragment behind the path or the query, before a token is looked at', async () => {
    const [before, seen] = [await uses(), destination.seen.length];
    for (const target of ['/x#y', '/x?a=1#y', `/x?a=1#{{${card}}}`, `/x?a={{${card}}}#y`, '/x?#']) {
      assert.deepEqual(told(await raw(`GET /proxy${target}`, ours())), [400, 'malformed_request'], target);
    }
    assert.deepEqual([await uses(), destination.seen.length], [before, seen]);
    assert.equal((await raw(`GET /proxy/x?a=1%23y={{${card}}}`, ours())).status, 200);
    assert.deepEqual([await uses(), destination.last().url], [before + 1, `/x?a=1%23y=${CARD}`]);
  });

  it('400 where the key of the Proxy or the address is said twice under one name, and the first prefix wins under two', async () => {
    const other = await make();
    const named = (name: string, value: string): string => `${name}-proxy-key=${value}`;
    const seen = destination.seen.length;
    for (const [target, headers] of [
      [`/x?${named('svc', proxy.key)}&${named('svc', other.key)}`, []],
      [`/x?${named('svc', proxy.key)}&${named('SVC', proxy.key)}`, []],
      ['/x', [`SVC-PROXY-KEY: ${proxy.key}`, `svc-proxy-key: ${other.key}`]],
      ['/x', [`SVC-PROXY-URL: ${destination.url}`, 'SVC-PROXY-URL: https://other.example']],
    ] as const) {
      const answer = await raw(`GET /proxy${target}`, [`SVC-API-KEY: ${key}`, ...headers]);
      assert.deepEqual(told(answer), [400, 'malformed_request'], target);
    }
    assert.equal(destination.seen.length, seen);
    const both = await raw(`GET /proxy/x?${named('bt', 'key_prx_x')}&${named('svc', proxy.key)}`, [
      `SVC-API-KEY: ${key}`,
    ]);
    assert.equal(both.status, 200);
  });

  it('401 without a key and 413 with one for a body that is announced as too long', async () => {
    const length = `Content-Length: ${BODY_BYTES_MAX + 1}`;
    const address = `SVC-PROXY-URL: ${destination.url}`;
    assert.deepEqual(told(await raw('POST /proxy/x', [address, length])), [401, 'missing_api_key']);
    const stored = await raw('POST /proxy/x', [`SVC-PROXY-KEY: ${proxy.key}`, length]);
    assert.deepEqual(told(stored), [401, 'missing_api_key']);
    assert.deepEqual(told(await raw('POST /proxy/x', [...ours(), length])), [413, 'payload_too_large']);
  });

  it('in the frame of the contract, also where no route takes the request', async () => {
    for (const [line, status, code] of [
      ['GET /proxy/%zz', 400, 'malformed_request'],
      ['GET /proxy/a%00b', 404, 'not_found'],
      ['TRACE /proxy/x', 405, 'method_not_allowed'],
      ['PURGE /proxy', 405, 'method_not_allowed'],
    ] as const) {
      assert.deepEqual(told(await raw(line, ours())), [status, code], line);
    }
    assert.equal(JSON.parse((await raw('PURGE /proxying', [])).body).code, 'not_found');
  });

  it('408 for a body that never ends, which is the client’s fault and not the destination’s, whether it is read whole or streamed', async () => {
    for (const [at, answering] of slow.entries()) {
      const answer = await answering;
      assert.ok(answer);
      assert.deepEqual(told(answer), [408, 'request_timeout'], SLOW_TYPES[at]);
      assert.equal(answer.headers.get('svc-trace-id'), `slow-${at}`);
      await eventually('its line is there', () =>
        app.logLines.some((line) => line.includes(`"traceId":"slow-${at}"`) && line.includes('"status":408')),
      );
    }
  });

  it('400 with the caller’s prefix and trace id for chunks that are none, and so in the log', async () => {
    for (const type of ['application/json', 'application/octet-stream']) {
      const headers = ['Transfer-Encoding: chunked', `Content-Type: ${type}`, `BT-TRACE-ID: broken-${type}`];
      const own = [`BT-API-KEY: ${key}`, `BT-PROXY-URL: ${destination.url}`];
      const answer = await raw('POST /proxy/x', [...own, ...headers], '2\r\n{}\r\nzz\r\n');
      assert.deepEqual(told(answer), [400, 'malformed_request'], type);
      assert.equal(JSON.parse(answer.body).proxy_error.trace_id, `broken-${type}`);
      assert.equal(answer.headers.get('bt-trace-id'), `broken-${type}`);
      await eventually('its line is there', () =>
        app.logLines.some((line) => line.includes(`"traceId":"broken-${type}"`) && line.includes('"status":400')),
      );
    }
  });
});
