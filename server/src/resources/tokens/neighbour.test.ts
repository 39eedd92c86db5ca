import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openVault, pathOf, type TestVault, tally, times, vaultOf, writesNothing } from './vault-fixture.js';

const NUL = '\u0000';
const LONE_HIGH = '\ud83d';
const LONE_LOW = '\ude00';

/** Ids that no token can have and that no statement can carry, as they come out of JSON. */
const UNSTORABLE = [
  `a${NUL}b`,
  `${NUL}${NUL}${NUL}`,
  `abc${NUL}`,
  `token: ab${NUL}c`,
  `x${LONE_HIGH}yz`,
  `xyz${LONE_LOW}`,
  `${LONE_LOW}${LONE_HIGH}z`,
];

/** What one tenant sends must never show in what another gets, though they share statements and transactions. */
describe('a tenant beside one that sends what cannot be stored', () => {
  let hostile: TestVault;
  let healthy: TestVault;
  let ids: string[];
  before(async () => {
    hostile = await openVault();
    healthy = await vaultOf(hostile.app, hostile.clock);
    ids = await times(8, async (n) => (await healthy.make({ id: `healthy-${n}`, data: { n } })).id);
    await hostile.make({ id: 'own', data: 'value' });
  });
  after(() => hostile.app.close());

  for (const id of UNSTORABLE) {
    it(`400 invalid_expression for {{ ${JSON.stringify(id)} }}, by the place it stands in, and nothing is written`, async () => {
      const body = { good: '{{ own }}', list: [1, `{{ ${id} }}`] };
      const { status, json } = await writesNothing(hostile.app, () => hostile.send('POST', '/detokenize', body));
      assert.deepEqual([status, json.code], [400, 'invalid_expression']);
      assert.deepEqual(Object.keys(json.errors), ['list[1]']);
      assert.doesNotMatch(json.detail, /\ufffd/);
    });
  }

  it('400 also with filters, in tags and beside trimming, where the text is one template', async () => {
    const texts = [
      `{{ a${NUL}b | json: '$.x' }}`,
      `{{- a${NUL}b -}}`,
      `{% if true %}{{ a${NUL}b }}{% endif %}`,
      `text {{ own }} and {{ ab${LONE_HIGH} }}`,
    ];
    for (const text of texts) {
      const { status, json } = await hostile.send('POST', '/detokenize', text);
      assert.deepEqual([status, json.code], [400, 'invalid_expression'], JSON.stringify(text));
    }
  });

  it('404 for such an id in a path, 400 in a filter, a search and a new token, and nothing is written', async () => {
    await writesNothing(hostile.app, async () => {
      for (const method of ['GET', 'DELETE']) {
        assert.equal((await hostile.send(method, `/tokens/a%00b`)).status, 404);
      }
      assert.equal((await hostile.send('PATCH', '/tokens/a%00b', { metadata: {} })).status, 404);
      for (const path of ['/tokens?id=a%00b', '/v2/tokens?id=a%00b', '/v2/tokens?fingerprint=a%00b']) {
        assert.equal((await hostile.send('GET', path)).status, 400, path);
      }
      for (const id of UNSTORABLE) {
        assert.equal((await hostile.send('POST', '/tokens/search', { query: `id:"${id}"` })).status, 400);
        assert.equal((await hostile.send('POST', '/tokens', { id, data: 1 })).status, 400);
        assert.equal((await hostile.send('POST', '/tokenize', { type: 'token', id, data: 1 })).status, 400);
      }
      const asked = await hostile.app.call('GET', '/logs?entity_id=a%00b', { key: hostile.tenant.key });
      assert.equal(asked.status, 400);
    });
  });

  it('200 for every read of the healthy tenant while the other sends all of these', async () => {
    const bodies = UNSTORABLE.map((id) => [`{{ ${id} }}`, '{{ own }}']);
    const answers = await times(240, async (n) => {
      if (n % 3 === 0) await hostile.send('POST', '/detokenize', bodies[n % bodies.length]);
      const id = ids[n % ids.length] ?? '';
      return (await healthy.send('GET', pathOf(id))).status;
    });
    assert.deepEqual(tally(answers), { 200: 240 });
  });
});
