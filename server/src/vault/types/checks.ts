import type { Json } from '../../kernel/json.js';
import type { JsonObject } from '../../kernel/json-object.js';
import { isJsonObject } from '../../kernel/json-object.js';

/** Something wrong with the data of a token. The path begins at `data`; the message never repeats the value. */
export interface DataFault {
  readonly path: string;
  readonly message: string;
}

const NONE: readonly DataFault[] = [];

export const CARD_NUMBER_PATTERN = /^\d{13,19}$/;
export const CVC_PATTERN = /^\d{3,4}$/;
export const ACCOUNT_NUMBER_PATTERN = /^\d{3,17}$/;
export const ROUTING_NUMBER_PATTERN = /^\d{9}$/;
export const SOCIAL_SECURITY_PATTERN = /^(?:\d{9}|\d{3}-\d{2}-\d{4})$/;
export const EMPLOYER_ID_PATTERN = /^(?:\d{9}|\d{2}-\d{7})$/;

export const CVC_NUMBER_MIN = 100;
export const CVC_NUMBER_MAX = 9_999;
export const MONTH_MAX = 12;
export const YEAR_MIN = 2000;
export const YEAR_MAX = 2099;
const DIGIT_ZERO = 0x30;
const ABA_WEIGHTS = [3, 7, 1] as const;

const REQUIRED = 'is required';

export function checkAnything(): readonly DataFault[] {
  return NONE;
}

/** A null member of a card counts as left out: client libraries write out members that have no value. */
export function checkCard(data: Json): readonly DataFault[] {
  if (!isJsonObject(data)) return [{ path: 'data', message: 'must be an object with the member number' }];
  const faults: DataFault[] = [];
  addFault(faults, 'data.number', requiredFault(data.number, cardNumberFault));
  addFault(faults, 'data.expiration_month', integerFault(data.expiration_month, 1, MONTH_MAX));
  addFault(faults, 'data.expiration_year', integerFault(data.expiration_year, YEAR_MIN, YEAR_MAX));
  addFault(faults, 'data.cvc', cvcFault(data.cvc));
  return faults;
}

export function checkBank(data: Json): readonly DataFault[] {
  if (!isJsonObject(data)) {
    return [{ path: 'data', message: 'must be an object with the members routing_number and account_number' }];
  }
  const faults: DataFault[] = [];
  addFault(faults, 'data.routing_number', requiredFault(data.routing_number, routingNumberFault));
  addFault(faults, 'data.account_number', requiredFault(data.account_number, accountNumberFault));
  return faults;
}

export function checkCardNumber(data: Json): readonly DataFault[] {
  return wholeFault(cardNumberFault(data));
}

export function checkAccountNumber(data: Json): readonly DataFault[] {
  return wholeFault(accountNumberFault(data));
}

export function checkRoutingNumber(data: Json): readonly DataFault[] {
  return wholeFault(routingNumberFault(data));
}

export function checkSocialSecurityNumber(data: Json): readonly DataFault[] {
  if (typeof data === 'string' && SOCIAL_SECURITY_PATTERN.test(data)) return NONE;
  return wholeFault('must be text of 9 digits, bare or with dashes as in 3-2-4');
}

export function checkEmployerIdNumber(data: Json): readonly DataFault[] {
  if (typeof data === 'string' && EMPLOYER_ID_PATTERN.test(data)) return NONE;
  return wholeFault('must be text of 9 digits, bare or with a dash as in 2-7');
}

function addFault(faults: DataFault[], path: string, message: string | undefined): void {
  if (message !== undefined) faults.push({ path, message });
}

function wholeFault(message: string | undefined): readonly DataFault[] {
  return message === undefined ? NONE : [{ path: 'data', message }];
}

function requiredFault(
  value: JsonObject[string] | undefined,
  faultOf: (value: Json) => string | undefined,
): string | undefined {
  return value === undefined || value === null ? REQUIRED : faultOf(value);
}

/** Text only: a JSON number of nineteen digits would already have been rounded. */
function cardNumberFault(value: Json): string | undefined {
  if (typeof value !== 'string' || !CARD_NUMBER_PATTERN.test(value)) {
    return 'must be text of 13 to 19 digits, without spaces or dashes';
  }
  return passesLuhn(value) ? undefined : 'must be a card number with a right check digit';
}

function accountNumberFault(value: Json): string | undefined {
  if (typeof value === 'string' && ACCOUNT_NUMBER_PATTERN.test(value)) return undefined;
  return 'must be text of 3 to 17 digits';
}

function routingNumberFault(value: Json): string | undefined {
  if (typeof value !== 'string' || !ROUTING_NUMBER_PATTERN.test(value)) return 'must be text of 9 digits';
  return passesAba(value) ? undefined : 'must be a routing number with a right check digit';
}

function integerFault(value: Json | undefined, min: number, max: number): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return undefined;
  return `must be an integer from ${min} to ${max}`;
}

/** A number has lost its leading zeros, so one below 100 can no longer be told from a mistake. */
function cvcFault(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && CVC_PATTERN.test(value)) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= CVC_NUMBER_MIN && value <= CVC_NUMBER_MAX) {
    return undefined;
  }
  return 'must be 3 or 4 digits; send it as text if it begins with a zero';
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at -= 1, isDoubled = !isDoubled) {
    const digit = digits.charCodeAt(at) - DIGIT_ZERO;
    const share = isDoubled ? digit * 2 : digit;
    sum += share > 9 ? share - 9 : share;
  }
  return sum % 10 === 0;
}

function passesAba(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    sum += (digits.charCodeAt(at) - DIGIT_ZERO) * (ABA_WEIGHTS[at % 3] ?? 0);
  }
  return sum % 10 === 0;
}
