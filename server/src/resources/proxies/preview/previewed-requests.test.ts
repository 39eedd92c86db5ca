import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '../../../kernel/ids.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import type { TestDestination } from '../run/destination-fixture.js';
import type { PreviewsWorld } from './previews-fixture.js';
import { CARD_NUMBER, MASKED, openPreviews, previewCalls, SECRET } from './previews-fixture.js';

describe('a request in the preview of a Proxy', () => {
  let world: PreviewsWorld;
  let destination: TestDestination;
  let app: TestApp;
  let tenant: TestTenant;
  let key: string;
  let proxyId: string;
  let card: string;
  let unmasked: string;
  const { made, stored, ephemeral, shown, entries, messages } = previewCalls(() => world);
  before(async () => {
    world = await openPreviews();
    ({ destination, app, tenant, key, proxyId, card, unmasked } = world);
  });
  after(() => world.close());

  it('leaves out the headers a call leaves out, and joins those that come twice', async () => {
    const { json } = await stored({
      method: 'GET',
      path: '/x?svc-proxy-key=key_prx_1&a=1&bt-proxy-key=2',
      headers: {
        ...{ Host: 'evil.example', 'Content-Length': '7', 'Transfer-Encoding': 'chunked', Connection: 'X-Hop, close' },
        ...{ 'X-Hop': '1', 'Keep-Alive': 'x', Upgrade: 'h2c', 'Proxy-Authorization': 'basic x', 'svc-api-key': 'k' },
        ...{ 'BT-API-KEY': 'k', 'SVC-PROXY-URL': 'https://evil.example', 'X-Forwarded-For': '10.0.0.1', Via: 'x' },
        ...{ Cookie: ['__Host-strongroom_session=secret; mine=1', 'more=2'], 'Sec-Fetch-Mode': 'cors', Expect: 'x' },
        ...{
          'SVC-PROXY-KEEP-ALIVE': 'timeout=5',
          'X-Twice': ['a', 'b'],
          'x-twice': 'c',
          ['__proto__']: 'a name like any other',
        },
        ...{ 'X-Text': 'grüße' },
      },
    });
    assert.equal(json.url, `${destination.named}/base/x?a=1`);
    assert.deepEqual(json.headers, {
      Cookie: 'mine=1; more=2',
      'X-Twice': 'a, b, c',
      ['__proto__']: 'a name like any other',
      'X-Text': 'grüße',
      'Keep-Alive': 'timeout=5',
    });
    assert.ok(!('body' in json));
    assert.deepEqual(json.tokens, []);
  });

  it('reads text, forms and JSON text as a call does, and leaves other bodies', async () => {
    const text = async (type: string | undefined, body: string) =>
      (await stored({ body, ...(type && { headers: { 'Content-Type': type } }) })).json.body;
    const one = `{{ ${card} }}`;
    assert.equal(await text('text/xml', `<n>${one}</n>`), `<n>${MASKED}</n>`);
    assert.equal(
      await text('application/x-www-form-urlencoded', `n=%7B%7B+${card}+%7D%7D&m=${one}`),
      `n=${MASKED}&m=${MASKED}`,
    );
    assert.equal(await text('application/json', `{"a": "${one}", "b":1}`), `{"a":"${MASKED}","b":1}`);
    assert.equal(await text('application/json', '{"a" : 1}'), '{"a" : 1}');
    const gone = newId();
    const form = `n=%7B%7B+${gone}+%7D%7D&m={{ ${gone} }}`;
    assert.equal(await text('application/x-www-form-urlencoded', form), form);
    for (const type of [undefined, 'application/octet-stream', 'text/plain; charset=utf-16']) {
      assert.equal(await text(type, one), one);
    }
    const { status, json } = await stored({ body: `{"a":"${one}"`, headers: { 'Content-Type': 'application/json' } });
    assert.deepEqual([status, json.code], [400, 'malformed_json']);
  });

  it('400 for what a call could not send, before a token is looked at', async () => {
    const number = await made({ type: 'card_number', data: CARD_NUMBER });
    const body = { n: `{{ ${number} }}` };
    for (const [code, request] of [
      ['validation_failed', { method: 'TRACE' }],
      ['validation_failed', { method: 'post' }],
      ['validation_failed', { method: null }],
      ['validation_failed', { path: 'charges' }],
      ['validation_failed', { path: '/a#b' }],
      ['validation_failed', { path: '/a\r\nX: y' }],
      ['validation_failed', { headers: { 'X Y': 'a' } }],
      ['validation_failed', { headers: { 'X-Y': 1 } }],
      ['validation_failed', { headers: { 'X-Y': { toString: 'x' } } }],
      ['validation_failed', { headers: ['X'] }],
      ['validation_failed', { headers: { 'Content-Type': 'text/plain' } }],
      ['malformed_request', { path: '/../secret' }],
      ['malformed_request', { path: '/a/%2e%2E/b' }],
      ['malformed_request', { path: '/a\\b' }],
      ['malformed_request', { headers: { 'X-Y': 'a\r\nX-Z: b' } }],
      ['malformed_request', { path: `/${'a'.repeat(16_383)}` }],
    ] as const) {
      for (const answer of [await stored({ body, ...request }), await ephemeral({ body, ...request })]) {
        assert.deepEqual([answer.status, answer.json.code], [400, code], JSON.stringify(request).slice(0, 100));
      }
    }
    for (const address of [undefined, 1, 'ftp://a.example', 'https://u:p@a.example', 'https://a.example?x', '/x']) {
      const { status, json } = await ephemeral({ body, destination_url: address });
      assert.deepEqual([status, Object.keys(json.errors)], [400, ['destination_url']]);
    }
    assert.deepEqual(await messages(number), []);
  });

  it('400 for a mask that would end a header, and for more tokens than a call may name', async () => {
    const split = await made({ data: SECRET, mask: 'a\r\nX-Evil: b' });
    const refused = await stored({ headers: { 'X-A': `{{ ${split} }}` } });
    assert.deepEqual([refused.status, refused.json.code], [400, 'malformed_request']);
    const many = Array.from({ length: 101 }, () => `{{ ${newId()} }}`);
    const { status, json } = await stored({ body: many });
    assert.deepEqual([status, json.code], [400, 'too_many_tokens']);
  });

  it('413 for a body beyond the limits of a call, as a value and as text', async () => {
    const values = Array.from({ length: 200_001 }, () => 1);
    for (const body of ['x'.repeat(5_242_880), values]) {
      const { status, json } = await stored({ body });
      assert.deepEqual([status, json.code], [413, 'payload_too_large']);
    }
    const text = JSON.stringify([`{{ ${card} }}`, ...values]);
    const { status, json } = await stored({ body: text, headers: { 'Content-Type': 'application/json' } });
    assert.deepEqual([status, json.code], [413, 'payload_too_large']);
  });

  it('400 for a number that would be shown as another, by whoever asks', async () => {
    const editor = await app.makeKey(tenant.id, 'management', ['proxy:update']);
    for (const by of [key, editor]) {
      const raw = '{"method":"POST","body":{"n":12345678901234567890123}}';
      const { status, json } = await app.call('POST', `/proxies/${proxyId}/preview`, { key: by, raw });
      assert.deepEqual([status, Object.keys(json.errors)], [400, ['body.n']]);
    }
  });

  it('200 on large tokens, by their masks', async () => {
    const filler = 'y'.repeat(600_000);
    const first = await made({ data: { secret: SECRET, filler }, mask: { shown: 'first' } });
    const second = await made({ data: { secret: SECRET, filler }, mask: { shown: '{{ data.filler | size }}' } });
    const third = await made({ data: { secret: SECRET, filler }, containers: ['/pii/high/'] });
    const missing = newId();
    const rule = { priority: 1, container: '/general/', transform: 'reveal', permissions: ['token:use'] } as const;
    const narrow = await app.makeKey(tenant.id, 'private', [], [rule]);
    const body = [first, second, third, missing].map((id) => `{{ ${id} | json: "$.shown" }}`);
    const json = await shown(body, narrow);
    assert.deepEqual(json.body, ['first', 600_000, body[2], body[3]]);
    assert.deepEqual(
      json.tokens.map(({ granted }: { granted: boolean }) => granted),
      [true, true, false, false],
    );
    for (const id of [first, second]) assert.deepEqual(await messages(id), ['Token previewed in proxy']);
    assert.deepEqual(await messages(third), []);
  });

  it('nothing of a value is in any log, and an idempotency key is ignored', async () => {
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'again' };
    const body = { method: 'POST', body: { n: `{{ ${card} }} {{ ${unmasked} }}` } };
    const before = (await messages(card)).length;
    for (const _ of [1, 2]) {
      const { status } = await app.call('POST', `/proxies/${proxyId}/preview`, { key, body, headers });
      assert.equal(status, 200);
    }
    assert.equal((await messages(card)).length, before + 2);
    const logs = JSON.stringify(await entries('include=details'));
    for (const place of [logs, app.logLines.join('\n')]) {
      for (const value of [CARD_NUMBER, SECRET, MASKED]) assert.ok(!place.includes(value), value);
    }
  });
});
