import { codePointLength } from '../kernel/text.js';
import { invalidExpression } from './faults.js';
import { isNil } from './values.js';

const COUNT_MAX = 1_048_576;
const TEXT_ARGUMENT_LENGTH_MAX = 400;
const INTEGER = /^\d{1,7}$/;

/** The arguments of one call of a filter, read by position with the filter's name for the refusal. */
export interface Arguments {
  readonly filter: string;
  readonly values: readonly unknown[];
}

function required(from: Arguments, what: string): never {
  throw invalidExpression(`The filter ${from.filter} needs ${what}.`);
}

/** A whole number from 0, also as text. */
export function countAt(from: Arguments, at: number, name: string, byDefault?: number): number {
  const value = from.values[at];
  if (isNil(value) && byDefault !== undefined) return byDefault;
  const count = typeof value === 'string' && INTEGER.test(value) ? Number(value) : value;
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 0 || count > COUNT_MAX) {
    return required(from, `a whole number from 0 to ${COUNT_MAX} as ${name}`);
  }
  return count;
}

/** `true` or `'true'`, and the same for false. */
export function flagAt(from: Arguments, at: number, name: string): boolean {
  const value = from.values[at];
  if (isNil(value) || value === false || value === 'false') return false;
  if (value === true || value === 'true') return true;
  return required(from, `true or false as ${name}`);
}

export function characterAt(from: Arguments, at: number, byDefault?: string): string {
  const value = from.values[at];
  if (isNil(value) && byDefault !== undefined) return byDefault;
  const text = typeof value === 'number' ? String(value) : value;
  // Two code units are at most needed for one character; the length is asked first, as text may be long.
  if (typeof text !== 'string' || text.length > 2 || codePointLength(text) !== 1) {
    return required(from, 'a single character to write with');
  }
  return text;
}

export function textAt(from: Arguments, at: number, name: string, byDefault?: string): string {
  const value = from.values[at];
  if (isNil(value) && byDefault !== undefined) return byDefault;
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text.length > TEXT_ARGUMENT_LENGTH_MAX) {
    return required(from, `text of at most ${TEXT_ARGUMENT_LENGTH_MAX} characters as ${name}`);
  }
  return text;
}
