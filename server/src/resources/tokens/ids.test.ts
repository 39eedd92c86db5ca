import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createBudget } from '../../expressions/budget.js';
import { createExpressions } from '../../expressions/expressions.js';
import { AppError } from '../../kernel/errors.js';
import { settleId } from '../../vault/make/new-id.js';
import { CARD, openVault, SAMPLES, type TestVault, writesNothing } from './vault-fixture.js';

describe('ids hold no number and no verification code', () => {
  let vault: TestVault;
  before(async () => {
    vault = await openVault();
  });
  after(() => vault.app.close());

  async function refused(body: object): Promise<void> {
    const wrapped: [string, unknown, string][] = [
      ['/tokens', body, 'id'],
      ['/tokenize', { a: [body] }, 'a[0].id'],
    ];
    for (const [path, sent, field] of wrapped) {
      const { status, json } = await writesNothing(vault.app, () => vault.send('POST', path, sent));
      assert.deepEqual([status, Object.keys(json.errors ?? {})], [400, [field]], JSON.stringify(body));
    }
  }

  it('400 for an expression that reads the verification code, by whichever way', async () => {
    for (const id of [
      'x-{{ data.cvc }}',
      "x-{{ data['cvc'] }}",
      "x-{% assign k = 'c' | append: 'vc' %}{{ data[k] }}",
      "x-{{ data | json: '$.cvc' }}",
      "x-{{ data | json: '$..cvc' }}",
      'x-{{ data.cvc | hmac: "sha-256", "k" | to_base16 }}',
      'x-{{ data.cvc | size }}-y',
      'abc{% if data.cvc == "123" %}1{% endif %}',
      "x-{{ data | stringify | slice: 0, 3 | url_encode | remove: '%' }}",
      'x-{% for member in data %}{{ member | last | to_string | slice: 0, 1 }}{% endfor %}',
    ]) {
      await refused({ type: 'card', data: CARD, id });
    }
    const made = await vault.make({ type: 'card', data: CARD, id: 'x-{{ data.expiration_year }}' });
    assert.equal(made.id, 'x-2031', 'what does not look at it is free');
  });

  it('400 for an id whose digits hold the number, given or worked out, whatever stands between them', async () => {
    const cases: [string, unknown, string[]][] = [
      [
        'card',
        CARD,
        [
          '4242424242424242',
          'a4242-4242 4242.4242z',
          '{{ data.number }}',
          'x{{ data.number }}9',
          '４２４２424242424242',
        ],
      ],
      ['card_number', SAMPLES.card_number.data, ['{{ data }}', '37-8282-246310005']],
      ['bank', SAMPLES.bank.data, ['{{ data.account_number }}', '00123456789', '9-00123456789-9']],
      ['us_bank_account_number', '1234567', ['{{ data }}', 'x1234567']],
      [
        'social_security_number',
        SAMPLES.social_security_number.data,
        ['{{ data }}', '123456789', "{{ data | remove: '-' }}"],
      ],
      ['employer_id_number', SAMPLES.employer_id_number.data, ['12-3456789', '123456789x']],
    ];
    for (const [type, data, ids] of cases) for (const id of ids) await refused({ type, data, id });
  });

  it('201 for ids that hold less, or a number too short to mean anything', async () => {
    const cases: [string, unknown, string, string?][] = [
      ['card', CARD, '{{ data.number | last4 }}-a', '4242-a'],
      ['us_bank_account_number', '123456', '{{ data }}', '123456'],
      ['us_bank_routing_number', '021000021', 'r-{{ data }}', 'r-021000021'],
      ['token', '4242424242424242', '{{ data }}', '4242424242424242'],
      ['card', CARD, '{{ data.number | alias_card: false, true }}'],
    ];
    for (const [type, data, id, expected] of cases) {
      const made = await vault.make({ type, data, id });
      if (expected) assert.equal(made.id, expected);
      else assert.match(made.id, /^\d{12}4242$/);
    }
  });

  it('an alias that happens to hold the number is drawn again; what comes out the same each time is refused', () => {
    const evaluation = { expressions: createExpressions(), budget: createBudget() };
    const subject = { type: 'us_bank_account_number', data: '1234567' } as const;
    // Of ten digits, one drawn: that it holds the number depends on the draw.
    const text = '123456{{ "0" | alias_preserve_format }}';
    for (let turn = 0; turn < 60; turn += 1) {
      const fresh = { ...evaluation, budget: createBudget() };
      assert.notEqual(settleId(fresh, text, subject, ''), '1234567');
    }
    assert.throws(() => settleId(evaluation, '123456{{ 7 }}', subject, ''), AppError);
  });

  it('400 for a change that brings the number into the token whose id holds it', async () => {
    const { id } = await vault.make({ type: 'card', data: { number: '4000056655665556' }, id: `c-${CARD.number}` });
    const patch = { data: { number: CARD.number } };
    const { status, json } = await writesNothing(vault.app, () => vault.send('PATCH', `/tokens/${id}`, patch));
    assert.deepEqual([status, Object.keys(json.errors)], [400, ['data']]);
  });

  it('400 for white space at an end and for what reads like a whole token in an expression', async () => {
    for (const id of [
      ' abc',
      'abc ',
      '\u00a0abc',
      '\u0085abc',
      'abc\u0085',
      'abc\n',
      'token:abc',
      '{{ "token:abc" }}',
      '{{ "abc " }}',
    ]) {
      await refused({ type: 'token', data: 1, id });
    }
  });
});
