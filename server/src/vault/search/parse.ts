import { parseDate } from '../../kernel/dates.js';
import { AppError } from '../../kernel/errors.js';
import { codePointLength, hasForbiddenCharacters } from '../../kernel/text.js';

/** What a search text says. `at` is where a term begins, counted in characters from one. */
export type Query =
  | { readonly kind: 'all' }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Query[] }
  | { readonly kind: 'not'; readonly part: Query }
  | { readonly kind: 'text'; readonly at: number; readonly field: TextField; readonly value: string }
  | { readonly kind: 'metadata'; readonly at: number; readonly key: string; readonly value: string }
  | ({ readonly kind: 'dates'; readonly at: number; readonly field: DateField } & Span);

/** From one millisecond, up to but without another; undefined is open. */
export interface Span {
  readonly fromMs: number | undefined;
  readonly beforeMs: number | undefined;
}

const TEXT_FIELDS = ['id', 'type', 'fingerprint', 'created_by', 'modified_by', 'container', 'data'] as const;
const DATE_FIELDS = ['created_at', 'modified_at'] as const;
const METADATA_PREFIX = 'metadata.';
const KNOWN_FIELDS = [...TEXT_FIELDS, ...DATE_FIELDS, `${METADATA_PREFIX}<key>`].join(', ');

export type TextField = (typeof TEXT_FIELDS)[number];
export type DateField = (typeof DATE_FIELDS)[number];

const QUERY_CHARACTERS_MAX = 1_000;
const TERMS_MAX = 25;
/** Deeper than 25 terms can use; it bounds the stack. */
const DEPTH_MAX = 32;
const DAY_MS = 86_400_000;

