import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Transform } from '../../access/rules.js';
import { CARD, cardNumber, openVault, pathOf, rule, type TestVault, writesNothing } from './vault-fixture.js';

const UPDATE = ['token:update'];
const ALL_DATA = { number: '4000056655665556', expiration_month: 1, expiration_year: 2040, cvc: null };

describe('nobody is shown more by changing a token', () => {
  let vault: TestVault;
  before(async () => {
    vault = await openVault();
  });
  after(() => vault.app.close());

  const patch = (id: string, body: unknown, key: string) => vault.send('PATCH', pathOf(id), body, { key });
  const denied = async (id: string, body: unknown, key: string) => {
    const { status, json, text } = await writesNothing(vault.app, () => patch(id, body, key));
    assert.deepEqual([status, json.code], [403, 'access_denied'], JSON.stringify(body));
    assert.ok(!text.includes(CARD.number));
    return json.detail;
  };

  it('403 for a new mask, fingerprint expression or index on stored data, by any kind of key, in the same words', async () => {
    const { id } = await vault.make({ type: 'card', data: CARD, mask: { hidden: 'yes' } });
    const { app, tenant } = vault;
    const keys = [
      await vault.keyWith([], ['token:update', 'token:read', 'token:search', 'token:use']),
      await vault.keyWith([rule('mask', '/')]),
      await vault.keyWith([rule('redact', '/')]),
      await app.makeKey(tenant.id, 'public', ['token:update'], []),
    ];
    const details = new Set<string>();
    for (const key of keys) {
      for (const body of [
        { mask: '{{ data.number }}' },
        { mask: null },
        { mask: { hidden: null } },
        { fingerprint_expression: '{{ data.number }}' },
        { search_indexes: ['{{ data.number }}'] },
        { search_indexes: ['{{ data.number }}'], data: { number: ALL_DATA.number } },
        { mask: '{{ data }}', data: { number: ALL_DATA.number, expiration_month: 1, expiration_year: 2040 } },
        { mask: '{{ data }}', data: {} },
      ]) {
        details.add(await denied(id, body, key));
      }
    }
    assert.equal(details.size, 1, 'which member was missing is not told');
  });

  it('200 for the same where every stored member is given anew or taken away, at every level', async () => {
    const updater = await vault.keyWith([], UPDATE);
    const card = (await vault.make({ type: 'card', data: CARD })).id;
    const { status, json } = await patch(card, { data: ALL_DATA, mask: '{{ data.number }}' }, updater);
    assert.deepEqual([status, json.data], [200, ALL_DATA.number], 'the caller brought the number along');
    const deep = (await vault.make({ data: { a: { b: 1, c: 2 }, d: [1] } })).id;
    await denied(deep, { data: { a: { b: 9 }, d: [] }, mask: '{{ data }}' }, updater);
    await denied(deep, { data: { a: {}, d: [] }, mask: '{{ data }}' }, updater);
    assert.equal(
      (await patch(deep, { data: { a: { b: 9, c: null }, d: [] }, mask: '{{ data }}' }, updater)).status,
      200,
    );
    const text = (await vault.make({ data: 'text' })).id;
    assert.equal((await patch(text, { data: { other: 1 }, mask: '{{ data }}' }, updater)).status, 200);
  });

  it('200 for what changes no expression: data, metadata, and repeating what is there', async () => {
    const updater = await vault.keyWith([], UPDATE);
    const made = await vault.make({
      type: 'card',
      data: CARD,
      mask: { n: '{{ data.number | last4 }}' },
      search_indexes: ['{{ data.number }}'],
      fingerprint_expression: '{{ data.number }}',
    });
    const { mask, search_indexes, fingerprint_expression, containers } = made;
    for (const body of [
      { data: { cvc: '999' }, metadata: { a: 'b' } },
      { mask, search_indexes, fingerprint_expression, containers },
      { mask: {} },
      { deduplicate_token: true },
    ]) {
      assert.equal((await patch(made.id, body, updater)).status, 200, JSON.stringify(body));
    }
  });

  it('200 for a caller who reads, searches or updates the token in the clear; using it in the clear is not enough', async () => {
    for (const permission of ['token:read', 'token:search', 'token:update']) {
      const { id } = await vault.make({ type: 'card', data: CARD });
      const key = await vault.keyWith([rule('reveal', '/pci/', [permission])], UPDATE);
      assert.equal((await patch(id, { mask: '{{ data.number }}' }, key)).status, 200, permission);
    }
    const { id } = await vault.make({ type: 'card', data: CARD });
    await denied(id, { mask: '{{ data.number }}' }, await vault.keyWith([rule('reveal', '/', ['token:use'])], UPDATE));
  });

  it('403 for a move to where any of read, search, update or use shows more, null included', async () => {
    const { id } = await vault.make({ type: 'card', data: CARD, containers: ['/a/'] });
    const levels: (Transform | undefined)[] = [undefined, 'redact', 'mask', 'reveal'];
    for (const permission of ['token:read', 'token:search', 'token:use']) {
      for (const [n, before] of levels.entries()) {
        for (const [m, afterwards] of levels.entries()) {
          if (before === 'reveal' && permission !== 'token:use') continue;
          const rules = [
            ...(before ? [rule(before, '/a/', [permission], 1)] : []),
            ...(afterwards ? [rule(afterwards, '/b/', [permission], 2)] : []),
          ];
          const key = await vault.keyWith(rules, UPDATE);
          const move = { containers: ['/b/'] };
          if (m > n) await denied(id, move, key);
          else {
            assert.equal((await patch(id, move, key)).status, 200, `${permission} ${before} to ${afterwards}`);
            assert.equal((await vault.send('PATCH', pathOf(id), { containers: ['/a/'] })).status, 200);
          }
        }
      }
    }
    const byUpdate = await vault.keyWith([rule('reveal', '/pci/', UPDATE), rule('mask', '/a/', UPDATE, 2)]);
    await denied(id, { containers: null }, byUpdate);
    await denied(id, { containers: ['/pci/'], metadata: { a: 'b' } }, byUpdate);
    const adding = await vault.keyWith([rule('reveal', '/b/', ['token:read'])], UPDATE);
    await denied(id, { containers: ['/a/', '/b/'] }, adding);
  });

  it('403 for any move by a public key or a session: what they move, anybody moves', async () => {
    const { app, tenant } = vault;
    const { id } = await vault.make({ type: 'card', data: CARD, containers: ['/a/'] });
    const key = await app.makeKey(tenant.id, 'public', UPDATE, []);
    const { json } = await app.call('POST', '/sessions', { key });
    const grant = { nonce: json.nonce, permissions: UPDATE };
    assert.equal((await vault.send('POST', '/sessions/authorize', grant)).status, 200);
    for (const stranger of [key, json.session_key]) {
      await denied(id, { containers: ['/team/'] }, stranger);
      await denied(id, { containers: null }, stranger);
      assert.equal((await patch(id, { containers: ['/a/'], metadata: { a: 'b' } }, stranger)).status, 200);
    }
  });

  it('200 for such a move by a caller who sees the token in the clear already', async () => {
    const { id } = await vault.make({ type: 'card', data: CARD, containers: ['/a/'] });
    const rules = [rule('reveal', '/a/', ['token:search']), rule('reveal', '/b/', ['token:read', 'token:use'], 2)];
    const { status } = await patch(id, { containers: ['/b/'] }, await vault.keyWith(rules, UPDATE));
    assert.equal(status, 200);
  });
});

