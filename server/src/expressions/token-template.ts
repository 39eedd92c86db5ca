import { AppError } from '../kernel/errors.js';
import { codePointLength, hasForbiddenCharacters } from '../kernel/text.js';
import type { Budget } from './budget.js';
import { invalidExpression } from './faults.js';

/** A token an expression names: its data alone, or with `token:` the whole token. */
export interface TokenReference {
  readonly id: string;
  readonly isWhole: boolean;
}

/** Text with the places where tokens stand. Outputs hold what follows the id: filters, or nothing. */
export interface TokenTemplate {
  readonly parts: readonly Part[];
  /** Tags, or markers that trim white space: then the whole text is one template for Liquid. */
  readonly needsLiquid: boolean;
  /** Some output cannot be the id of a token. */
  readonly hasVariables: boolean;
}

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'output'; readonly reference: TokenReference; readonly opening: string; readonly filters: string };

const TEXT_UNITS = 100;
const OUTPUT_UNITS = 150;
const ID_LENGTH_MIN = 3;
const ID_LENGTH_MAX = 400;
const FORBIDDEN_IN_ID = /[#/\\+?[\]|&=%<>{}^]/;
const WHOLE_TOKEN = /^token:\s*/;
const TAG_NAME = /\{%-?\s*(\w*)/y;
/** What stands in these is not evaluated and names no token. */
const UNREAD_TAGS: ReadonlyMap<string, RegExp> = new Map([
  ['raw', /\{%-?\s*endraw\s*-?%\}/g],
  ['comment', /\{%-?\s*endcomment\s*-?%\}/g],
]);

/**
 * Finds the outputs of a text by hand. An id may hold quotes, colons, dots and spaces, which mean something to Liquid, so
 * what stands between `{{` and the first `|` or `}}` is taken as it is, before Liquid sees anything.
 */
export function parseTokenTemplate(text: string, budget: Budget): TokenTemplate {
  budget.spend(TEXT_UNITS + text.length / 4);
  const parts: Part[] = [];
  let needsLiquid = false;
  let hasVariables = false;
  let textFrom = 0;
  let at = nextOpening(text, 0);
  while (at !== -1) {
    if (text[at + 1] === '%') {
      needsLiquid = true;
      at = nextOpening(text, endOfTag(text, at));
      continue;
    }
    budget.spend(OUTPUT_UNITS);
    const end = endOfOutput(text, at);
    const output = readOutput(text.slice(at, end));
    if (output === undefined) {
      hasVariables = true;
    } else {
      parts.push({ kind: 'text', text: text.slice(textFrom, at) }, output.part);
      textFrom = end;
      needsLiquid ||= output.isTrimming;
    }
    at = nextOpening(text, end);
  }
  parts.push({ kind: 'text', text: text.slice(textFrom) });
  return { parts: parts.filter((part) => part.kind === 'output' || part.text !== ''), needsLiquid, hasVariables };
}

export function referencesOf(text: string, budget: Budget): TokenReference[] {
  const references: TokenReference[] = [];
  for (const part of parseTokenTemplate(text, budget).parts)
    if (part.kind === 'output') references.push(part.reference);
  return references;
}

function nextOpening(text: string, from: number): number {
  for (let at = text.indexOf('{', from); at !== -1; at = text.indexOf('{', at + 1)) {
    const next = text[at + 1];
    if (next === '{' || next === '%') return at;
  }
  return -1;
}

function endOfTag(text: string, at: number): number {
  TAG_NAME.lastIndex = at;
  const ending = UNREAD_TAGS.get(TAG_NAME.exec(text)?.[1] ?? '');
  const from = endOf(text, '%}', at + 2);
  if (ending === undefined) return from;
  ending.lastIndex = from;
  if (ending.exec(text) === null) throw invalidExpression('A raw or comment tag of the expression is not closed.');
  return ending.lastIndex;
}

/** Quotes count in the filters, where a text argument may hold `}}`, and not in the id, where they are part of it. */
function endOfOutput(text: string, at: number): number {
  const end = endOf(text, '}}', at + 2);
  // Looked for up to the end of the output only: looking through the rest of the text for each would take ages.
  const bar = text.slice(at, end).indexOf('|');
  if (bar === -1) return end;
  let quote = '';
  for (let next = at + bar + 1; next < text.length; next += 1) {
    const character = text.charAt(next);
    if (quote === '' && character === '}' && text[next + 1] === '}') return next + 2;
    if (quote !== '' && character === '\\') next += 1;
    else if (character === quote) quote = '';
    else if (quote === '' && (character === "'" || character === '"')) quote = character;
  }
  throw unclosed();
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  if (found === -1) throw unclosed();
  return found + mark.length;
}

function unclosed(): Error {
  return invalidExpression('An expression is not closed; write {{ … }}, or put plain braces into a raw tag.');
}

/** Undefined for what cannot be the id of a token: inside tags that is a variable, and Liquid's to evaluate. */
function readOutput(text: string): { readonly part: Part; readonly isTrimming: boolean } | undefined {
  const opening = text.startsWith('{{-') ? '{{-' : '{{';
  const isTrimmedAfter = text.endsWith('-}}');
  const bar = text.indexOf('|');
  const headEnd = bar === -1 ? text.length - (isTrimmedAfter ? 3 : 2) : bar;
  const head = text.slice(opening.length, headEnd).trim();
  const isWhole = WHOLE_TOKEN.test(head);
  const id = isWhole ? head.replace(WHOLE_TOKEN, '') : head;
  // Looked for in the database together with the ids of others, where nothing may stand that it cannot hold.
  if (hasForbiddenCharacters(id)) throw invalidExpression('The id of a token holds no NUL and no unpaired surrogate.');
  const length = codePointLength(id);
  if (length < ID_LENGTH_MIN || length > ID_LENGTH_MAX || FORBIDDEN_IN_ID.test(id)) return undefined;
  return {
    part: { kind: 'output', reference: { id, isWhole }, opening, filters: text.slice(headEnd) },
    isTrimming: opening === '{{-' || isTrimmedAfter,
  };
}

/** In text that is percent-encoded, a brace before an encoded character begins no tag. */
const ENCODED_CHARACTER = /%[0-9a-f]{2}/iy;

function isEncodedAt(text: string, at: number): boolean {
  ENCODED_CHARACTER.lastIndex = at;
  return ENCODED_CHARACTER.test(text);
}

/** Where the outputs of a text stand. Undefined where it has tags, so that it makes sense only as a whole. */
export function outputsIn(
  text: string,
  { isEncoded = false } = {},
): { readonly from: number; readonly to: number }[] | undefined {
  const outputs: { from: number; to: number }[] = [];
  for (let at = nextOpening(text, 0); at !== -1; ) {
    if (isEncoded && isEncodedAt(text, at + 1)) {
      at = nextOpening(text, at + 1);
      continue;
    }
    if (text[at + 1] === '%') return undefined;
    if (outputs.length === OUTPUTS_MAX) throw tooManyOutputs();
    const to = endOfOutput(text, at);
    outputs.push({ from: at, to });
    at = nextOpening(text, to);
  }
  return outputs;
}

/** More than any budget pays for: a text with more is refused before it is taken apart. */
export const OUTPUTS_MAX = 20_000;

export function tooManyOutputs(): AppError {
  return new AppError('payload_too_large', `A text has at most ${OUTPUTS_MAX} expressions.`);
}
