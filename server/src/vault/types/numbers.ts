import type { Json } from '../../kernel/json.js';
import { isDigit } from '../../kernel/json-numbers.js';
import { isJsonObject } from '../../kernel/json-object.js';
import type { TokenType } from './names.js';

/** Shorter numbers than these are found in any longer one, so nothing is told by them. */
const DIGITS_MIN = 7;
const ONLY_DIGITS = /^[0-9]+$/;
const ASCII_MAX = 0x7f;

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
  if (number === undefined) return false;
  const folded = foldedOf(id);
  const first = number.charCodeAt(0);
  for (let from = 0; from < folded.length; from += 1) {
    if (folded.charCodeAt(from) === first && beginsThere(folded, from, number)) return true;
  }
  return false;
}

function beginsThere(text: string, from: number, number: string): boolean {
  let found = 0;
  for (let at = from; at < text.length && found < number.length; at += 1) {
    const code = text.charCodeAt(at);
    if (!isDigit(code)) continue;
    if (code !== number.charCodeAt(found)) return false;
    found += 1;
  }
  return found === number.length;
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

/** Most numbers are nothing but digits. */
function digitsOf(text: string): string {
  return ONLY_DIGITS.test(text) ? text : foldedOf(text).replaceAll(/[^0-9]/g, '');
}

/** Digits of other scripts are digits: folding makes those that look like ours into ours. Plain text stays as it is. */
function foldedOf(text: string): string {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > ASCII_MAX) return text.normalize('NFKC');
  return text;
}
