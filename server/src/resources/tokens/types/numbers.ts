import type { Json } from '../../../kernel/json.js';
import { isJsonObject } from './json-object.js';
import type { TokenType } from './names.js';

/** Shorter numbers than these are found in any longer one, so nothing is told by them. */
const DIGITS_MIN = 7;

/**
 * The number that makes a token what it is, in digits: of a card, an account or a person. It must never stand in an id, which
 * is in paths, logs and other people's systems. Undefined where there is none, or where it is too short to mean anything.
 */
export function secretNumberOf(type: TokenType, data: Json): string | undefined {
  const text = numberText(type, data);
  const digits = typeof text === 'string' ? digitsOf(text) : '';
  return digits.length < DIGITS_MIN ? undefined : digits;
}

/** Whether an id gives the number away, whatever stands between its digits. */
export function givesAway(id: string, number: string | undefined): boolean {
  return number !== undefined && digitsOf(id).includes(number);
}

function numberText(type: TokenType, data: Json): Json | undefined {
  switch (type) {
    case 'card':
      return isJsonObject(data) ? data.number : undefined;
    case 'bank':
      return isJsonObject(data) ? data.account_number : undefined;
    case 'card_number':
    case 'us_bank_account_number':
    case 'social_security_number':
    case 'employer_id_number':
      return data;
    case 'token':
    case 'us_bank_routing_number':
      return undefined;
  }
}

/** Digits of other scripts are digits: folding makes those that look like ours into ours. */
function digitsOf(text: string): string {
  return text.normalize('NFKC').replaceAll(/[^0-9]/g, '');
}
