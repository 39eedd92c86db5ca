import { isDigit } from '../kernel/json-numbers.js';
import type { Arguments } from './arguments.js';
import { characterAt, countAt, flagAt, textAt } from './arguments.js';
import type { Budget } from './budget.js';
import { cardEnds } from './card-ends.js';
import { endOfFirst, startOfLast } from './code-points.js';
import { invalidExpression } from './faults.js';
import { scalarText } from './values.js';

const CHARACTER_UNITS = 6;
const DASHES = '-';
const NOTHING = '';

export function last4(input: unknown, args: Arguments): string {
  const text = scalarText(input, args.filter);
  return text.slice(startOfLast(text, 4));
}

export function revealLast(input: unknown, args: Arguments, budget: Budget): string {
  const text = scalarText(input, args.filter);
  const shown = startOfLast(text, countAt(args, 0, 'the number of characters to show'));
  return hide(text, 0, shown, characterAt(args, 1, 'X'), DASHES, budget);
}

export function reveal(input: unknown, args: Arguments, budget: Budget): string {
  const text = scalarText(input, args.filter);
  const from = endOfFirst(text, countAt(args, 0, 'the number of first characters', 0));
  const to = startOfLast(text, countAt(args, 1, 'the number of last characters', 0));
  return hideAtLeastSomething(text, from, to, characterAt(args, 2, 'X'), textAt(args, 3, 'preserve', ''), budget);
}

export function cardMask(input: unknown, args: Arguments, budget: Budget): string {
  const text = scalarText(input, args.filter);
  const { from, to } = cardEnds(text, flagAt(args, 0, 'bin'), flagAt(args, 1, 'last4'), isDigit);
  budget.spend(text.length);
  return hideAtLeastSomething(text, from, to, characterAt(args, 2, 'X'), textAt(args, 3, 'preserve', ''), budget);
}

export function cardBin(input: unknown, args: Arguments, budget: Budget): string {
  const text = scalarText(input, args.filter);
  const separator = textAt(args, 0, 'the separator', '');
  budget.spend(text.length * CHARACTER_UNITS);
  const number = separator === '' ? text : text.replaceAll(separator, () => '');
  const { from, symbols } = cardEnds(number, true, false, isDigit);
  const bin = number.slice(0, from).replace(/[^0-9]/g, '');
  // A number that is all BIN is no card number, and showing it would show everything.
  if (bin.length >= symbols) throw invalidExpression(`The filter ${args.filter} works on a card number.`);
  return bin;
}

/** What would show everything hides everything, preserved characters last of all: a mask never is the plaintext. */
function hideAtLeastSomething(
  text: string,
  from: number,
  to: number,
  character: string,
  preserve: string,
  budget: Budget,
): string {
  const masked = from < to ? hide(text, from, to, character, preserve, budget) : text;
  if (masked !== text) return masked;
  const all = hide(text, 0, text.length, character, preserve, budget);
  return all === text ? hide(text, 0, text.length, character, NOTHING, budget) : all;
}

/** Replaces each character from one offset to another, except preserved ones. By code point: an emoji is one character. */
function hide(text: string, from: number, to: number, character: string, preserve: string, budget: Budget): string {
  budget.spend(text.length * CHARACTER_UNITS);
  const kept = preserve.length > 1 ? new Set([...preserve].map((one) => one.codePointAt(0) ?? 0)) : undefined;
  const keptOne = preserve.length === 1 ? preserve.charCodeAt(0) : -1;
  let hidden = text.slice(0, from);
  let run = 0;
  for (let at = from; at < to; ) {
    const point = text.codePointAt(at) ?? 0;
    const size = point > 0xffff ? 2 : 1;
    if (point === keptOne || kept?.has(point)) {
      hidden += character.repeat(run) + text.slice(at, at + size);
      run = 0;
    } else {
      run += 1;
    }
    at += size;
  }
  return hidden + character.repeat(run) + text.slice(to);
}
