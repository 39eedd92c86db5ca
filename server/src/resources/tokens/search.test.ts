import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CARD, openVault, pathOf, rule, type TestVault, vaultOf } from './vault-fixture.js';

describe('POST /tokens/search and POST /v2/tokens/search', () => {
  let vault: TestVault;
  before(async () => {
    vault = await openVault();
    await vault.make({ id: 'ssn', type: 'social_security_number', data: '123-45-6789', metadata: { team: 'Blue' } });
    vault.clock.advance(86_400_000);
    await vault.make({
      id: 'card',
      type: 'card',
      data: CARD,
      search_indexes: ['{{ data.number }}', 'x{{ data.cvc }}'],
    });
    await vault.make({ id: 'odd "id"', data: 'MiXed', containers: ['/a/b/'], search_indexes: ['{{ data }}'] });
  });
  after(() => vault.app.close());

  const search = (body: unknown, key = vault.key, path = '/tokens/search') => vault.send('POST', path, body, { key });
  const find = async (query: string, path?: string) =>
    (await search({ query }, vault.key, path)).json.data.map(({ id }: { id: string }) => id).sort();

  it('200 with what matches: default indexes, own indexes, metadata, dates, containers, operators', async () => {
    const cases: [string, string[]][] = [
      ['', ['card', 'odd "id"', 'ssn']],
      ['data:123-45-6789', ['ssn']],
      ['data:123456789', ['ssn']],
      ['data:6789', ['ssn']],
      ['data:"123-45"', []],
      [`data:${CARD.number}`, ['card']],
      ['data:x123', ['card']],
      ['data:MiXed', ['odd "id"']],
      ['data:mixed', []],
      ['metadata.team:bLUE', ['ssn']],
      ['id:"odd \\"id\\""', ['odd "id"']],
      ['created_at:2030-05-14', ['ssn']],
      ['created_at:[2030-05-15 TO *]', ['card', 'odd "id"']],
      ['NOT type:card AND (type:token OR data:6789)', ['odd "id"', 'ssn']],
      ['container:/a/*', ['odd "id"']],
      ['container:/a/', []],
      [`created_by:${vault.tenant.id}`, []],
    ];
    for (const [query, ids] of cases) assert.deepEqual(await find(query), ids, query);
    assert.deepEqual(await find('container:/a/', '/v2/tokens/search'), ['odd "id"']);
  });

  it('200 without a body as with an empty query; 400 with the position for one that does not parse', async () => {
    assert.equal((await vault.send('POST', '/tokens/search')).json.pagination.total_items, 3);
    assert.equal((await search({ query: null })).json.pagination.total_items, 3);
    for (const query of ['type:', 'a:b', 'type:card type:bank', '((', 'id:"x']) {
      const { status, json } = await search({ query });
      assert.deepEqual([status, json.code], [400, 'invalid_query'], query);
      assert.match(json.detail, /\d/);
    }
    for (const body of [{ query: 7 }, { query: 'x'.repeat(1_001) }, { size: 101 }, { page: 0 }, []]) {
      assert.equal((await search(body)).status, 400, JSON.stringify(body));
    }
  });

  it('token:search and not token:read decides what is found and how it is shown', async () => {
    const searching = await vault.keyWith([
      rule('redact', '/pci/', ['token:search']),
      rule('reveal', '/', ['token:read'], 2),
    ]);
    const { json } = await search({}, searching);
    assert.deepEqual(
      json.data.map(({ id, data }: { id: string; data: unknown }) => [id, data]),
      [['card', undefined]],
    );
    const reading = await vault.keyWith([rule('reveal', '/', ['token:read'])]);
    assert.equal((await search({}, reading)).status, 403);
  });

  it('another tenant finds nothing by the same values, ids or fingerprints', async () => {
    const other = await vaultOf(vault.app, vault.clock);
    for (const query of ['', 'data:6789', 'id:ssn', 'metadata.team:blue', `data:${CARD.number}`]) {
      assert.deepEqual((await other.send('POST', '/tokens/search', { query })).json.data, [], query);
    }
  });

  it('what a patch or a delete changed is found at once by the new and no longer by the old', async () => {
    await vault.make({ id: 'moving', data: 'before', search_indexes: ['{{ data }}'], metadata: { step: 'one' } });
    await vault.send('PATCH', pathOf('moving'), { data: 'behind', metadata: { step: 'two' } });
    assert.deepEqual([await find('data:before'), await find('metadata.step:one')], [[], []]);
    assert.deepEqual([await find('data:behind'), await find('metadata.step:two')], [['moving'], ['moving']]);
    assert.deepEqual(await find('modified_at:[* TO *]'), ['moving']);
    await vault.send('DELETE', pathOf('moving'));
    assert.deepEqual(await find('data:behind'), []);
  });
});
