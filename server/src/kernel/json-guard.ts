import { AppError } from './errors.js';
import { findJsonFault } from './json-fault.js';
import { isDigit, isOfNumber, PLAIN_LENGTH_MAX, withUnkeptNumbers } from './json-numbers.js';

export const JSON_DEPTH_MAX = 64;

/** Without the `stream` option nothing carries over from one call to the next; it drops a leading byte order mark. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const LETTER_E = 0x65;
const CAPITAL_E = 0x45;

/**
 * Reads a request body as JSON, or refuses it with `malformed_json`. A leading byte order mark is skipped. Of duplicate
 * keys the last counts. A key named `__proto__` becomes an ordinary own property and leaves every prototype alone: it
 * may be part of the data a client stores, so it is neither dropped nor refused. A number that parsing would change
 * becomes infinity, so that code which stores numbers can refuse it. No refusal repeats anything of the body.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  const text = decode(bytes);
  const found = lookOver(bytes);
  if (found === 'too deep') {
    throw new AppError('malformed_json', `The body is nested deeper than ${JSON_DEPTH_MAX} levels.`);
  }
  try {
    return JSON.parse(found === 'long numbers' ? withUnkeptNumbers(text) : text);
  } catch {
    // The parser's error is not even kept as a cause: it quotes the body, and a cause ends up in the process log.
    throw new AppError('malformed_json', faultDetail(text));
  }
}

/** Whether JSON is nested deeper than anything here may be; recursion over it could end the process's stack. */
export function isTooDeep(bytes: Buffer): boolean {
  return lookOver(bytes) === 'too deep';
}

/**
 * Whether JSON holds more values than that, as far as its commas tell. Many small values take the process far longer than
 * their length says.
 */
export function hasMoreValues(bytes: Buffer, max: number): boolean {
  if (bytes.length <= max) return false;
  let values = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = closingQuote(bytes, at + 1);
    else if (byte === COMMA) values += 1;
    if (values > max) return true;
  }
  return false;
}

function decode(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new AppError('malformed_json', 'The body is not valid UTF-8.');
  }
}

/**
 * Counts brackets outside strings and looks for numbers worth a closer look, in one pass and before anything recursive
 * sees the body. It need not be exact on text that is not JSON: up to the first fault it agrees with the parser, and there
 * the parser gives up.
 */
function lookOver(bytes: Buffer): 'plain' | 'long numbers' | 'too deep' {
  let depth = 0;
  let hasLongNumbers = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = closingQuote(bytes, at + 1);
    } else if (byte === BRACE_OPEN || byte === BRACKET_OPEN) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) return 'too deep';
    } else if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) {
      depth -= 1;
    } else if (!hasLongNumbers && byte !== undefined && isDigit(byte)) {
      const end = endOfPlainNumber(bytes, at);
      if (end === undefined) hasLongNumbers = true;
      else at = end - 1;
    }
  }
  return hasLongNumbers ? 'long numbers' : 'plain';
}

/** Undefined for a number with an exponent or many digits. */
function endOfPlainNumber(bytes: Buffer, from: number): number | undefined {
  for (let at = from + 1; at <= from + PLAIN_LENGTH_MAX; at += 1) {
    const byte = bytes[at];
    if (byte === undefined || !isOfNumber(byte)) return at;
    if (byte === LETTER_E || byte === CAPITAL_E) return undefined;
  }
  return undefined;
}

/** A backslash takes the next byte with it, whatever that is: an escaped quote does not end the string. */
function closingQuote(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  return bytes.length;
}

function faultDetail(text: string): string {
  const at = findJsonFault(text);
  if (at === text.length) return 'The body is not valid JSON: it ends too early.';
  let line = 1;
  let lineStart = 0;
  for (let before = 0; before < at; before += 1) {
    if (text.charCodeAt(before) !== LINE_FEED) continue;
    line += 1;
    lineStart = before + 1;
  }
  return `The body is not valid JSON: unexpected text at line ${line}, column ${at - lineStart + 1}.`;
}
