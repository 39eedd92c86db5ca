import { codePointLength } from '../kernel/text.js';
import type { Arguments } from './arguments.js';
import { characterAt, countAt, textAt } from './arguments.js';
import type { Budget } from './budget.js';
import { invalidExpression } from './faults.js';
import { isNil, readMember, scalarText, textOf } from './values.js';

const NUMBER_LENGTH_MAX = 400;
const NUMBER = /^[+-]?\d+(\.\d+)?([eE][+-]?\d{1,4})?$/;
const WHOLE_NUMBER = /^[+-]?\d+$/;
const TWO_DIGITS = /^\d{1,2}$/;
const FOUR_DIGITS = /^\d{4}$/;

type ExpiryFormat = (month: string, year: string) => string;

const EXPIRY_FORMATS: ReadonlyMap<string, ExpiryFormat> = new Map<string, ExpiryFormat>([
  ['MM', (month) => month],
  ['MMYY', (month, year) => month + year.slice(2)],
  ['MM/YY', (month, year) => `${month}/${year.slice(2)}`],
  ['MM/YYYY', (month, year) => `${month}/${year}`],
  ['MM-YYYY', (month, year) => `${month}-${year}`],
  ['MM_YYYY', (month, year) => `${month}_${year}`],
  ['YYYY', (_month, year) => year],
  ['YYYY-MM', (month, year) => `${year}-${month}`],
]);

export function stringify(input: unknown, _args: Arguments, budget: Budget): string {
  return textOf(input, budget);
}

export function toText(input: unknown, args: Arguments): string {
  return scalarText(input, args.filter);
}

export function toNumber(input: unknown, args: Arguments): number {
  if (typeof input === 'number') return input;
  if (typeof input === 'boolean') return Number(input);
  if (typeof input === 'string' && input.length <= NUMBER_LENGTH_MAX) {
    const text = input.trim();
    const number = Number(text);
    // A card number of nineteen digits would come out as another one.
    const isExact = !WHOLE_NUMBER.test(text) || Number.isSafeInteger(number);
    if (NUMBER.test(text) && Number.isFinite(number) && isExact) return number;
  }
  throw invalidExpression(`The filter ${args.filter} works on a decimal number that fits without loss.`);
}

export function toBoolean(input: unknown, args: Arguments): boolean {
  if (typeof input === 'boolean') return input;
  if (input === 1 || input === 0) return input === 1;
  const text = typeof input === 'string' && input.length <= 'false'.length ? input.toLowerCase() : '';
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw invalidExpression(`The filter ${args.filter} works on true, false, 1 or 0.`);
}

export function padLeft(input: unknown, args: Arguments, budget: Budget): string {
  const text = scalarText(input, args.filter);
  return padding(text, args, budget) + text;
}

export function padRight(input: unknown, args: Arguments, budget: Budget): string {
  const text = scalarText(input, args.filter);
  return text + padding(text, args, budget);
}

function padding(text: string, args: Arguments, budget: Budget): string {
  const length = countAt(args, 0, 'the length');
  const character = characterAt(args, 1);
  budget.spend(text.length + length);
  return character.repeat(Math.max(length - codePointLength(text), 0));
}

/** A card without the part that is asked for has no expiry to show: null, as for any other absent member. */
export function cardExp(input: unknown, args: Arguments): string | null {
  const format = textAt(args, 0, 'the format');
  const write = EXPIRY_FORMATS.get(format);
  if (write === undefined) {
    throw invalidExpression(`The filter ${args.filter} knows the formats ${[...EXPIRY_FORMATS.keys()].join(', ')}.`);
  }
  if (typeof input !== 'object' || Array.isArray(input)) return refuseCard(args);
  const month = readMember(input, 'expiration_month');
  const year = readMember(input, 'expiration_year');
  if ((isNil(month) && format.includes('MM')) || (isNil(year) && format.includes('YY'))) return null;
  return write(monthText(month, args), yearText(year, args));
}

function monthText(month: unknown, args: Arguments): string {
  if (isNil(month)) return '';
  const text = scalarText(month, args.filter);
  if (!TWO_DIGITS.test(text) || Number(text) < 1 || Number(text) > 12) return refuseCard(args);
  return text.padStart(2, '0');
}

function yearText(year: unknown, args: Arguments): string {
  if (isNil(year)) return '';
  const text = scalarText(year, args.filter);
  return FOUR_DIGITS.test(text) ? text : refuseCard(args);
}

function refuseCard(args: Arguments): never {
  throw invalidExpression(
    `The filter ${args.filter} works on card data with expiration_month from 1 to 12 and expiration_year of four digits.`,
  );
}