describe('fingerprints and searches by what is held', () => {
  let vault: TestVault;
  let made: { id: string; fingerprint: string };
  before(async () => {
    vault = await openVault();
    await vault.setTenant({ fingerprint_tokens: 'true' });
    made = await vault.make({ type: 'card', data: CARD, search_indexes: ['{{ data.number }}'] });
  });
  after(() => vault.app.close());

  const search = async (query: string, key: string) =>
    (await vault.send('POST', '/tokens/search', { query }, { key })).json.pagination.total_items;

  it('a masked reader recovers no number by comparing fingerprints with those of tokens it makes', async () => {
    const key = await vault.keyWith([], ['token:create', 'token:read', 'token:search', 'token:update']);
    const answers = [
      await vault.send('GET', pathOf(made.id), undefined, { key }),
      await vault.send('GET', '/tokens', undefined, { key }),
      await vault.send('GET', '/v2/tokens', undefined, { key }),
      await vault.send('POST', '/tokens/search', { query: '' }, { key }),
      await vault.send('POST', '/tokens', { type: 'card', data: CARD }, { key }),
      await vault.send('POST', '/tokenize', [{ type: 'card', data: CARD }], { key }),
      await vault.send('PATCH', pathOf(made.id), { metadata: { a: 'b' } }, { key }),
      await vault.send('POST', '/detokenize', `{{ token: ${made.id} }}`, { key }),
    ];
    for (const { status, text } of answers) {
      assert.ok(status === 200 || status === 201, text);
      assert.ok(!text.includes('"fingerprint"'), text);
    }
    for (const path of [`/v2/tokens?fingerprint=${made.fingerprint}`]) {
      assert.deepEqual((await vault.send('GET', path, undefined, { key })).json.data, []);
    }
    assert.equal(await search(`fingerprint:${made.fingerprint}`, key), 0);
    const all = await search('', key);
    assert.equal(await search(`NOT fingerprint:${made.fingerprint}`, key), all, 'its negation tells nothing either');
  });

  it('is shown and found by where the grant that shapes the answer reveals, and only there', async () => {
    const elsewhere = await vault.make({ type: 'card', data: CARD, containers: ['/other/'] });
    const key = await vault.keyWith([rule('reveal', '/pci/'), rule('mask', '/', undefined, 2)]);
    assert.equal((await vault.send('GET', pathOf(made.id), undefined, { key })).json.fingerprint, made.fingerprint);
    assert.equal('fingerprint' in (await vault.send('GET', pathOf(elsewhere.id), undefined, { key })).json, false);
    const { data } = (
      await vault.send('GET', `/v2/tokens?fingerprint=${made.fingerprint}&container=/`, undefined, { key })
    ).json;
    assert.ok(
      data.length > 0 && data.every(({ containers }: { containers: string[] }) => containers[0] === '/pci/high/'),
    );
    const shown = await vault.send('POST', '/detokenize', `{{ token: ${made.id} | json: '$.fingerprint' }}`, { key });
    assert.equal(shown.json, made.fingerprint);
  });

  it('data: finds what is shown masked, and nothing that is redacted, nor does its negation tell', async () => {
    const masking = await vault.keyWith([rule('mask', '/')]);
    const redacting = await vault.keyWith([rule('redact', '/')]);
    assert.ok((await search(`data:${CARD.number}`, masking)) > 0);
    assert.equal(await search(`data:${CARD.number}`, redacting), 0);
    assert.equal(await search(`NOT data:${CARD.number}`, redacting), await search('', redacting));
  });
});

