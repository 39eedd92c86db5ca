import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { keptRows, underKey } from '../../testing/keyed-puts.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const MINE = { type: 'card', data: { number: '4242424242424242' }, metadata: { customer: 'me' } };
const THEIRS = { type: 'card', data: { number: '5555555555554444' }, metadata: { customer: 'them' } };

/** Many browsers hold the same public key, so an idempotency key alone does not say who asks. */
describe('an idempotency key beside a public key', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let key: string;
  before(async () => {
    app = await startTestApp({ env: { STRONGROOM_TRUSTED_PROXIES: 'loopback' } });
  });
  after(() => app.close());
  beforeEach(async () => {
    tenant = await app.makeTenant();
    key = await app.makeKey(tenant.id, 'public', ['token:create', 'token:update']);
  });

  const headers = underKey('order-1');
  const post = (path: string, body: unknown, as = key) => app.call('POST', path, { key: as, body, headers });

  it('201 with an own token for another body: nothing of the first shopper is shown or put in its place', async () => {
    const [first, second] = [await post('/tokens', MINE), await post('/tokens', THEIRS)];
    assert.deepEqual([first.status, second.status], [201, 201]);
    assert.notEqual(second.json.id, first.json.id);
    assert.deepEqual([second.json.metadata, second.json.data.number], [{ customer: 'them' }, 'XXXXXXXXXXXX4444']);
    assert.equal((await post('/tokens', MINE)).text, first.text, 'and each gets its own again');
    assert.equal((await post('/tokens', THEIRS)).text, second.text);
    assert.equal((await keptRows(app, tenant.id)).length, 2);
  });

  it('201 once for the same bytes; a space more is another request', async () => {
    const raw = JSON.stringify(MINE);
    const send = (text: string) => app.call('POST', '/tokens', { key, raw: text, headers });
    const first = await send(raw);
    assert.equal((await send(raw)).text, first.text);
    assert.notEqual((await send(`${raw} `)).json.id, first.json.id);
  });

  it('one effect of twenty at once with the same body, and one of each body', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => post('/tokens', n % 2 === 0 ? MINE : THEIRS)),
    );
    const ids = new Set(answers.filter(({ status }) => status === 201).map(({ json }) => json.id));
    assert.equal(ids.size, 2);
    assert.ok(answers.every(({ status, json }) => status === 201 || json.code === 'idempotency_in_flight'));
  });

  it('the same for /tokenize and PATCH', async () => {
    const [a, b] = [await post('/tokenize', ['a']), await post('/tokenize', ['b'])];
    assert.notDeepEqual(a.json, b.json);
    const { id } = (await app.call('POST', '/tokens', { key, body: MINE })).json;
    const patch = (customer: string) =>
      app.call('PATCH', `/tokens/${id}`, { key, headers, body: { metadata: { customer } } });
    assert.equal((await patch('x')).json.metadata.customer, 'x');
    assert.equal((await patch('y')).json.metadata.customer, 'y');
    assert.equal((await patch('x')).json.metadata.customer, 'x', 'the first answer again');
  });

  it('400, 413 and 415 for a body that would be refused anyway, also when the key was used before', async () => {
    assert.equal((await post('/tokens', MINE)).status, 201);
    const send = (raw: string, type = 'application/json') =>
      app.call('POST', '/tokens', { key, raw, headers: { ...headers, 'Content-Type': type } });
    assert.equal((await send('{')).status, 400);
    assert.equal((await send('x'.repeat(1_048_577))).status, 413);
    assert.equal((await send('{}', 'text/plain')).status, 415);
    assert.equal((await app.call('POST', '/tokens', { key, body: MINE, headers: underKey('a b') })).status, 400);
  });

  it('a session for everybody’s empty body: again for the address that asked, another one for any other', async () => {
    const open = (address: string) =>
      app.call('POST', '/sessions', { key, headers: { ...headers, 'X-Forwarded-For': address } });
    const [first, again, other] = [await open('198.51.100.1'), await open('198.51.100.1'), await open('198.51.100.2')];
    assert.deepEqual([first.status, again.text], [201, first.text]);
    assert.equal(other.status, 201);
    for (const field of ['id', 'session_key', 'nonce']) assert.notEqual(other.json[field], first.json[field]);
  });

  it('the first answer for any body, as ever, beside a private key or a session’s', async () => {
    const backend = await app.makeKey(tenant.id, 'private', ['token:create']);
    const { session_key, nonce } = (await app.call('POST', '/sessions', { key })).json;
    const body = { nonce, permissions: ['token:create'] };
    await app.call('POST', '/sessions/authorize', { key: backend, body });
    for (const as of [backend, session_key]) {
      const first = await post('/tokens', MINE, as);
      assert.equal(first.status, 201);
      assert.equal((await post('/tokens', THEIRS, as)).text, first.text);
      assert.equal((await app.call('POST', '/tokens', { key: as, raw: '{', headers })).text, first.text);
    }
  });
});
