import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const ALL = ['create', 'update', 'read', 'search', 'delete', 'use'].map((act) => `token:${act}`);
const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031, cvc: '123' };

describe('tokens', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let key: string;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    key = await app.makeKey(tenant.id, 'private', ALL);
  });
  after(() => app.close());

  it('201 with a masked card, and the same by id', async () => {
    const made = await app.call('POST', '/tokens', {
      key,
      body: { type: 'card', data: CARD, metadata: { a: 'B' }, search_indexes: ['{{ data.number }}'] },
    });
    assert.equal(made.status, 201, made.text);
    console.log(made.text);
    const got = await app.call('GET', `/tokens/${made.json.id}`, { key });
    assert.deepEqual(got.json, made.json);
    const list = await app.call('GET', '/tokens?metadata.a=b', { key });
    console.log(list.text, app.logLines.filter((l) => l.includes('err')).join(''));
    assert.deepEqual(list.json.data[0], made.json);
    const found = await app.call('POST', '/tokens/search', { key, body: { query: 'data:4242424242424242' } });
    console.log(found.text);
    assert.deepEqual(found.json.data[0], made.json);
    const changed = await app.call('PATCH', `/tokens/${made.json.id}`, { key, body: { metadata: { a: 'c' } } });
    console.log(changed.text);
    assert.equal(changed.status, 200);
    const many = await app.call('POST', '/tokenize', { key, body: { a: 'x', b: [1, { type: 'card', data: CARD }] } });
    console.log(many.text);
    const back = await app.call('POST', '/detokenize', { key, body: { a: `{{ ${many.json.b[1].id} }}` } });
    console.log(back.text);
    const v2 = await app.call('GET', '/v2/tokens?size=2', { key });
    console.log(v2.text.slice(0, 200));
    const next = await app.call('GET', `/v2/tokens?size=2&start=${v2.json.pagination.after}`, { key });
    console.log(next.json.data.length, next.json.pagination);
    const report = await app.call('GET', '/tenants/self/reports/usage', { key: tenant.key });
    console.log(report.text);
    const gone = await app.call('DELETE', `/tokens/${made.json.id}`, { key });
    assert.equal(gone.status, 204, gone.text);
    const logs = await app.call('GET', '/logs', { key: tenant.key });
    console.log(
      logs.json.data.map((l: { message: string; entity_type: string }) => `${l.entity_type} ${l.message}`).join('; '),
    );
  });
});