const SPACE = /^\s*/;
/** A word is an operator when it is not the beginning of a field's name. */
const OPERATOR = /^(?:AND|OR|NOT)(?![\w.:\\])/;
const ENDS_FIELD = /[\s:()[\]{}"]/;
const ENDS_BARE = /[\s()"]/;
const ENDS_BOUND = /[\s()[\]{}"]/;

/** Reads a search text, or throws the 400 that names the character it could not go on from. A blank text is all tokens. */
export function parseQuery(text: string): Query {
  let at = 0;
  let terms = 0;

  function fail(expected: string, from = at): never {
    const place = `character ${codePointLength(text.slice(0, from)) + 1}: expected ${expected}.`;
    throw new AppError('invalid_query', `The query could not be read at ${place}`, { errors: { query: [place] } });
  }

  function skipSpace(): void {
    at += SPACE.exec(text.slice(at))?.[0].length ?? 0;
  }

  function peekOperator(): string | undefined {
    return OPERATOR.exec(text.slice(at))?.[0];
  }

  function takes(sign: string): boolean {
    const isNext = text.startsWith(sign, at);
    if (isNext) at += sign.length;
    return isNext;
  }

  function takesOperator(word: string): boolean {
    skipSpace();
    return peekOperator() === word && takes(word);
  }

  /** What follows up to a character that ends it; a backslash takes the next character as it is. */
  function readUntil(end: RegExp): string {
    let value = '';
    while (at < text.length && !end.test(text.charAt(at))) {
      if (text.charAt(at) === '\\') at += 1;
      if (at === text.length) fail('a character after "\\"');
      value += text.charAt(at);
      at += 1;
    }
    return value;
  }

  function readQuoted(): string {
    const value = readUntil(/"/);
    if (!takes('"')) fail('a closing quotation mark');
    return value;
  }

  function readValue(end: RegExp): string {
    if (takes('"')) return readQuoted();
    const value = readUntil(end);
    return value === '' ? fail('a value') : value;
  }

  function listOf(kind: 'and' | 'or', readPart: () => Query): Query {
    const first = readPart();
    const parts = [first];
    while (takesOperator(kind.toUpperCase())) parts.push(readPart());
    return parts.length === 1 ? first : { kind, parts };
  }

  function readQuery(depth: number): Query {
    if (depth > DEPTH_MAX) fail(`at most ${DEPTH_MAX} levels of parentheses`);
    return listOf('or', () => listOf('and', () => readUnary(depth)));
  }

  function readUnary(depth: number): Query {
    const isNegated = takesOperator('NOT') || takes('!') || takes('-');
    skipSpace();
    const part = takes('(') ? readGroup(depth) : readTerm();
    return isNegated ? { kind: 'not', part } : part;
  }

  function readGroup(depth: number): Query {
    const inner = readQuery(depth + 1);
    if (!takes(')')) fail('AND, OR or a closing parenthesis');
    return inner;
  }

  function readTerm(): Query {
    const from = at;
    terms += 1;
    if (terms > TERMS_MAX) fail(`at most ${TERMS_MAX} terms`);
    if (peekOperator() !== undefined) fail('a term such as type:card');
    const name = readUntil(ENDS_FIELD);
    if (name === '') fail('a term such as type:card');
    if (!takes(':')) fail('":" after the name of a field');
    const place = codePointLength(text.slice(0, from)) + 1;
    const dateField = DATE_FIELDS.find((known) => known === name);
    if (dateField !== undefined) return { kind: 'dates', at: place, field: dateField, ...readSpan() };
    if (/[[{]/.test(text.charAt(at))) fail(`a value without a range, which only ${DATE_FIELDS.join(' and ')} have`);
    const textField = TEXT_FIELDS.find((known) => known === name);
    if (textField !== undefined) return { kind: 'text', at: place, field: textField, value: readValue(ENDS_BARE) };
    const key = name.startsWith(METADATA_PREFIX) ? name.slice(METADATA_PREFIX.length) : '';
    if (key === '') fail(`one of the fields ${KNOWN_FIELDS}`, from);
    return { kind: 'metadata', at: place, key, value: readValue(ENDS_BARE) };
  }

  /** A range, or the span that one date or date-time stands for. */
  function readSpan(): Span {
    const isFromIncluded = takes('[');
    if (!isFromIncluded && !takes('{')) return readDate(ENDS_BARE);
    skipSpace();
    const from = readBound();
    skipSpace();
    if (!/^TO\s/.test(text.slice(at, at + 3))) fail('TO');
    at += 'TO'.length;
    skipSpace();
    const to = readBound();
    skipSpace();
    const isToIncluded = takes(']');
    if (!isToIncluded && !takes('}')) fail('"]" or "}"');
    return {
      fromMs: isFromIncluded ? from.fromMs : from.beforeMs,
      beforeMs: isToIncluded ? to.beforeMs : to.fromMs,
    };
  }

  function readBound(): Span {
    return takes('*') ? { fromMs: undefined, beforeMs: undefined } : readDate(ENDS_BOUND);
  }

  /** A date alone is its whole day in UTC, also as a bound; a date-time is its millisecond. */
  function readDate(end: RegExp): Span {
    const from = at;
    const value = readValue(end);
    const fromMs = parseDate(value) ?? fail('a complete ISO 8601 date or date-time', from);
    return { fromMs, beforeMs: fromMs + (/t/i.test(value) ? 1 : DAY_MS) };
  }

  if (codePointLength(text) > QUERY_CHARACTERS_MAX) {
    fail(`at most ${QUERY_CHARACTERS_MAX} characters`, [...text].slice(0, QUERY_CHARACTERS_MAX).join('').length);
  }
  if (hasForbiddenCharacters(text)) {
    const before = [...text].findIndex(hasForbiddenCharacters);
    fail('no U+0000 and no half of a surrogate pair', [...text].slice(0, before).join('').length);
  }
  skipSpace();
  if (at === text.length) return { kind: 'all' };
  const query = readQuery(0);
  if (at < text.length) fail('AND, OR or the end of the query');
  return query;
}
