import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../kernel/json.js';
import { TOKEN_TYPE_CATALOGUE } from './catalogue.js';
import type { TokenType } from './names.js';
import { TOKEN_TYPES } from './names.js';

const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };
const BANK = { routing_number: '021000021', account_number: '000123456789' };

const GOOD: Readonly<Record<TokenType, readonly Json[]>> = {
  token: ['', 'text', 0, -1.5, true, false, [], {}, { a: [null] }, ['\u0000', '\ud800']],
  card: [
    CARD,
    { number: CARD.number },
    { ...CARD, cvc: 1234 },
    { ...CARD, cvc: 100 },
    { ...CARD, cvc: 9999 },
    { ...CARD, cvc: '0000' },
    { ...CARD, expiration_month: 1, expiration_year: 2000 },
    { ...CARD, expiration_year: 2099 },
    { ...CARD, expiration_month: null, expiration_year: null, cvc: null },
    { ...CARD, cardholder: { name: 'Ada' }, notes: null },
  ],
  bank: [BANK, { ...BANK, account_number: '123' }, { ...BANK, account_number: '1'.repeat(17), name: 7 }],
  card_number: ['4242424242424242', '4222222222222', '378282246310005', '6011000990139424', '6304000000000000000'],
  us_bank_account_number: ['123', '0'.repeat(17)],
  us_bank_routing_number: ['021000021', '000000000', '122105155'],
  social_security_number: ['123456789', '123-45-6789'],
  employer_id_number: ['123456789', '12-3456789'],
};

/** What is not the text of digits it should be, whatever the field. */
const NO_DIGITS: readonly Json[] = [
  true,
  false,
  0,
  12.5,
  -1,
  [],
  {},
  ['4242424242424242'],
  '',
  ' ',
  'abcdefghi',
  '4242 4242 4242 4242',
  '4242-4242-4242-4242',
  ' 4242424242424242',
  '4242424242424242 ',
  '4242424242424242\n',
  '424242424242\u0000242',
  '424242424242\ud800242',
  '４２４２４２４２４２４２４２４２',
  '٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢',
  '+4242424242424242',
  '-021000021',
  '02100002 ',
  '02100.021',
  '０２１００００２１',
  '1e8',
];

const wholeTypes: Readonly<Partial<Record<TokenType, readonly Json[]>>> = {
  card_number: [
    4242424242424242,
    '4242424242424241',
    '424242424242',
    '42424242424242424242',
    '000000000000',
    '4'.repeat(13),
  ],
  us_bank_account_number: [123, '12', '1'.repeat(18), '12-34'],
  us_bank_routing_number: [121000021, '02100002', '0210000210', '021000022', '02-1000021'],
  social_security_number: [
    123456789,
    '12345678',
    '1234567890',
    '12-345-6789',
    '123-456789',
    '12345-6789',
    '123-45-678',
    '123-45-67890',
    '123--45-6789',
    '-123456789',
    '123456789-',
    '123–45–6789',
    '123-45-6789\n',
  ],
  employer_id_number: [123456789, '123-456789', '1-23456789', '12-34-56789', '12--3456789', '12-345678', '12-34567890'],
};

test('good data of every type passes', () => {
  for (const type of TOKEN_TYPES) {
    for (const data of GOOD[type])
      assert.deepEqual(TOKEN_TYPE_CATALOGUE[type].check(data), [], `${type} ${show(data)}`);
  }
});

test('a generic token takes any JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.deepEqual(TOKEN_TYPE_CATALOGUE.token.check(value as Json), []); // A JSON value by its making.
    }),
  );
});

for (const [name, wrong] of Object.entries(wholeTypes)) {
  test(`wrong data of the type ${name} is named as a whole, without its value`, () => {
    for (const data of [...wrong, ...NO_DIGITS]) refuses(name as TokenType, data, 'data', data); // A key of the table.
  });
}

test('data of a card or a bank that is no object is named as a whole', () => {
  for (const type of ['card', 'bank'] as const) {
    for (const data of ['4242424242424242', 4242, true, [], [CARD], [BANK]]) refuses(type, data, 'data', data);
  }
});

test('a member that is missing or null is required, if the type cannot do without', () => {
  for (const [type, good, name] of [
    ['card', CARD, 'number'],
    ['bank', BANK, 'routing_number'],
    ['bank', BANK, 'account_number'],
  ] as const) {
    const rest = Object.fromEntries(Object.entries(good).filter(([key]) => key !== name));
    for (const data of [rest, { ...good, [name]: null }]) {
      assert.deepEqual(TOKEN_TYPE_CATALOGUE[type].check(data), [{ path: `data.${name}`, message: 'is required' }]);
    }
  }
});

const wrongMembers: readonly (readonly [TokenType, object, string, readonly Json[]])[] = [
  ['card', CARD, 'number', [...NO_DIGITS, ...(wholeTypes.card_number ?? [])]],
  ['bank', BANK, 'routing_number', [...NO_DIGITS, ...(wholeTypes.us_bank_routing_number ?? [])]],
  ['bank', BANK, 'account_number', [...NO_DIGITS, ...(wholeTypes.us_bank_account_number ?? [])]],
  ['card', CARD, 'expiration_month', [0, 13, -1, 1.5, '12', '1', '', true, [], {}, [12], 1e300, 2030]],
  ['card', CARD, 'expiration_year', [1999, 2100, 30, 2030.5, '2030', '', false, [], {}, [2030], -2030]],
  [
    'card',
    CARD,
    'cvc',
    ['', '12', '12345', '1 3', '１２３', '12\n', ' 123', '-12', 99, 0, 10_000, 12.5, -123, true, [], {}, ['123']],
  ],
];

for (const [type, good, name, values] of wrongMembers) {
  test(`a wrong ${name} of a ${type} is named, without its value and without blame on its neighbours`, () => {
    for (const value of values) refuses(type, { ...good, [name]: value }, `data.${name}`, value);
  });
}

test('every fault of a card is reported at once', () => {
  const data = { number: '1', expiration_month: 0, expiration_year: 1, cvc: '' };
  const paths = TOKEN_TYPE_CATALOGUE.card.check(data).map(({ path }) => path);
  assert.deepEqual(paths, ['data.number', 'data.expiration_month', 'data.expiration_year', 'data.cvc']);
});

test('any single digit that is changed spoils a card number and a routing number', () => {
  for (const [type, good] of [
    ['card_number', '4242424242424242'],
    ['us_bank_routing_number', '021000021'],
  ] as const) {
    for (let at = 0; at < good.length; at += 1) {
      for (const digit of '0123456789') {
        const changed = good.slice(0, at) + digit + good.slice(at + 1);
        const faults = TOKEN_TYPE_CATALOGUE[type].check(changed);
        assert.equal(faults.length, changed === good ? 0 : 1, changed);
      }
    }
  }
});

function refuses(type: TokenType, data: Json, path: string, value: Json): void {
  const faults = TOKEN_TYPE_CATALOGUE[type].check(data);
  assert.deepEqual(
    faults.map((fault) => fault.path),
    [path],
    `${type} ${show(data)}`,
  );
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // A value of one or two characters may stand in a sentence by accident; longer ones may not.
  if (text.trim().length > 3) assert.ok(!faults.some(({ message }) => message.includes(text.trim())), show(data));
}

function show(data: Json): string {
  return JSON.stringify(data);
}
