import { DIGITS, LOWER_CASE_ALPHANUMERICS, LOWER_CASE_LETTERS, randomText } from '../crypto/random-text.js';
import type { Arguments } from './arguments.js';
import { countAt, flagAt } from './arguments.js';
import type { Budget } from './budget.js';
import { cardEnds, isNoSeparator } from './card-ends.js';
import { endOfFirst, startOfLast } from './code-points.js';
import { invalidExpression } from './faults.js';
import { scalarText } from './values.js';

const CHARACTER_UNITS = 40;
const CALL_UNITS = 3_000;
const LETTER = /\p{L}/u;
const DIGIT = /\p{Nd}/u;

export function aliasCard(input: unknown, args: Arguments, budget: Budget): string {
  const text = scalarText(input, args.filter);
  budget.spend(text.length);
  const ends = cardEnds(text, flagAt(args, 0, 'bin'), flagAt(args, 1, 'last4'), isNoSeparator);
  if (ends.symbols <= ends.shown) {
    throw invalidExpression(`The filter ${args.filter} needs a number longer than the part it shows.`);
  }
  const alphabetOf = (character: string): string | undefined =>
    isNoSeparator(character.charCodeAt(0)) ? DIGITS : undefined;
  return alias(text, ends.from, ends.to, alphabetOf, args, budget);
}

export function aliasPreserveFormat(input: unknown, args: Arguments, budget: Budget): string {
  const text = scalarText(input, args.filter);
  const { from, to } = hiddenPart(text, args);
  return alias(text, from, to, formatAlphabet, args, budget);
}

export function aliasPreserveLength(input: unknown, args: Arguments, budget: Budget): string {
  const text = scalarText(input, args.filter);
  const { from, to } = hiddenPart(text, args);
  return alias(text, from, to, () => LOWER_CASE_ALPHANUMERICS, args, budget);
}

function hiddenPart(text: string, args: Arguments): { from: number; to: number } {
  return {
    from: endOfFirst(text, countAt(args, 0, 'the number of first characters', 0)),
    to: startOfLast(text, countAt(args, 1, 'the number of last characters', 0)),
  };
}

/** Letters and digits of every script: an accent or an Arabic digit kept would give the input away. */
function formatAlphabet(character: string): string | undefined {
  if (LETTER.test(character)) return LOWER_CASE_LETTERS;
  return DIGIT.test(character) ? DIGITS : undefined;
}

/** An alias in which nothing is random would be the input itself, so it is refused rather than given. */
function alias(
  text: string,
  from: number,
  to: number,
  alphabetOf: (character: string) => string | undefined,
  args: Arguments,
  budget: Budget,
): string {
  budget.spend(CALL_UNITS + Math.max(to - from, 0) * CHARACTER_UNITS);
  const characters = from < to ? [...text.slice(from, to)] : [];
  const alphabets = characters.map(alphabetOf);
  const drawn = new Map<string, { readonly text: string; used: number }>();
  for (const alphabet of new Set(alphabets)) {
    if (alphabet === undefined) continue;
    const count = alphabets.filter((one) => one === alphabet).length;
    drawn.set(alphabet, { text: randomText(alphabet, count), used: 0 });
  }
  if (drawn.size === 0) {
    throw invalidExpression(`The filter ${args.filter} would hide nothing of its input; show fewer characters.`);
  }
  const replaced = characters.map((character, at) => {
    const source = drawn.get(alphabets[at] ?? '');
    if (source === undefined) return character;
    source.used += 1;
    return source.text.charAt(source.used - 1);
  });
  return text.slice(0, from) + replaced.join('') + text.slice(to);
}