describe('STRONGROOM_FINGERPRINTS=masked and STRONGROOM_SEARCH_DATA=revealed', () => {
  let vault: TestVault;
  before(async () => {
    vault = await openVault({ STRONGROOM_FINGERPRINTS: 'masked', STRONGROOM_SEARCH_DATA: 'revealed' });
    await vault.setTenant({ fingerprint_tokens: 'true' });
  });
  after(() => vault.app.close());

  it('fingerprints are shown and found by under mask and not under redact; data: finds only what is revealed', async () => {
    const number = cardNumber(77);
    const made = await vault.make({ type: 'card', data: { number }, search_indexes: ['{{ data.number }}'] });
    const search = async (query: string, key?: string) =>
      (await vault.send('POST', '/tokens/search', { query }, key ? { key } : {})).json.data.length;
    const masking = await vault.keyWith([rule('mask', '/')]);
    const redacting = await vault.keyWith([rule('redact', '/')]);
    const read = async (key: string) => (await vault.send('GET', pathOf(made.id), undefined, { key })).json;
    assert.equal((await read(masking)).fingerprint, made.fingerprint);
    assert.equal((await read(redacting)).fingerprint, undefined);
    assert.equal(await search(`fingerprint:${made.fingerprint}`, masking), 1);
    assert.equal(await search(`fingerprint:${made.fingerprint}`, redacting), 0);
    assert.deepEqual([await search(`data:${number}`), await search(`data:${number}`, masking)], [1, 0]);
    assert.equal((await read(masking)).data.number, `XXXXXXXXXXXX${number.slice(-4)}`);
  });
});
