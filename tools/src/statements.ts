import type { Source } from './sources.js';

/** A statement as the source has it: its name, and its text with what is known of `${…}` filled in. */
export interface FoundStatement {
  readonly path: string;
  readonly name: string;
  readonly sql: string;
}

/** A statement for both kinds of database, for one of them, or on rows that are given. */
export const STATEMENT_CALL = /\b(?:plainS|distributedS|givenS|s)tatement(?:<(?:[^<>]|<[^<>]*>)*>)?\(/g;

/**
 * Every call of `statement(name, text)` and of those that make one, with each text it has, and every other text that is SQL: nothing that reaches the database is left out. A
 * text that is put together elsewhere is told as the expression that stands for it.
 */
export function statementsOf({ path, text }: Source): FoundStatement[] {
  const constants = constantsOf(text);
  const found: FoundStatement[] = [];
  let rest = text;
  for (const call of text.matchAll(STATEMENT_CALL)) {
    // The declaration of the function itself.
    if (text.slice(0, call.index).endsWith('function ')) continue;
    const [name = '', ...texts] = argumentsAt(text, call.index + call[0].length);
    for (const sql of texts.length > 0 ? texts : ['']) {
      found.push({ path, name: unquoted(name), sql: filled(unquoted(ofGiven(sql)), constants) });
      rest = rest.replace(sql, '');
    }
  }
  for (const literal of literalsOf(rest)) {
    if (isSql(literal)) found.push({ path, name: '', sql: filled(unquoted(literal), constants) });
  }
  return found;
}

/** The text that a function makes of rows that are given, in the form for one tenant. */
function ofGiven(sql: string): string {
  if (!/^\(\{/.test(sql)) return sql;
  return sql
    .slice(sql.indexOf('`'), sql.lastIndexOf('`') + 1)
    .replaceAll(/\$\{tenant\}/g, '$$1')
    .replaceAll(/\$\{isOf\('(\w+)', '\w+'\)\}/g, '$1.tenant_id = $$1');
}

/** In capitals, as only SQL is written. */
const SQL = /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s|\b(?:FROM|JOIN)\s+[a-z"$]/;

function isSql(literal: string): boolean {
  return SQL.test(unquoted(literal));
}

/** Of anything but a literal: the expression as it stands. */
function unquoted(literal: string): string {
  return /^['`]/.test(literal) ? literal.slice(1, -1) : literal;
}

function filled(sql: string, constants: ReadonlyMap<string, string>): string {
  let text = sql;
  for (let depth = 0; depth < 4; depth += 1) {
    text = text.replace(/\$\{(\w+)\}/g, (whole, name: string) => constants.get(name) ?? whole);
  }
  return text;
}

/** Constants of a file whose value is one text. */
function constantsOf(text: string): Map<string, string> {
  const constants = new Map<string, string>();
  for (const match of text.matchAll(/\bconst (\w+)(?:: string)? =\s+(?=['`])/g)) {
    const end = literalEnd(text, match.index + match[0].length);
    if (text[end] === ';') constants.set(match[1] ?? '', text.slice(match.index + match[0].length + 1, end - 1));
  }
  return constants;
}

/** The arguments of a call, cut at the commas between them. */
function argumentsAt(text: string, start: number): string[] {
  const found: string[] = [];
  let depth = 0;
  let argument = '';
  for (let at = start; at < text.length; ) {
    const comment = /^(?:\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)/.exec(text.slice(at, at + 1_000))?.[0];
    const character = text[at] ?? '';
    const end = comment ? at + comment.length : /['`]/.test(character) ? literalEnd(text, at) : at + 1;
    if (depth === 0 && (character === ',' || character === ')')) {
      found.push(argument.trim());
      argument = '';
      if (character === ')') return found.filter((each) => each !== '');
    } else if (!comment) {
      argument += text.slice(at, end);
      if (/[([{]/.test(character)) depth += 1;
      if (/[)\]}]/.test(character)) depth -= 1;
    }
    at = end;
  }
  return found;
}

function literalsOf(text: string): string[] {
  const bare = text.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');
  const found: string[] = [];
  for (let at = 0; at < bare.length; at += 1) {
    if (!/['`]/.test(bare[at] ?? '')) continue;
    const end = literalEnd(bare, at);
    found.push(bare.slice(at, end));
    at = end - 1;
  }
  return found;
}

/** Behind the literal that begins here. A template may hold others in `${…}`. */
function literalEnd(text: string, start: number): number {
  const quote = text[start];
  let at = start + 1;
  while (at < text.length && text[at] !== quote) {
    if (text[at] === '\\') at += 1;
    else if (quote === '`' && text.startsWith('${', at)) at = holeEnd(text, at + 2) - 1;
    else if (quote === "'" && text[at] === '\n') return at;
    at += 1;
  }
  return at + 1;
}

function holeEnd(text: string, start: number): number {
  let depth = 1;
  let at = start;
  while (at < text.length && depth > 0) {
    if (/['`]/.test(text[at] ?? '')) at = literalEnd(text, at);
    else {
      if (text[at] === '{') depth += 1;
      if (text[at] === '}') depth -= 1;
      at += 1;
    }
  }
  return at;
}
