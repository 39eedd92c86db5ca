import { invalidExpression } from './faults.js';
import type { Reader } from './json-path-reader.js';
import { createReader } from './json-path-reader.js';

/** A step of a path: into the children, or with `..` into everything below. */
export interface Segment {
  readonly descends: boolean;
  readonly selectors: readonly Selector[];
}

export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | {
      readonly kind: 'slice';
      readonly start: number | undefined;
      readonly end: number | undefined;
      readonly step: number;
    }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'filter'; readonly test: Test };

export type Test =
  | { readonly kind: 'or' | 'and'; readonly left: Test; readonly right: Test }
  | { readonly kind: 'not'; readonly test: Test }
  | { readonly kind: 'exists'; readonly query: JsonPathQuery }
  | { readonly kind: 'compare'; readonly operator: Comparison; readonly left: Operand; readonly right: Operand };

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';
export type Operand = { readonly literal: string | number | boolean | null } | { readonly query: JsonPathQuery };

export interface JsonPathQuery {
  /** True for `$`, false for `@`. */
  readonly isFromRoot: boolean;
  readonly segments: readonly Segment[];
}

/** Longer operators first, so `<=` is not read as `<`. */
const COMPARISONS: readonly Comparison[] = ['==', '!=', '<=', '>=', '<', '>'];

/** Reads a JSONPath. Neither regular expressions nor functions of the data's writer have a place in it. */
export function parseJsonPath(text: string): readonly Segment[] {
  const reader = createReader(text);
  if (!reader.take('$')) throw reader.fault();
  const segments = parseSegments(reader);
  if (!reader.isAtEnd()) throw reader.fault();
  return segments;
}

function parseSegments(reader: Reader): readonly Segment[] {
  const segments: Segment[] = [];
  while (true) {
    if (reader.take('..')) {
      segments.push({ descends: true, selectors: reader.take('[') ? parseBracket(reader) : [parseDotted(reader)] });
    } else if (reader.take('.')) {
      segments.push({ descends: false, selectors: [parseDotted(reader)] });
    } else if (reader.take('[')) {
      segments.push({ descends: false, selectors: parseBracket(reader) });
    } else {
      return segments;
    }
  }
}

function parseDotted(reader: Reader): Selector {
  if (reader.take('*')) return { kind: 'wildcard' };
  const name = reader.name();
  if (name === undefined) throw reader.fault();
  return { kind: 'name', name };
}

function parseBracket(reader: Reader): readonly Selector[] {
  const selectors: Selector[] = [];
  do {
    reader.skipSpace();
    selectors.push(parseSelector(reader));
    reader.skipSpace();
  } while (reader.take(','));
  if (!reader.take(']')) throw reader.fault();
  return selectors;
}

function parseSelector(reader: Reader): Selector {
  if (reader.take('*')) return { kind: 'wildcard' };
  if (reader.take('?')) return { kind: 'filter', test: parseTest(reader) };
  const name = reader.quoted();
  if (name !== undefined) return { kind: 'name', name };
  const start = reader.integer();
  reader.skipSpace();
  if (!reader.take(':')) {
    if (start === undefined) throw reader.fault();
    return { kind: 'index', index: start };
  }
  reader.skipSpace();
  const end = reader.integer();
  reader.skipSpace();
  const step = parseStep(reader);
  if (step === 0) throw invalidExpression('The step of a slice in a JSONPath is not 0.');
  return { kind: 'slice', start, end, step: step ?? 1 };
}

/** The condition of a filter: `||` binds weakest, then `&&`, then `!`. */
function parseTest(reader: Reader): Test {
  return reader.nested(() => {
    let left = parseAll(reader);
    while (takeOperator(reader, '||')) left = { kind: 'or', left, right: parseAll(reader) };
    return left;
  });
}

function parseAll(reader: Reader): Test {
  let left = parseOne(reader);
  while (takeOperator(reader, '&&')) left = { kind: 'and', left, right: parseOne(reader) };
  return left;
}

function parseOne(reader: Reader): Test {
  reader.skipSpace();
  if (reader.take('!')) return reader.nested(() => ({ kind: 'not', test: parseOne(reader) }));
  if (reader.take('(')) {
    const test = parseTest(reader);
    reader.skipSpace();
    if (!reader.take(')')) throw reader.fault();
    return test;
  }
  const left = parseOperand(reader);
  reader.skipSpace();
  const operator = COMPARISONS.find((word) => reader.take(word));
  if (operator !== undefined) return { kind: 'compare', operator, left, right: parseOperand(reader) };
  if (!('query' in left)) throw reader.fault();
  return { kind: 'exists', query: left.query };
}

function parseOperand(reader: Reader): Operand {
  reader.skipSpace();
  if (reader.take('@')) return { query: parseQuery(reader, false) };
  if (reader.take('$')) return { query: parseQuery(reader, true) };
  const text = reader.quoted();
  if (text !== undefined) return { literal: text };
  const number = reader.number();
  if (number !== undefined) return { literal: number };
  if (reader.take('true')) return { literal: true };
  if (reader.take('false')) return { literal: false };
  if (reader.take('null')) return { literal: null };
  throw reader.fault();
}

function parseQuery(reader: Reader, isFromRoot: boolean): JsonPathQuery {
  return { isFromRoot, segments: reader.nested(() => parseSegments(reader)) };
}

function takeOperator(reader: Reader, word: string): boolean {
  reader.skipSpace();
  return reader.take(word);
}

function parseStep(reader: Reader): number | undefined {
  if (!reader.take(':')) return undefined;
  reader.skipSpace();
  return reader.integer();
}
