import type { Random } from './random.js';

/** What nobody writes by hand: characters that are refused, vanish, reorder, combine, or mean something one layer below. */
const PIECES: readonly string[] = [
  '\u202e',
  '\u2066\u2069',
  '\u200b',
  '\u200d',
  '\ufeff',
  '\u00ad',
  '\u0085',
  '\u2028',
  '\u3000',
  '\u0301\u0489\u20dd',
  '\u0130',
  '\u{1f511}',
  '\u{e0041}',
  '\u{10ffff}',
  '\uffff',
  '\u0007\u001b[2J',
  '\u007f',
  '\r\n',
  '\t',
  ' ',
  '\\',
  '\\u0000',
  '\\x00',
  '%00',
  '%',
  "'",
  '"',
  '`',
  '{{',
  '}}',
  '{%',
  '%}',
  '{{-',
  '-}}',
  '{',
  '}',
  '[',
  ']',
  '(',
  ')',
  '|',
  ':',
  '..',
  '.',
  ',',
  ';',
  '*',
  '/',
  '--',
  '$1',
  '$..*',
  '@',
  '#',
  '&',
  '=',
  '+',
  '~',
  '<',
  '>',
  '0',
  '-1',
  '1e308',
  '9007199254740993',
  '0x10',
  '99999999999999999999999999',
  'NaN',
  'null',
  'true',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'token:',
  'data',
  'self',
  'AND',
  'TO',
  '(a+)+$',
];
/** What the database cannot store, and what therefore must never reach it. */
const FORBIDDEN: readonly string[] = ['\u0000', '\ud800', '\udfff', '\udc00\ud800'];
const FORBIDDEN_ONE_IN = 8;
const COMBINING = '\u0351\u0308\u0489';
const FULL_WIDTH = 0xfee0;

/** The same text with one to four things wrong with it. */
export function mutated(random: Random, text: string): string {
  let made = text;
  for (let left = 1 + random.below(4); left > 0; left -= 1) made = edited(random, made);
  return made;
}

function edited(random: Random, text: string): string {
  // By code unit, so that pairs of surrogates are torn apart too.
  const at = random.below(text.length + 1);
  const end = Math.min(text.length, at + 1 + random.below(8));
  switch (random.below(12)) {
    case 0:
      return text.slice(0, at) + text.slice(end);
    case 1:
      return text.slice(0, end) + text.slice(at);
    case 2:
      return text.slice(0, at);
    case 3:
      return text.slice(0, at) + text.slice(at, end).repeat(1 + random.below(60)) + text.slice(end);
    case 4:
      return text.slice(0, at) + swapCase(text.slice(at, end)) + text.slice(end);
    case 5:
      return text.slice(0, at) + wide(text.slice(at, end)) + text.slice(end);
    case 6:
      return text.replace(/\d+/, () =>
        random.pick(['-1', '0', '1e999', '4294967296', '0.1', '9'.repeat(random.below(300))]),
      );
    case 7:
      return text.slice(0, at) + COMBINING.repeat(1 + random.below(30)) + text.slice(at);
    default:
      return text.slice(0, at) + nastyPiece(random) + text.slice(at);
  }
}

export function nastyPiece(random: Random): string {
  return random.pick(random.oneIn(FORBIDDEN_ONE_IN) ? FORBIDDEN : PIECES);
}

function swapCase(text: string): string {
  return text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();
}

/** Letters that look like others. */
function wide(text: string): string {
  return text.replaceAll(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + FULL_WIDTH));
}
