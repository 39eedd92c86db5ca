import { assert } from '../../kernel/assert.js';
import type { Json } from '../../kernel/json.js';
import { isJsonObject } from '../../kernel/json-object.js';
import type { Privacy } from '../stored/content.js';
import type { DataFault } from './checks.js';
import {
  checkAccountNumber,
  checkAnything,
  checkBank,
  checkCard,
  checkCardNumber,
  checkEmployerIdNumber,
  checkRoutingNumber,
  checkSocialSecurityNumber,
} from './checks.js';
import type { TokenType } from './names.js';

/**
 * What a type brings along. The functions that take data expect data that passed `check`. Those that stand next to an
 * expression give what the expression would, without the price of evaluating one for every token.
 */
export interface TokenTypeRow {
  readonly container: string;
  readonly privacy: Privacy;
  readonly check: (data: Json) => readonly DataFault[];
  readonly mask: Json | undefined;
  readonly maskedView: (data: Json) => Json | undefined;
  readonly fingerprintExpression: string;
  readonly fingerprintText: (data: Json) => string;
  readonly searchIndexes: readonly string[];
  readonly defaultIndexes: (data: Json) => string[];
}

const LAST_FOUR = '{{ data | reveal_last: 4 }}';
const LAST_FOUR_LENGTH = 4;
const SHOW_LAST_FOUR = { mask: LAST_FOUR, maskedView: (data: Json) => revealLastFour(textOf(data)) };
const BY_DATA = { fingerprintExpression: '{{ data }}', fingerprintText: textOf };
const WITHOUT_DASHES = "{{ data | remove: '-' }}";
const BY_DIGITS = { fingerprintExpression: WITHOUT_DASHES, fingerprintText: digitsOf };
const NO_INDEXES = { searchIndexes: [], defaultIndexes: () => [] };
const THREE_INDEXES = {
  searchIndexes: ['{{ data }}', WITHOUT_DASHES, '{{ data | last4 }}'],
  defaultIndexes: threeWays,
};

export const TOKEN_TYPE_CATALOGUE: Readonly<Record<TokenType, TokenTypeRow>> = {
  token: {
    container: '/general/high/',
    privacy: { classification: 'general', impact_level: 'high', restriction_policy: 'redact' },
    check: checkAnything,
    mask: undefined,
    maskedView: () => undefined,
    // JSON text keeps the text "1" and the number 1 apart: deduplication must never give back a different value.
    fingerprintExpression: '{{ data | jsonify }}',
    fingerprintText: (data) => JSON.stringify(data),
    ...NO_INDEXES,
  },
  card: {
    container: '/pci/high/',
    privacy: { classification: 'pci', impact_level: 'high', restriction_policy: 'mask' },
    check: checkCard,
    mask: {
      number: '{{ data.number | reveal_last: 4 }}',
      expiration_month: '{{ data.expiration_month }}',
      expiration_year: '{{ data.expiration_year }}',
    },
    maskedView: maskedCard,
    fingerprintExpression: '{{ data.number }}',
    fingerprintText: (data) => memberOf(data, 'number'),
    ...NO_INDEXES,
  },
  bank: {
    container: '/bank/high/',
    privacy: { classification: 'bank', impact_level: 'high', restriction_policy: 'mask' },
    check: checkBank,
    mask: {
      routing_number: '{{ data.routing_number }}',
      account_number: '{{ data.account_number | reveal_last: 4 }}',
    },
    maskedView: (data) => ({
      routing_number: memberOf(data, 'routing_number'),
      account_number: revealLastFour(memberOf(data, 'account_number')),
    }),
    fingerprintExpression: '{{ data.account_number }}|{{ data.routing_number }}',
    fingerprintText: (data) => `${memberOf(data, 'account_number')}|${memberOf(data, 'routing_number')}`,
    ...NO_INDEXES,
  },
  card_number: {
    container: '/pci/high/',
    privacy: { classification: 'pci', impact_level: 'high', restriction_policy: 'mask' },
    check: checkCardNumber,
    ...SHOW_LAST_FOUR,
    ...BY_DATA,
    ...NO_INDEXES,
  },
  us_bank_account_number: {
    container: '/bank/high/',
    privacy: { classification: 'bank', impact_level: 'high', restriction_policy: 'mask' },
    check: checkAccountNumber,
    ...SHOW_LAST_FOUR,
    ...BY_DATA,
    ...NO_INDEXES,
  },
  us_bank_routing_number: {
    container: '/bank/low/',
    privacy: { classification: 'bank', impact_level: 'low', restriction_policy: 'mask' },
    check: checkRoutingNumber,
    ...SHOW_LAST_FOUR,
    ...BY_DATA,
    ...NO_INDEXES,
  },
  social_security_number: {
    container: '/pii/high/',
    privacy: { classification: 'pii', impact_level: 'high', restriction_policy: 'mask' },
    check: checkSocialSecurityNumber,
    ...SHOW_LAST_FOUR,
    ...BY_DIGITS,
    ...THREE_INDEXES,
  },
  employer_id_number: {
    container: '/pii/high/',
    privacy: { classification: 'pii', impact_level: 'high', restriction_policy: 'mask' },
    check: checkEmployerIdNumber,
    ...SHOW_LAST_FOUR,
    ...BY_DIGITS,
    ...THREE_INDEXES,
  },
};

/** The cvc is not part of the view, and what the card does not have is left out. */
function maskedCard(data: Json): Json {
  assert(isJsonObject(data), 'the data of a card was checked to be an object');
  const { expiration_month: month, expiration_year: year } = data;
  return {
    number: revealLastFour(memberOf(data, 'number')),
    ...(month === undefined || month === null ? {} : { expiration_month: month }),
    ...(year === undefined || year === null ? {} : { expiration_year: year }),
  };
}

function threeWays(data: Json): string[] {
  const digits = digitsOf(data);
  return [...new Set([textOf(data), digits, digits.slice(-LAST_FOUR_LENGTH)])];
}

function digitsOf(data: Json): string {
  return textOf(data).replaceAll('-', '');
}

function textOf(data: Json): string {
  assert(typeof data === 'string', 'the data of this type was checked to be text');
  return data;
}

function memberOf(data: Json, name: string): string {
  assert(isJsonObject(data), 'the data of this type was checked to be an object');
  const value = data[name];
  assert(typeof value === 'string', 'the member was checked to be text');
  return value;
}

/** Of the checked types every last four characters are digits, so a dash among them is not a question here. */
function revealLastFour(text: string): string {
  const shownFrom = Math.max(0, text.length - LAST_FOUR_LENGTH);
  return text.slice(0, shownFrom).replace(/\d/g, 'X') + text.slice(shownFrom);
}
