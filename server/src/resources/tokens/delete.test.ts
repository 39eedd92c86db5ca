import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CARD, openVault, pathOf, rule, type TestVault, writesNothing } from './vault-fixture.js';

describe('DELETE /tokens/{id}', () => {
  let vault: TestVault;
  before(async () => {
    vault = await openVault();
  });
  after(() => vault.app.close());

  it('204 without a body; then 404 everywhere, and no row, term or claim is left', async () => {
    const { id } = await vault.make({
      type: 'card',
      data: CARD,
      metadata: { a: 'b' },
      search_indexes: ['{{ data.number }}'],
      deduplicate_token: true,
    });
    const { status, text } = await vault.send('DELETE', pathOf(id));
    assert.deepEqual([status, text], [204, '']);
    for (const method of ['GET', 'DELETE', 'PATCH']) {
      assert.equal((await vault.send(method, pathOf(id), method === 'PATCH' ? {} : undefined)).status, 404, method);
    }
    assert.equal((await vault.send('POST', '/detokenize', `{{ ${id} }}`)).json.code, 'unknown_token');
    assert.equal((await vault.send('POST', '/tokens/search', { query: `data:${CARD.number}` })).json.data.length, 0);
    for (const table of ['tokens', 'token_terms', 'token_claims']) {
      const { rows } = await vault.app.db.owner.query(`SELECT 1 FROM ${table}`);
      assert.equal(rows.length, 0, table);
    }
    assert.equal((await vault.report()).metrics_by_type.card.count, 0);
    const entry = (await vault.logOf(id)).find(({ operation }) => operation === 'delete');
    assert.deepEqual([entry?.message, entry?.entity_type], ['Token deleted', 'card']);
    await vault.assertCountersTrue();
  });

  it('204 when one of several containers is granted; 403 when none is, and nothing is written', async () => {
    const { id } = await vault.make({ data: 1, containers: ['/a/', '/b/'] });
    const none = await vault.keyWith([rule('reveal', '/c/')]);
    const reader = await vault.keyWith([rule('reveal', '/', ['token:read'])]);
    for (const [key, code] of [
      [none, 'access_denied'],
      [reader, 'permission_denied'],
    ] as const) {
      const { status, json } = await writesNothing(vault.app, () =>
        vault.send('DELETE', pathOf(id), undefined, { key }),
      );
      assert.deepEqual([status, json.code], [403, code]);
    }
    const one = await vault.keyWith([rule('redact', '/b/')]);
    assert.equal((await vault.send('DELETE', pathOf(id), undefined, { key: one })).status, 204);
  });
});
