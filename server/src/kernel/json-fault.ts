const LITERALS = ['true', 'false', 'null'];
const NUMBER_PATTERN = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
const ESCAPE_PATTERN = /^\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/;
const ESCAPE_LENGTH_MAX = 6;
const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What may come next. `first…` also admits the end of the container just opened, which a comma rules out. */
type Expected = 'value' | 'firstValue' | 'key' | 'firstKey' | 'colon' | 'commaOrEnd';

/**
 * Where text stops being JSON: the index of the first token that does not fit, or the length of text that ends too early
 * or has no fault. Runs only after a parser has refused, because the engine's own message quotes the source, which may
 * be what the client wants kept secret, and its wording changes between releases.
 */
export function findJsonFault(text: string): number {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = skipSpace(text, 0);
  while (at < text.length) {
    const token = text.charAt(at);
    let next = at + 1;
    if (expected === 'commaOrEnd') {
      const container = open.at(-1);
      if (container === undefined) return at;
      if (token === ',') expected = container === '{' ? 'key' : 'value';
      else if (token === (container === '{' ? '}' : ']')) open.pop();
      else return at;
    } else if (expected === 'colon') {
      if (token !== ':') return at;
      expected = 'value';
    } else if ((expected === 'firstKey' && token === '}') || (expected === 'firstValue' && token === ']')) {
      open.pop();
      expected = 'commaOrEnd';
    } else if (expected === 'key' || expected === 'firstKey') {
      if (token !== '"') return at;
      next = endOfString(text, at);
      expected = 'colon';
    } else if (token === '{' || token === '[') {
      open.push(token);
      expected = token === '{' ? 'firstKey' : 'firstValue';
    } else {
      next = endOfScalar(text, at);
      expected = 'commaOrEnd';
    }
    if (next === at) return at;
    at = skipSpace(text, next);
  }
  return text.length;
}

function skipSpace(text: string, from: number): number {
  for (let at = from; ; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== SPACE && code !== LINE_FEED && code !== CARRIAGE_RETURN && code !== TAB) return at;
  }
}

/** The index after the scalar that starts here, or the start itself when there is none. */
function endOfScalar(text: string, start: number): number {
  if (text.charAt(start) === '"') return endOfString(text, start);
  const literal = LITERALS.find((word) => text.startsWith(word, start));
  const scalar = literal ?? NUMBER_PATTERN.exec(text.slice(start))?.[0] ?? '';
  return start + scalar.length;
}

/** Unterminated text counts as read to the end, so that the fault is reported there. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < SPACE) return start;
    if (code !== BACKSLASH) at += 1;
    else {
      const escaped = ESCAPE_PATTERN.exec(text.slice(at, at + ESCAPE_LENGTH_MAX));
      if (escaped === null) return start;
      at += escaped[0].length;
    }
  }
  return text.length;
}
