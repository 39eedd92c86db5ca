import { codePointLength, hasForbiddenCharacters } from '../../kernel/text.js';
import { Scanner } from './scanner.js';
import type { Span } from './span.js';
import { readSpan } from './span.js';

/** What a search text says. `at` is where a term begins, counted in characters from one. */
export type Query =
  | { readonly kind: 'all' }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Query[] }
  | { readonly kind: 'not'; readonly part: Query }
  | { readonly kind: 'text'; readonly at: number; readonly field: TextField; readonly value: string }
  | { readonly kind: 'metadata'; readonly at: number; readonly key: string; readonly value: string }
  | ({ readonly kind: 'dates'; readonly at: number; readonly field: DateField } & Span);

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

const ENDS_FIELD = /[\s:()[\]{}"]/;
const ENDS_BARE = /[\s()"]/;

/** Reads a search text, or throws the 400 that names the character it could not go on from. A blank text is all tokens. */
export function parseQuery(text: string): Query {
  const scanner = new Scanner(text);
  refuseUnfit(text, scanner);
  scanner.skipSpace();
  if (scanner.isAtEnd()) return { kind: 'all' };
  const query = new Grammar(scanner).readQuery(0);
  if (!scanner.isAtEnd()) scanner.fail('AND, OR or the end of the query');
  return query;
}

function refuseUnfit(text: string, scanner: Scanner): void {
  if (codePointLength(text) > QUERY_CHARACTERS_MAX) {
    const from = [...text].slice(0, QUERY_CHARACTERS_MAX).join('').length;
    scanner.fail(`at most ${QUERY_CHARACTERS_MAX} characters`, from);
  }
  if (hasForbiddenCharacters(text)) {
    const before = [...text].findIndex(hasForbiddenCharacters);
    scanner.fail('no U+0000 and no half of a surrogate pair', [...text].slice(0, before).join('').length);
  }
}

/** Terms with AND, OR, NOT and parentheses. AND binds closer than OR. */
class Grammar {
  readonly #scanner: Scanner;
  #terms = 0;

  constructor(scanner: Scanner) {
    this.#scanner = scanner;
  }

  readQuery(depth: number): Query {
    if (depth > DEPTH_MAX) this.#scanner.fail(`at most ${DEPTH_MAX} levels of parentheses`);
    return this.#listOf('or', () => this.#listOf('and', () => this.#readUnary(depth)));
  }

  #listOf(kind: 'and' | 'or', readPart: () => Query): Query {
    const first = readPart();
    const parts = [first];
    while (this.#scanner.takesOperator(kind.toUpperCase())) parts.push(readPart());
    return parts.length === 1 ? first : { kind, parts };
  }

  #readUnary(depth: number): Query {
    const scanner = this.#scanner;
    const isNegated = scanner.takesOperator('NOT') || scanner.takes('!') || scanner.takes('-');
    scanner.skipSpace();
    const part = scanner.takes('(') ? this.#readGroup(depth) : this.#readTerm();
    return isNegated ? { kind: 'not', part } : part;
  }

  #readGroup(depth: number): Query {
    const inner = this.readQuery(depth + 1);
    if (!this.#scanner.takes(')')) this.#scanner.fail('AND, OR or a closing parenthesis');
    return inner;
  }

  #readTerm(): Query {
    this.#terms += 1;
    if (this.#terms > TERMS_MAX) this.#scanner.fail(`at most ${TERMS_MAX} terms`);
    return readTerm(this.#scanner);
  }
}

/** A field and what it is to have. */
function readTerm(scanner: Scanner): Query {
  const from = scanner.at;
  if (scanner.peekOperator() !== undefined) scanner.fail('a term such as type:card');
  const name = scanner.readUntil(ENDS_FIELD);
  if (name === '') scanner.fail('a term such as type:card');
  if (!scanner.takes(':')) scanner.fail('":" after the name of a field');
  const position = scanner.positionOf(from);
  const dateField = DATE_FIELDS.find((known) => known === name);
  if (dateField !== undefined)
    return { kind: 'dates', at: position, field: dateField, ...readSpan(scanner, ENDS_BARE) };
  if (/[[{]/.test(scanner.peek(1))) {
    scanner.fail(`a value without a range, which only ${DATE_FIELDS.join(' and ')} have`);
  }
  const textField = TEXT_FIELDS.find((known) => known === name);
  if (textField !== undefined)
    return { kind: 'text', at: position, field: textField, value: scanner.readValue(ENDS_BARE) };
  const key = name.startsWith(METADATA_PREFIX) ? name.slice(METADATA_PREFIX.length) : '';
  if (key === '') scanner.fail(`one of the fields ${KNOWN_FIELDS}`, from);
  return { kind: 'metadata', at: position, key, value: scanner.readValue(ENDS_BARE) };
}
