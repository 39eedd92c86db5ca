import type { TSchema } from 'typebox';
import Type from 'typebox';
import { orNull } from '../../../http/routes/schema.js';
import type { TokenType } from '../../../vault/index.js';
import {
  ACCOUNT_NUMBER_PATTERN,
  CARD_NUMBER_PATTERN,
  CVC_NUMBER_MAX,
  CVC_NUMBER_MIN,
  CVC_PATTERN,
  EMPLOYER_ID_PATTERN,
  MONTH_MAX,
  ROUTING_NUMBER_PATTERN,
  SOCIAL_SECURITY_PATTERN,
  YEAR_MAX,
  YEAR_MIN,
} from '../../../vault/index.js';
import { patternOf, ref } from './json.js';

function matching(pattern: RegExp, description: string, example: string): TSchema {
  return Type.String({ pattern: patternOf(pattern), description, examples: [example] });
}

const CARD_NUMBER = matching(
  CARD_NUMBER_PATTERN,
  '13 to 19 digits, the last one a check digit (Luhn)',
  '4242424242424242',
);
const ACCOUNT_NUMBER = matching(ACCOUNT_NUMBER_PATTERN, '3 to 17 digits', '000123456789');
const ROUTING_NUMBER = matching(ROUTING_NUMBER_PATTERN, '9 digits, the last one a check digit (ABA)', '021000021');

/** Members not named here are kept as they are, in whatever JSON a token can hold. */
function open(title: string, properties: Record<string, TSchema>): TSchema {
  return Type.Object(properties, { title, additionalProperties: ref('JsonValue') });
}

/** What the data of each type must be. */
export const DATA_OF: Readonly<Record<TokenType, TSchema>> = {
  token: ref('JsonPresent'),
  card: open('CardData', {
    number: CARD_NUMBER,
    expiration_month: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: MONTH_MAX }))),
    expiration_year: Type.Optional(orNull(Type.Integer({ minimum: YEAR_MIN, maximum: YEAR_MAX }))),
    cvc: Type.Optional(
      Type.Unsafe({
        description: '3 or 4 digits, as text if it begins with a zero. Forgotten after an hour',
        anyOf: [
          Type.String({ pattern: patternOf(CVC_PATTERN) }),
          Type.Integer({ minimum: CVC_NUMBER_MIN, maximum: CVC_NUMBER_MAX }),
          { type: 'null' },
        ],
      }),
    ),
  }),
  bank: open('BankData', { routing_number: ROUTING_NUMBER, account_number: ACCOUNT_NUMBER }),
  card_number: CARD_NUMBER,
  us_bank_account_number: ACCOUNT_NUMBER,
  us_bank_routing_number: ROUTING_NUMBER,
  social_security_number: matching(SOCIAL_SECURITY_PATTERN, '9 digits, bare or with dashes as in 3-2-4', '123-45-6789'),
  employer_id_number: matching(EMPLOYER_ID_PATTERN, '9 digits, bare or with a dash as in 2-7', '12-3456789'),
};
