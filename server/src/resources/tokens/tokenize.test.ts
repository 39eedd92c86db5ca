import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isLowerCaseUuid } from '../../kernel/ids.js';
import {
  CARD,
  MASKED_CARD,
  openVault,
  pathOf,
  rule,
  type TestVault,
  tally,
  times,
  writesNothing,
} from './vault-fixture.js';

describe('POST /tokenize', () => {
  let vault: TestVault;
  before(async () => {
    vault = await openVault();
  });
  after(() => vault.app.close());

  const tokenize = (body: unknown, options = {}) => vault.send('POST', '/tokenize', body, options);
  const refused = (body: unknown, options = {}) => writesNothing(vault.app, () => tokenize(body, options));
  const dataOf = async (id: string) => (await vault.send('GET', pathOf(id))).json.data;

  it('200 in the same shape: tokens for requests, ids for values, null stays, the rest is walked through', async () => {
    const body = {
      card: { type: 'card', data: CARD, metadata: { a: 'b' }, id: 'chosen' },
      list: ['text', 7, false, null, [], {}, [{ deep: '' }]],
      notATypeRequest: { type: 5, data: 'x' },
      noData: { type: 'card' },
    };
    const { status, json } = await tokenize(body);
    assert.equal(status, 200);
    assert.deepEqual(json.card, (await vault.send('GET', pathOf('chosen'))).json);
    assert.deepEqual(json.list.slice(3, 6), [null, [], {}]);
    for (const [id, value] of [
      [json.list[0], 'text'],
      [json.list[1], 7],
      [json.list[2], false],
      [json.list[6][0].deep, ''],
      [json.notATypeRequest.type, 5],
      [json.notATypeRequest.data, 'x'],
      [json.noData.type, 'card'],
    ]) {
      assert.ok(isLowerCaseUuid(id), String(value));
      assert.deepEqual(await dataOf(id), value);
    }
    assert.deepEqual(Object.keys(json), Object.keys(body));
    await vault.assertCountersTrue();
  });

  it('200 for a bare value and for one token request as the whole body; 200 for a body with nothing to do', async () => {
    assert.equal(await dataOf((await tokenize('alone')).json), 'alone');
    assert.equal((await tokenize({ type: 'token', data: { a: 1 } })).json.data.a, 1);
    for (const nothing of ['{}', '[]', 'null', '[null,{"a":[]}]']) {
      const { status, text } = await writesNothing(vault.app, () => tokenize(undefined, { raw: nothing }));
      assert.deepEqual([status, text], [200, nothing]);
    }
  });

  it('200 with members named like a prototype’s, each in its place', async () => {
    const raw = '{"__proto__":"p","constructor":{"prototype":"q"},"toString":1}';
    const { status, text } = await tokenize(undefined, { raw });
    assert.equal(status, 200);
    assert.match(
      text,
      /^\{"__proto__":"[0-9a-f-]{36}","constructor":\{"prototype":"[0-9a-f-]{36}"\},"toString":"[0-9a-f-]{36}"\}$/,
    );
  });

  it('400 with the paths of the body for everything that is wrong, and nothing is written', async () => {
    const body = {
      fine: 'value',
      people: [{ card: { type: 'card', data: { number: '1' } } }, { type: 'nope', data: 1 }],
      big: [1, 2 ** 60],
      expression: { type: 'token', data: 1, search_indexes: ['{{ data.none }}'] },
    };
    const { status, json } = await refused(body);
    assert.equal(status, 400);
    assert.deepEqual(Object.keys(json.errors).sort(), ['big[1]', 'people[0].card.data.number', 'people[1].type']);
    const later = await refused({ fine: 'value', expression: body.expression });
    assert.deepEqual(Object.keys(later.json.errors), ['expression.search_indexes[0]']);
    const broken = await refused([{ type: 'token', data: 1, fingerprint_expression: '{{ data | nope }}' }]);
    assert.deepEqual(
      [broken.json.code, Object.keys(broken.json.errors)],
      ['invalid_expression', ['[0].fingerprint_expression']],
    );
  });

  it('403 for one container that is not granted, 409 for one id that is taken or asked for twice: none is made', async () => {
    const key = await vault.keyWith([rule('mask', '/general/')]);
    const denied = await refused(['fine', { type: 'card', data: CARD }], { key });
    assert.deepEqual([denied.status, denied.json.code], [403, 'access_denied']);
    await vault.make({ id: 'in-the-way', data: 1 });
    const taken = await refused(['fine', { type: 'token', id: 'in-the-way', data: 2 }]);
    assert.deepEqual([taken.status, taken.json.code], [409, 'token_id_conflict']);
    const twice = await refused([
      { type: 'token', id: 'twice', data: 1 },
      { type: 'token', id: 'twice', data: 2 },
    ]);
    assert.deepEqual([twice.status, twice.json.code], [409, 'token_id_conflict']);
  });

  it('400 too_many_tokens over the limit of 100, and nothing is written; 100 are fine and logged one by one', async () => {
    const { status, json } = await refused(Array.from({ length: 101 }, (_, n) => n));
    assert.deepEqual([status, json.code], [400, 'too_many_tokens']);
    assert.match(json.detail, /100/);
    const made = (await tokenize(Array.from({ length: 100 }, (_, n) => n))).json;
    assert.equal(new Set(made).size, 100);
    const created = (await vault.logOf()).filter(({ entity_id }) => made.includes(entity_id));
    assert.deepEqual(tally(created.map(({ message }) => message)), { 'Token created': 100 });
    await vault.assertCountersTrue();
  });

  it('the transform of token:create shapes each token; ids of bare values are no data', async () => {
    const key = await vault.keyWith([], ['token:create']);
    const { json } = await tokenize([{ type: 'card', data: CARD }, 'plain'], { key });
    assert.deepEqual(json[0].data, MASKED_CARD);
    assert.equal(await dataOf(json[1]), 'plain');
  });

  it('many at once that fight for one id: one wins whole, the others leave nothing', async () => {
    const before = (await vault.report()).metrics_by_type.token.count;
    const answers = await times(15, (n) =>
      tokenize([`value ${n}`, { type: 'token', id: 'fought-for', data: n }, `more ${n}`]),
    );
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 1, 409: 14 });
    assert.equal((await vault.report()).metrics_by_type.token.count, before + 3);
    await vault.assertCountersTrue();
  });
});

describe('POST /tokenize under a limit of the operator', () => {
  it('400 over it, 200 at it, for tokenize and detokenize', async () => {
    const vault = await openVault({ STRONGROOM_TOKENS_PER_REQUEST_MAX: '2' });
    try {
      const { status, json } = await vault.send('POST', '/tokenize', ['a', 'b']);
      assert.equal(status, 200);
      assert.equal((await vault.send('POST', '/tokenize', ['a', 'b', 'c'])).json.code, 'too_many_tokens');
      const third = (await vault.make({ data: 'c' })).id;
      const expressions = [...json, third].map((id: string) => `{{ ${id} }}`);
      assert.equal((await vault.send('POST', '/detokenize', expressions)).json.code, 'too_many_tokens');
      const again = [...expressions.slice(0, 2), ...expressions.slice(0, 2)];
      assert.deepEqual((await vault.send('POST', '/detokenize', again)).json, ['a', 'b', 'a', 'b']);
    } finally {
      await vault.app.close();
    }
  });
});
