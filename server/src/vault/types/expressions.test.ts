import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Liquid } from 'liquidjs';
import type { Json } from '../../kernel/json.js';
import { TOKEN_TYPE_CATALOGUE } from './catalogue.js';
import type { TokenType } from './names.js';

const liquid = new Liquid();
const digits = (min: number, max: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max }).map((list) => list.join(''));

const DATA: Readonly<Record<TokenType, fc.Arbitrary<Json>>> = {
  token: fc.jsonValue({ maxDepth: 3 }).map((value) => value as Json), // JSON by its making.
  card: digits(13, 19).map((number) => ({ number, cvc: '123' })),
  bank: fc
    .tuple(digits(9, 9), digits(3, 17))
    .map(([routing, account]) => ({ routing_number: routing, account_number: account })),
  card_number: digits(13, 19),
  us_bank_account_number: digits(3, 17),
  us_bank_routing_number: digits(9, 9),
  social_security_number: digits(9, 9).map((all) => `${all.slice(0, 3)}-${all.slice(3, 5)}-${all.slice(5)}`),
  employer_id_number: digits(9, 9).map((all) => `${all.slice(0, 2)}-${all.slice(2)}`),
};

for (const [name, arbitrary] of Object.entries(DATA)) {
  test(`the fingerprint of the type ${name} is what its expression gives`, () => {
    const row = TOKEN_TYPE_CATALOGUE[name as TokenType]; // A key of the table.
    const template = liquid.parse(row.fingerprintExpression);
    fc.assert(
      fc.property(arbitrary, (data) => {
        assert.equal(row.fingerprintText(data), liquid.renderSync(template, { data }));
      }),
    );
  });
}
