import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HOUR_MS } from '../../jobs/job-record.js';
import type { TestVault } from './vault-fixture.js';
import { CARD, openVault, pathOf, rule, writesNothing } from './vault-fixture.js';

const CHANGES = ['token:create', 'token:update'];

describe('what a caller may not find out or use up', () => {
  let vault: TestVault;
  before(async () => {
    vault = await openVault();
  });
  after(() => vault.app.close());

  it('403 for a public key or a session that writes a mask, fingerprint or index over data it may not see', async () => {
    const { app, tenant } = vault;
    const { id } = await vault.make({ type: 'card', data: CARD });
    const collect = await app.makeKey(tenant.id, 'public', [], [rule('mask', '/pci/', CHANGES)]);
    const redact = await app.makeKey(tenant.id, 'public', [], [rule('redact', '/pci/', CHANGES)]);
    const { json: session } = await app.call('POST', '/sessions', { key: collect });
    const body = { nonce: session.nonce, permissions: ['token:update'] };
    assert.equal((await vault.send('POST', '/sessions/authorize', body)).status, 200);
    for (const key of [collect, redact, session.session_key]) {
      for (const patch of [
        { mask: { all: '{{ data }}' } },
        { mask: '{{ data.number }}' },
        { fingerprint_expression: '{{ data.number | slice: 3, 1 }}' },
        { search_indexes: ['{{ data.number | slice: 3, 1 }}'] },
        { data: { expiration_year: 2032 }, mask: { all: '{{ data }}' } },
      ]) {
        const { status, json, text } = await writesNothing(app, () => vault.send('PATCH', pathOf(id), patch, { key }));
        assert.deepEqual([status, json.code], [403, 'access_denied'], text);
        assert.ok(!text.includes(CARD.number));
      }
    }
  });

  it('200 for a public key that changes data or metadata, repeats what is there, or may see the data', async () => {
    const { app, tenant } = vault;
    const made = await vault.make({ type: 'card', data: CARD, search_indexes: ['{{ data.number }}'] });
    const collect = await app.makeKey(tenant.id, 'public', [], [rule('mask', '/pci/', CHANGES)]);
    const reveal = await app.makeKey(tenant.id, 'public', [], [rule('reveal', '/pci/', CHANGES)]);
    const { mask, search_indexes } = made;
    for (const patch of [{ data: { cvc: '999' }, metadata: { a: 'b' } }, { mask, search_indexes }, { mask: null }]) {
      const { status, text } = await vault.send('PATCH', pathOf(made.id), patch, { key: collect });
      assert.equal(status, 200, text);
    }
    const { status, json } = await vault.send('PATCH', pathOf(made.id), { mask: '{{ data.number }}' }, { key: reveal });
    assert.deepEqual([status, json.mask], [200, '{{ data.number }}']);
  });

  it('400 for a change that would make a token larger than a request could, and the token stays as it was', async () => {
    const { id } = await vault.make({ data: { a: 'x'.repeat(600_000) } });
    const grow = (name: string) => vault.send('PATCH', pathOf(id), { data: { [name]: 'x'.repeat(600_000) } });
    const { status, json } = await writesNothing(vault.app, () => grow('b'));
    assert.deepEqual([status, Object.keys(json.errors)], [400, ['$']]);
    assert.equal((await grow('a')).status, 200, 'as large as before is no larger');
  });

  it('400 for changes that together would give a token more values than a request can have', async () => {
    const list = (name: string, values: number) => ({ data: { [name]: Array(values).fill(1) } });
    const { id } = await vault.make(list('a', 9_000));
    const { status, json } = await writesNothing(vault.app, () => vault.send('PATCH', pathOf(id), list('b', 9_000)));
    assert.deepEqual([status, Object.keys(json.errors)], [400, ['$']]);
    assert.match(json.errors.$[0], /10,000 values/);
    assert.equal((await vault.send('PATCH', pathOf(id), list('a', 9_900))).status, 200);
  });

  it('200 with every mask of a page, however much its neighbours take', async () => {
    const large = 'x'.repeat(11_000);
    const other = await vault.app.makeTenant();
    const key = await vault.app.makeKey(other.id, 'private', ['token:create', 'token:read']);
    for (let n = 0; n < 10; n += 1) {
      const body = Array.from({ length: 10 }, () => ({ type: 'token', data: large, mask: '{{ data }}' }));
      assert.equal((await vault.send('POST', '/tokenize', body, { key })).status, 200);
    }
    const { json } = await vault.send('GET', '/tokens?size=100', undefined, { key });
    assert.equal(json.data.length, 100);
    assert.ok(json.data.every((token: { data: string }) => token.data === large));
  });

  it('409 from tokenize with the place of the id in the body', async () => {
    await vault.make({ id: 'taken-once', data: 1 });
    const body = { a: [1, { type: 'token', id: 'taken-once', data: 2 }] };
    const { status, json } = await writesNothing(vault.app, () => vault.send('POST', '/tokenize', body));
    assert.deepEqual([status, json.code, json.errors], [409, 'token_id_conflict', { 'a[1].id': ['is taken'] }]);
  });

  it('400 for the id that is a path of its own', async () => {
    const { status, json } = await vault.send('POST', '/tokens', { id: 'search', data: 1 });
    assert.deepEqual([status, Object.keys(json.errors)], [400, ['id']]);
  });

  it('an answer kept for a repetition never shows a verification code, so none outlives its hour', async () => {
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'with-a-code' };
    const create = () => vault.send('POST', '/tokens', { type: 'card', data: CARD }, { headers });
    const first = await create();
    assert.deepEqual([first.status, first.json.data.number, first.json.data.cvc], [201, CARD.number, undefined]);
    assert.equal((await vault.send('GET', pathOf(first.json.id))).json.data.cvc, '123');
    vault.clock.advance(2 * HOUR_MS);
    assert.equal((await create()).text, first.text);
  });
});
