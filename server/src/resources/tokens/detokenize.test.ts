import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CARD, MASKED_CARD, openVault, rule, type TestVault, tally, writesNothing } from './vault-fixture.js';

describe('POST /detokenize', () => {
  let vault: TestVault;
  let card: string;
  before(async () => {
    vault = await openVault();
    card = (await vault.make({ type: 'card', data: CARD, metadata: { a: 'b' } })).id;
    await vault.make({ id: 'word', data: 'value' });
    await vault.make({ id: 'number', data: 7 });
    await vault.make({ id: 'nothing', data: { inside: null } });
  });
  after(() => vault.app.close());

  const detokenize = (body: unknown, options = {}) => vault.send('POST', '/detokenize', body, options);
  const refused = (body: unknown, options = {}) => writesNothing(vault.app, () => detokenize(body, options));

  it('200 in the same shape: one expression keeps its JSON type, text around it makes text, the rest stays', async () => {
    const body = {
      whole: `{{ ${card} }}`,
      field: `{{ ${card} | json: '$.number' }}`,
      month: `{{ ${card} | json: '$.expiration_month' }}`,
      text: 'number {{ number }} of {{ word }}',
      number: '{{ number }}',
      token: `{{ token: ${card} | json: '$.metadata.a' }}`,
      kept: [null, 1, false, '', 'no braces', {}],
      '{{ word }}': 'names are not evaluated',
    };
    const { status, json } = await detokenize(body);
    assert.equal(status, 200);
    assert.deepEqual(json, {
      whole: CARD,
      field: CARD.number,
      month: 12,
      text: 'number 7 of value',
      number: 7,
      token: 'b',
      kept: [null, 1, false, '', 'no braces', {}],
      '{{ word }}': 'names are not evaluated',
    });
    assert.equal((await detokenize('{{ word }}')).json, 'value');
  });

  it('200 for members named like a prototype’s, each in its place', async () => {
    const raw = '{"__proto__":"{{ word }}","constructor":{"prototype":"{{ number }}"}}';
    const { text } = await detokenize(undefined, { raw });
    assert.equal(text, '{"__proto__":"value","constructor":{"prototype":7}}');
  });

  it('each token is logged once a request, however often it is named, and before the answer is out', async () => {
    const before = tally((await vault.logOf('word')).map(({ message }) => message));
    await detokenize(['{{ word }}', '{{ word }}{{ word }}', '{{ token: word }}']);
    const now = tally((await vault.logOf('word')).map(({ message }) => message));
    assert.equal((now['Token detokenized'] ?? 0) - (before['Token detokenized'] ?? 0), 1);
  });

  it('400 unknown_token with every id that is not there, and nothing is written', async () => {
    const { status, json } = await refused(['{{ word }}', '{{ missing-one }}', { a: '{{ token: missing-two }}' }]);
    assert.deepEqual([status, json.code], [400, 'unknown_token']);
    assert.match(json.detail, /missing-one/);
    assert.match(json.detail, /missing-two/);
    assert.doesNotMatch(json.detail, /word/);
  });

  it('values per the transform of token:read: masked data in expressions, 403 where there is none', async () => {
    const masking = await vault.keyWith([], ['token:read']);
    const { json } = await detokenize([`{{ ${card} }}`, `{{ ${card} | json: '$.number' }}`], { key: masking });
    assert.deepEqual(json, [MASKED_CARD, MASKED_CARD.number]);
    const code = await detokenize(`{{ ${card} | json: '$.cvc' }}`, { key: masking });
    assert.ok(!code.text.includes(CARD.cvc));
    const whole = await detokenize(`{{ token: ${card} | json: '$.data' }}`, { key: masking });
    assert.deepEqual(whole.json, MASKED_CARD);
    for (const key of [
      await vault.keyWith([rule('redact', '/', ['token:read'])]),
      await vault.keyWith([rule('reveal', '/other/', ['token:read'])]),
    ]) {
      const denied = await refused(['fine', `{{ ${card} }}`], { key });
      assert.deepEqual([denied.status, denied.json.code], [403, 'access_denied']);
    }
    const noMask = await refused('{{ word }}', { key: masking });
    assert.deepEqual([noMask.status, noMask.json.code], [403, 'access_denied'], 'a mask there is none of is redaction');
  });

  it('400 invalid_expression names the place and never the value', async () => {
    for (const text of [
      `{{ ${card} | nofilter }}`,
      `{{ ${card} | json: '$..*' }}`,
      `{{ ${card}`,
      `{% if x %}{{ ${card} }}`,
    ]) {
      const { status, json, text: body } = await detokenize({ deep: [text] });
      assert.deepEqual([status, json.code, Object.keys(json.errors)], [400, 'invalid_expression', ['deep[0]']], text);
      assert.ok(!body.includes(CARD.number));
    }
  });

  it('200 for a body without expressions, or none at all worth looking for: nothing is looked up or logged', async () => {
    for (const body of [{}, [], 'text', 5, { a: '{ not one }' }]) {
      const { status, json } = await refused(body);
      assert.deepEqual([status, json], [200, body]);
    }
    assert.equal((await refused(undefined)).status, 400, 'a body is needed');
  });

  it('400 too_many_tokens over 100 different ones; the same one may be named as often as the body holds', async () => {
    const many = Array.from({ length: 101 }, (_, n) => `{{ none-${n} }}`);
    assert.equal((await refused(many)).json.code, 'too_many_tokens');
    const same = Array.from({ length: 500 }, () => '{{ word }}');
    assert.deepEqual(
      (await detokenize(same)).json,
      Array.from({ length: 500 }, () => 'value'),
    );
  });

  it('a template cannot reach tokens it does not name, nor what the caller may not see of those it names', async () => {
    const masking = await vault.keyWith([], ['token:read']);
    for (const text of [
      '{{ data.number }}',
      '{{ self }}',
      "{% assign x = 'word' %}{{ x }}",
      `{{ ${card} | json: '$.__proto__' }}`,
      `{{ token: ${card} | json: '$.sealed' }}`,
    ]) {
      const { text: body } = await detokenize(text, { key: masking });
      assert.ok(!body.includes(CARD.number) && !body.includes('"value"'), `${text}: ${body}`);
    }
  });
});
