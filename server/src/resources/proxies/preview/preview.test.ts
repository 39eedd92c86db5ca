import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '../../../kernel/ids.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import type { TestDestination } from '../run/destination-fixture.js';
import type { PreviewsWorld } from './previews-fixture.js';
import { CARD_NUMBER, MASKED, openPreviews, previewCalls, SECRET } from './previews-fixture.js';

describe('the preview of a Proxy', () => {
  let world: PreviewsWorld;
  let destination: TestDestination;
  let app: TestApp;
  let tenant: TestTenant;
  let key: string;
  let card: string;
  let whole: string;
  let unmasked: string;
  const { makeProxy, made, stored, ephemeral, shown, entries, messages } = previewCalls(() => world);
  before(async () => {
    world = await openPreviews();
    ({ destination, app, tenant, key, card, unmasked } = world);
    whole = await made({
      type: 'card',
      data: { number: CARD_NUMBER, expiration_month: 3, expiration_year: 2031, cvc: '987' },
    });
  });
  after(() => world.close());

  it('200 with the mask in query, headers and body, for one who may read the value in the clear', async () => {
    const number = await made({ type: 'card_number', data: CARD_NUMBER });
    const { status, json, text } = await stored({
      path: `/v1/charges?n={{ ${number} }}&q=a%20b&e=%7B%7B+${number}+%7D%7D`,
      headers: { Authorization: `Bearer {{ ${number} | last4 }}`, 'X-Two': ['1', '2'] },
      body: { source: { number: `{{ ${number} }}` }, note: `card {{ ${number} }}!`, amount: 12 },
    });
    assert.equal(status, 200, text);
    assert.deepEqual(json, {
      method: 'POST',
      url: `${destination.named}/base/v1/charges?n=${MASKED}&q=a%20b&e=${MASKED}`,
      headers: { Authorization: 'Bearer 4242', 'X-Two': '1, 2', 'Content-Type': 'application/json' },
      body: { source: { number: MASKED }, note: `card ${MASKED}!`, amount: 12 },
      tokens: [{ id: number, granted: true }],
    });
    assert.deepEqual(await messages(number), ['Token previewed in proxy']);
    const [entry] = await entries(`entity_id=${number}&operation=use`);
    assert.equal(entry?.entity_type, 'card_number');
    assert.equal(
      (await app.call('GET', `/tokens/${number}`, { key })).json.data,
      CARD_NUMBER,
      'it can read it elsewhere',
    );
  });

  it('200 the same for an ephemeral request, whose address is not judged: nothing is sent', async () => {
    const { json } = await ephemeral({ path: '/x', body: `{{ ${card} }}`, headers: { 'content-type': 'text/plain' } });
    assert.deepEqual(json, {
      method: 'POST',
      url: `${destination.url}/x`,
      headers: { 'content-type': 'text/plain' },
      body: MASKED,
      tokens: [{ id: card, granted: true }],
    });
    for (const address of ['http://10.0.0.1', 'https://169.254.169.254/latest', 'https://no-such-name.invalid/']) {
      const { status, json: answer } = await ephemeral({ destination_url: address, method: 'GET' });
      assert.deepEqual([status, answer.url], [200, address.replace(/\/$/, '')]);
    }
  });

  it('filters and comparisons see the mask alone, so none tells more', async () => {
    const { body } = await shown({
      slice: `{{ ${card} | slice: 0, 6 }}`,
      split: `{{ ${card} | split: "" | first }}`,
      bin: `{{ ${card} | card_bin }}`,
      hmac: `{{ ${card} | hmac: "sha-256", "k" | to_base16 }}`,
      cvc: `{{ ${whole} | json: "$.cvc" }}`,
      number: `{{ ${whole} | json: "$.number" }}`,
      all: `{{ token: ${whole} }}`,
      test: `{% assign n = 1 %}{{ ${card} | replace: "424242424242", "found" }}`,
    });
    assert.equal(body.slice, 'XXXXXX');
    assert.equal(body.split, 'X');
    assert.ok(!body.bin.includes('4242424'));
    assert.equal(body.cvc, null);
    assert.equal(body.number, MASKED);
    assert.deepEqual(body.all.data, { number: MASKED, expiration_month: 3, expiration_year: 2031 });
    assert.equal(body.all.fingerprint, undefined);
    assert.equal(body.test, MASKED);
    // Without what is random, where three digits can stand by chance.
    const text = JSON.stringify({ ...body, hmac: undefined, all: body.all.data });
    assert.ok(!JSON.stringify(body).includes(CARD_NUMBER) && !text.includes('987'));
    const masked = await made({ data: 'another value', mask: MASKED });
    const other = await shown({ hmac: `{{ ${masked} | hmac: "sha-256", "k" | to_base16 }}` });
    assert.equal(other.body.hmac, body.hmac, 'two values with one mask look alike');
  });

  it('a token without a mask is granted, and its expression stays', async () => {
    const body = { a: `{{ ${unmasked} }}`, b: `x {{ ${unmasked} | size }} {{ ${card} | last4 }}` };
    const json = await shown(body);
    assert.deepEqual(json.body, { a: body.a, b: `x {{ ${unmasked} | size }} 4242` });
    assert.deepEqual(json.tokens, [
      { id: unmasked, granted: true },
      { id: card, granted: true },
    ]);
    assert.ok((await messages(unmasked)).includes('Token previewed in proxy'));
  });

  it('an expression that a mask cannot answer stays, one that does not parse is 400', async () => {
    const body = { n: `{{ ${card} | to_number }}`, m: `{{ ${card} | last4 | to_number }}` };
    assert.deepEqual((await shown(body)).body, { n: body.n, m: 4242 });
    for (const faulty of [`{{ ${card} | no_such_filter }}`, `{{ ${card}`, `{% if %}{{ ${card} }}`, '{{ a }}']) {
      for (const id of [card, newId()]) {
        const { status, json } = await stored({ body: { deep: [faulty.replace(card, id)] } });
        assert.deepEqual([status, json.code], [400, 'invalid_expression'], faulty);
      }
    }
  });

  it('what is not there, another tenant’s, and not granted look alike, and stay as written', async () => {
    const neighbour = await app.makeTenant('Neighbour');
    const theirKey = await app.makeKey(neighbour.id, 'private', ['token:create', 'token:use']);
    const theirs = await made({ type: 'card_number', data: CARD_NUMBER }, theirKey);
    const rule = { priority: 1, container: '/pii/', transform: 'reveal', permissions: ['token:use'] } as const;
    const narrow = await app.makeKey(tenant.id, 'private', [], [rule]);
    const ssn = await made({ type: 'social_security_number', data: '123-45-6789' });
    const hidden = await made({ type: 'card_number', data: CARD_NUMBER });
    const ask = async (id: string) => {
      const request = {
        path: `/x?a={{ ${id} }}&b=%7b%7B+${id}+%7D%7d&c={{ ${ssn} }}`,
        headers: { 'X-A': `{{ ${id} | last4 }} {{ ${ssn} | last4 }}` },
        body: {
          one: `{{ ${id} }}`,
          two: `{{ ${ssn} }} {{ ${id} }}`,
          tags: `{% if true %}{{ ${id} }}{{ ${ssn} }}{% endif %}`,
        },
      };
      const { status, json, text } = await stored({ key: narrow, ...request });
      assert.equal(status, 200, text);
      assert.equal(json.url, `${destination.named}/base${request.path.replace(`{{ ${ssn} }}`, 'XXX-XX-6789')}`);
      assert.deepEqual(json.headers['X-A'], `{{ ${id} | last4 }} 6789`);
      assert.deepEqual(json.body, { ...request.body, two: `XXX-XX-6789 {{ ${id} }}` });
      return JSON.stringify(json).replaceAll(id, 'ID');
    };
    const answers = await Promise.all([ask(newId()), ask(theirs), ask(hidden)]);
    assert.equal(new Set(answers).size, 1, answers.join('\n'));
    assert.match(answers[0] ?? '', /\{"id":"ID","granted":false\}/);
    for (const id of [theirs, hidden]) assert.deepEqual(await messages(id), []);
    const ofNeighbour = (await app.call('GET', `/logs?entity_id=${theirs}`, { key: neighbour.key })).json.data;
    assert.deepEqual(
      ofNeighbour.map(({ message }: { message: string }) => message),
      ['Token created'],
    );
    assert.equal((await messages(ssn)).length, 3);
  });

  it('granted is what a call would get: a rule that masks or redacts what has no mask grants nothing', async () => {
    const granted = async (transform: 'mask' | 'redact' | 'reveal', id: string) => {
      const rule = { priority: 1, container: '/', transform, permissions: ['token:use'] } as const;
      const by = await app.makeKey(tenant.id, 'private', [], [rule]);
      const json = await shown({ n: `{{ ${id} }}` }, by);
      assert.ok(!JSON.stringify(json).includes(SECRET));
      return [json.tokens[0].granted, json.body.n === MASKED];
    };
    assert.deepEqual(await granted('reveal', card), [true, true]);
    assert.deepEqual(await granted('mask', card), [true, true]);
    assert.deepEqual(await granted('redact', card), [false, false]);
    assert.deepEqual(await granted('reveal', unmasked), [true, false]);
    assert.deepEqual(await granted('mask', unmasked), [false, false]);
  });

  it('with proxy:update alone expressions stay as written, no token is told and nothing is used', async () => {
    const editor = await app.makeKey(tenant.id, 'management', ['proxy:update']);
    const number = await made({ type: 'card_number', data: CARD_NUMBER });
    const request = {
      path: `/x?a={{ ${number} }}&b=%7B%7B${number}%7D%7D`,
      headers: { 'X-A': `{{ ${number} }}`, 'SVC-API-KEY': 'mine' },
      body: { n: `{{ ${number} | last4 }}`, m: `{{ ${newId()} }}` },
    };
    for (const [base, { status, json, text }] of [
      [`${destination.named}/base`, await stored({ key: editor, ...request })],
      [destination.url, await ephemeral({ key: editor, ...request })],
    ] as const) {
      assert.equal(status, 200, text);
      assert.deepEqual(json, {
        method: 'POST',
        url: `${base}${request.path}`,
        headers: { 'X-A': `{{ ${number} }}`, 'Content-Type': 'application/json' },
        body: request.body,
      });
    }
    assert.deepEqual(await messages(number), []);
  });

  it('403 for a public key, for other permissions and for a session without rights; 404 for what is no Proxy of theirs', async () => {
    const publicKey = await app.makeKey(tenant.id, 'public', ['token:create', 'token:update']);
    const reader = await app.makeKey(tenant.id, 'private', ['token:read', 'token:search']);
    const others = await app.makeKey(tenant.id, 'management', ['proxy:read', 'proxy:create', 'proxy:delete']);
    const { session_key: session } = (await app.call('POST', '/sessions', { key: publicKey })).json;
    for (const by of [publicKey, reader, others, session]) {
      for (const { status, json } of [await stored({ key: by, id: newId() }), await ephemeral({ key: by })]) {
        assert.deepEqual([status, json.code], [403, 'permission_denied']);
        assert.match(json.detail, /token:use or proxy:update/);
      }
    }
    const neighbour = await app.makeTenant('Neighbour');
    const theirKey = await app.makeKey(neighbour.id, 'private', ['token:use']);
    for (const by of [theirKey, neighbour.key]) {
      const { status, json } = await stored({ key: by, body: { n: `{{ ${card} }}` } });
      assert.deepEqual([status, json.code], [404, 'not_found']);
      assert.ok(!JSON.stringify(json).includes('localhost'));
    }
    for (const id of [newId(), 'x']) assert.equal((await stored({ id })).status, 404);
  });

  it('200 for a session, by the rights it was given', async () => {
    const publicKey = await app.makeKey(tenant.id, 'public', ['token:create']);
    const { session_key: session, nonce } = (await app.call('POST', '/sessions', { key: publicKey })).json;
    const rule = { priority: 1, container: '/pci/', transform: 'reveal', permissions: ['token:use'] };
    const authorized = await app.call('POST', '/sessions/authorize', { key, body: { nonce, rules: [rule] } });
    assert.equal(authorized.status, 200, authorized.text);
    const json = await shown({ a: `{{ ${card} }}`, b: `{{ ${unmasked} }}` }, session);
    assert.deepEqual(json.body, { a: MASKED, b: `{{ ${unmasked} }}` });
    assert.deepEqual(json.tokens, [
      { id: card, granted: true },
      { id: unmasked, granted: false },
    ]);
  });

  it('uses the rights of the caller where a call would use those of the Proxy’s Application', async () => {
    const { id: applicationId } = await app.makeApplication(tenant.id, 'private', ['token:use']);
    const open = await makeProxy({ require_auth: false, application_id: applicationId });
    const rule = { priority: 1, container: '/pii/', transform: 'reveal', permissions: ['token:use'] } as const;
    const narrow = await app.makeKey(tenant.id, 'private', [], [rule]);
    const { json } = await stored({ key: narrow, id: open, body: { n: `{{ ${card} }}` } });
    assert.deepEqual([json.body, json.tokens], [{ n: `{{ ${card} }}` }, [{ id: card, granted: false }]]);
    assert.equal((await app.call('POST', `/proxies/${open}/preview`, { body: { method: 'GET' } })).status, 401);
  });

  it('runs no code and shows none of the configuration', async () => {
    const code = 'module.exports = async () => ({ body: "changed", headers: {} });';
    const id = await makeProxy({ request_transform: { code }, configuration: { KEY: 'canary-setting' } });
    const { json, text } = await stored({ id, body: { a: 1 } });
    assert.deepEqual(json.body, { a: 1 });
    assert.ok(!text.includes('canary-setting') && !text.includes('changed'));
    assert.equal((await app.call('GET', `/proxies/${id}/metrics`, { key: tenant.key })).json.total.calls, 0);
    assert.deepEqual(await messages(id), []);
  });
});
