// needs: engine

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { TestDestination } from './destination-fixture.js';
import { startDestination } from './destination-fixture.js';

const CARD = '4242424242424242';
const MANAGES = ['proxy:create', 'proxy:read', 'proxy:update', 'proxy:delete', 'log:read'];

interface Made {
  readonly id: string;
  readonly key: string;
}

describe('a call through a stored Proxy', () => {
  let destination: TestDestination;
  let app: TestApp;
  let tenant: TestTenant;
  let manager: string;
  let caller: string;
  let card: string;
  before(async () => {
    destination = await startDestination();
    app = await startTestApp({ env: { ...destination.env, STRONGROOM_RATE_LIMITS: 'on' } });
    tenant = await app.makeTenant();
    manager = await app.makeKey(tenant.id, 'management', MANAGES);
    caller = await app.makeKey(tenant.id, 'private', ['token:create', 'token:use']);
    card = (await app.call('POST', '/tokens', { key: caller, body: { type: 'card_number', data: CARD } })).json.id;
  });
  after(async () => {
    await app.close();
    await destination.close();
  });

  async function make(more: object = {}): Promise<Made> {
    const body = { name: 'Payments', destination_url: destination.named, ...more };
    const made = await app.call('POST', '/proxies', { key: manager, body });
    assert.equal(made.status, 201, made.text);
    return made.json;
  }
  const send = (proxy: Pick<Made, 'key'>, path: string, body?: unknown, key: string | undefined = caller) =>
    app.call('POST', `/proxy${path}`, {
      ...(key !== undefined && key !== '' && { key }),
      ...(body !== undefined && { body }),
      headers: { 'SVC-PROXY-KEY': proxy.key, 'SVC-PROXY-URL': 'https://ignored.example' },
    });

  it('goes to its destination, by header or by query, with the version in the log', async () => {
    const proxy = await make({ destination_url: `${destination.named}/v1/` });
    const answer = await send(proxy, '/charges', { number: `{{ ${card} }}` });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      [destination.last().url, destination.last().body],
      ['/v1/charges', JSON.stringify({ number: CARD })],
    );
    const byQuery = await app.call('GET', `/proxy/x?a=1&svc-proxy-key=${proxy.key}&b=2`, { key: caller });
    assert.deepEqual([byQuery.status, destination.last().url], [200, '/v1/x?a=1&b=2']);
    const { json } = await app.call('GET', `/logs?entity_id=${proxy.id}&include=details`, { key: manager });
    const [entry] = json.data;
    assert.deepEqual([entry.entity_type, entry.message, entry.entity_version], ['proxy', 'Proxy invoked', 1]);
    const used = await app.call('GET', `/logs?entity_id=${card}&include=details`, { key: manager });
    const [first] = used.json.data;
    assert.deepEqual([first.message, first.entity_version], ['Token used in proxy', undefined]);
  });

  it('a caller takes away nothing that the code of the Proxy adds, and cannot send it twice', async () => {
    const code = `module.exports = async ({ args }) => ({ headers: { ...args.headers, Authorization: 'Bearer ours' } });`;
    const proxy = await make({ request_transform: { code } });
    for (const headers of [
      { Connection: 'close, authorization, svc-trace-id' },
      { authorization: 'Bearer theirs' },
      { Connection: 'keep-alive, Authorization', authorization: 'Bearer theirs' },
    ]) {
      const asked = request({
        ...{ host: '127.0.0.1', port: app.port, method: 'POST', path: '/proxy/x' },
        headers: { 'SVC-API-KEY': caller, 'SVC-PROXY-KEY': proxy.key, ...headers },
      }).end();
      const [answer] = await once(asked, 'response');
      answer.resume();
      assert.equal(answer.statusCode, 200);
      const { rawHeaders } = destination.last();
      const of = (name: string) => rawHeaders.filter((_, at) => rawHeaders[at - 1]?.toLowerCase() === name);
      assert.deepEqual(of('authorization'), ['Bearer ours']);
      assert.equal(of('svc-trace-id').length, 1);
    }
  });

  it('502 and an entry for a status that no answer has', async () => {
    const proxy = await make();
    destination.unread.set('/odd', (response) => response.socket?.end('HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'));
    const answer = await send(proxy, '/odd', {});
    assert.equal(answer.status, 502, answer.text);
    const { json } = await app.call('GET', `/logs?entity_id=${proxy.id}`, { key: manager });
    assert.equal(json.data[0].message, 'Proxy invocation failed');
  });

  it('is not there for another tenant, nor under an old key', async () => {
    const proxy = await make();
    const other = await app.makeTenant();
    const stranger = await app.makeKey(other.id, 'private', ['token:use']);
    const seen = destination.seen.length;
    const foreign = await send(proxy, '/x', {}, stranger);
    const unknown = await send({ key: 'key_prx_00000000000000000000000000000000' }, '/x', {}, stranger);
    assert.deepEqual([foreign.status, unknown.status], [404, 404]);
    const { trace_id: _one, ...first } = foreign.json.proxy_error;
    const { trace_id: _two, ...second } = unknown.json.proxy_error;
    assert.deepEqual(first, second);
    const renewed = await app.call('POST', `/proxies/${proxy.id}/regenerate`, { key: manager });
    assert.equal((await send(proxy, '/x', {})).status, 404);
    assert.equal((await send(renewed.json, '/x', {})).status, 200);
    assert.equal((await app.call('DELETE', `/proxies/${proxy.id}`, { key: manager })).status, 204);
    assert.equal((await send(renewed.json, '/x', {})).status, 404);
    assert.equal(destination.seen.length, seen + 1);
  });

  it('without a key: 401 unless it needs none, and then the rights of its Application and no others', async () => {
    const closed = await make();
    const refused = await send(closed, '/x', {}, '');
    const unknown = await send({ key: 'key_prx_00000000000000000000000000000000' }, '/x', {}, '');
    assert.deepEqual([refused.status, unknown.status], [401, 401]);
    assert.equal(refused.json.proxy_error.detail, unknown.json.proxy_error.detail);
    const bare = await make({ require_auth: false });
    assert.equal((await send(bare, '/x', { plain: 1 }, '')).status, 200);
    const none = await send(bare, '/x', { number: `{{ ${card} }}` }, '');
    assert.deepEqual([none.status, none.json.proxy_error.code], [403, 'access_denied']);
    const able = await app.makeApplication(tenant.id, 'private', ['token:use']);
    const unable = await app.makeApplication(tenant.id, 'private', ['token:create']);
    const withRights = await make({ require_auth: false, application: { id: able.id } });
    const without = await make({ require_auth: false, application_id: unable.id });
    assert.equal((await send(withRights, '/x', { number: `{{ ${card} }}` }, '')).status, 200);
    assert.equal(JSON.parse(destination.last().body).number, CARD);
    const denied = await send(without, '/x', { number: `{{ ${card} }}` }, '');
    assert.deepEqual([denied.status, denied.json.proxy_error.code], [403, 'access_denied']);
    // A caller's own key gives it nothing there that the Application has not.
    assert.equal((await send(without, '/x', { number: `{{ ${card} }}` }, caller)).status, 403);
    const { json } = await app.call('GET', `/logs?entity_id=${withRights.id}&include=details`, { key: manager });
    assert.deepEqual([json.data[0].actor_type, json.data[0].actor_id], ['application', able.id]);
  });

  it('runs code on the request with its values, and on the answer of a success', async () => {
    const proxy = await make({
      configuration: { MERCHANT: 'm-17' },
      request_transform: {
        code: `module.exports = async ({ args, configuration }) => ({
          body: { ...args.body, merchant: configuration.MERCHANT, seen: [args.method, args.path, args.query, args.headers['x-mine']] },
          headers: { 'Content-Type': 'application/json', 'X-Made': args.body.number.slice(-4) } });`,
      },
      response_transform: {
        code: `module.exports = async ({ args }) => ({ body: { was: typeof args.body, merchant: JSON.parse(args.body.body).merchant }, headers: { 'X-Answer': 'yes', 'Set-Cookie': 'a=1' } });`,
      },
    });
    const answer = await app.call('POST', '/proxy/pay?q=1', {
      key: caller,
      body: { number: `{{ ${card} }}` },
      headers: { 'SVC-PROXY-KEY': proxy.key, 'X-Mine': 'yes' },
    });
    assert.equal(answer.status, 200, answer.text);
    const seen = destination.last();
    assert.deepEqual(JSON.parse(seen.body), { number: CARD, merchant: 'm-17', seen: ['POST', '/pay', '?q=1', 'yes'] });
    assert.deepEqual([seen.headers['x-made'], seen.headers['x-mine']], ['4242', undefined]);
    assert.deepEqual(JSON.parse(answer.text), { was: 'object', merchant: 'm-17' });
    assert.deepEqual([answer.headers.get('x-answer'), answer.headers.get('set-cookie')], ['yes', null]);
    destination.answers.set('/refused', (response) => response.writeHead(402).end('as it was'));
    assert.deepEqual(await send(proxy, '/refused', { number: '1' }).then(({ status, text }) => [status, text]), [
      402,
      'as it was',
    ]);
  });

  it('never reaches the destination where code fails, and tells what it threw', async () => {
    const before = destination.seen.length;
    const throwing = (text: string) => make({ request_transform: { code: text } });
    const errors = "const { AuthorizationError, CustomHttpResponseError } = require('strongroom-errors');";
    const cases: readonly (readonly [string, number, string])[] = [
      ['module.exports = 7', 422, 'reactor_code_invalid'],
      ['module.exports = () => { throw new Error("no") }', 500, 'reactor_error'],
      [`${errors} module.exports = () => { throw new AuthorizationError("not you") }`, 403, 'reactor_error'],
      ['module.exports = () => 7', 500, 'reactor_error'],
    ];
    for (const [code, status, problem] of cases) {
      const answer = await send(await throwing(code), '/x', {});
      assert.deepEqual([answer.status, answer.json.proxy_error.code], [status, problem], code);
    }
    const own = await throwing(
      `${errors} module.exports = () => { throw new CustomHttpResponseError({ status: 299, body: 'mine' }) }`,
    );
    const answer = await send(own, '/x', {});
    assert.deepEqual([answer.status, answer.text], [299, 'mine']);
    assert.equal(destination.seen.length, before);
    const { json } = await app.call('GET', `/proxies/${own.id}/metrics`, { key: manager });
    assert.deepEqual([json.total.calls, json.total.errors], [1, { CustomHttpResponseError: 1 }]);
  });
});
