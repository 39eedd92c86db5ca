import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CARD, openVault, pathOf, rule, type TestVault, writesNothing } from './vault-fixture.js';

/** The first digits of the card decide how long the path is, and with that where a reader of it would stop. */
const PADDED = "{% assign n = card | json: '$.number' | slice: 0, 3 | to_number %}{{ card | json: path }}";
const OTHER = { ...CARD, number: '4000056655665556' };

describe('expressions that fail on tokens that were opened for them', () => {
  let vault: TestVault;
  let card: string;
  let other: string;
  before(async () => {
    vault = await openVault();
    card = (await vault.make({ type: 'card', data: CARD })).id;
    other = (await vault.make({ type: 'card', data: OTHER })).id;
  });
  after(() => vault.app.close());

  const detokenize = (body: unknown, options = {}) => vault.send('POST', '/detokenize', body, options);
  const refusalsOf = async (id: string) =>
    (await vault.logOf(id)).filter(({ message }) => message === 'Token opened, request refused');

  async function outcomes(id: string): Promise<string[]> {
    const query = `SELECT outcome FROM logs WHERE tenant_id = $1 AND entity_id = $2 AND message LIKE 'Token opened%'`;
    const { rows } = await vault.app.db.owner.query<{ outcome: string }>(query, [vault.tenant.id, id]);
    return rows.map(({ outcome }) => outcome);
  }

  it('400 from /detokenize leaves an entry of each token, outcome failure, that is not activity', async () => {
    const active = (await vault.report()).monthly_active_tokens;
    const { status } = await detokenize([`{{ ${card} | json: '$..*' }}`, `{{ ${other} }}`]);
    assert.equal(status, 400);
    for (const id of [card, other]) {
      const [entry, ...more] = await refusalsOf(id);
      assert.deepEqual([entry?.operation, entry?.entity_type, more.length], ['read', 'card', 0]);
      assert.deepEqual(await outcomes(id), ['failure']);
    }
    assert.equal((await vault.report()).monthly_active_tokens, active);
  });

  it('400 says the same whatever the card holds: no value, no length, no position, no place among several', async () => {
    const texts = [
      // A path that is made longer by a digit of the card.
      "{{ ID | json: '$.number' | slice: 2, 1 | prepend: '$.' | json: 'x' }}",
      "{% assign d = 'x' %}{{ ID | json: '$.number' | slice: 1, 1 | to_number | times: 50 | pad_left: 4, 'a' | to_boolean }}",
      PADDED.replaceAll('card', 'ID'),
      "{{ ID | json: '$.number' | append: '[' | prepend: '$' | reveal: 99999999 }}",
      "{{ ID | json: '$.number' | to_boolean }}",
    ];
    for (const text of texts) {
      const [one, two] = [card, other].map((id) => text.replaceAll('ID', id));
      const answers = [await detokenize(one), await detokenize(two)];
      const [a, b] = answers.map(({ status, json: { trace_id: _, ...json } }) => ({ status, json }));
      assert.equal(a?.status, 400, text);
      assert.deepEqual(a, b, text);
    }
    const failing = (id: string) =>
      ['{{ ID | to_boolean }}', "{{ ID | json: '$.number' | to_boolean }}"].map((text) => text.replace('ID', id));
    assert.deepEqual(Object.keys((await detokenize(failing(card))).json.errors), ['$']);
  });

  it('400 for what is refused before a token was opened writes nothing', async () => {
    for (const body of [`{{ ${card}`, '{{ no-such-token }}', { a: [`{{ ${card} }}`, '{{ no-such-token }}'] }]) {
      const { status } = await writesNothing(vault.app, () => detokenize(body));
      assert.equal(status, 400);
    }
  });

  it('400 from a PATCH whose expression fails on stored data leaves such an entry, and the token stays', async () => {
    const { id } = await vault.make({ type: 'card', data: CARD });
    for (const [patch, field] of [
      [{ fingerprint_expression: "{{ data.number | json: '$[' }}" }, 'fingerprint_expression'],
      [{ fingerprint_expression: '{{ data.none }}' }, 'fingerprint_expression'],
      [{ search_indexes: ['{{ data.number }}', '{{ data.none }}'] }, 'search_indexes'],
    ] as const) {
      const before = (await refusalsOf(id)).length;
      const { status, json } = await vault.send('PATCH', pathOf(id), patch);
      assert.deepEqual([status, Object.keys(json.errors)], [400, [field]]);
      assert.equal((await refusalsOf(id)).length, before + 1);
    }
    assert.equal((await vault.logOf(id)).filter(({ operation }) => operation === 'update').length, 0);
  });

  it('400 for another reason after the caller brought an expression leaves the same entry, so nothing is asked in silence', async () => {
    const { id } = await vault.make({ type: 'card', data: { number: CARD.number }, metadata: {} });
    const updater = await vault.keyWith([], ['token:update']);
    const guess = { data: { number: OTHER.number }, mask: 'x', type: 'token' };
    assert.equal((await vault.send('PATCH', pathOf(id), guess, { key: updater })).status, 400);
    const large = {
      metadata: { a: 'b' },
      data: { more: 'x'.repeat(900_000) },
      fingerprint_expression: 'a{{ data.number }}',
    };
    const grown = await vault.make({ type: 'card', data: { number: CARD.number, much: 'y'.repeat(900_000) } });
    assert.equal((await vault.send('PATCH', pathOf(grown.id), large)).status, 400);
    for (const each of [id, grown.id]) assert.equal((await refusalsOf(each)).length, 1);
  });

  it('503 and nothing told when that entry cannot be written', async () => {
    const { owner } = vault.app.db;
    await owner.query('REVOKE INSERT ON logs FROM strongroom_app');
    try {
      const { status, json, text } = await detokenize(`{{ ${card} | json: '$..*' }}`);
      assert.deepEqual([status, json.code], [503, 'storage_unavailable']);
      assert.ok(!text.includes('JSONPath'));
      const patched = await vault.send('PATCH', pathOf(card), { fingerprint_expression: '{{ data.none }}' });
      assert.equal(patched.status, 503);
    } finally {
      await owner.query('GRANT INSERT ON logs TO strongroom_app');
    }
    assert.equal((await detokenize(`{{ ${card} }}`)).status, 200);
  });

  it('403 for a caller that only updates, before its expression sees anything, and nothing is written', async () => {
    const updater = await vault.keyWith([], ['token:update']);
    const masking = await vault.keyWith([rule('mask', '/')]);
    for (const key of [updater, masking]) {
      const patch = { fingerprint_expression: "{{ data.number | json: '$[' }}" };
      const { status, json } = await writesNothing(vault.app, () => vault.send('PATCH', pathOf(card), patch, { key }));
      assert.deepEqual([status, json.code], [403, 'access_denied']);
    }
  });
});
