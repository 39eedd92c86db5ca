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
const DIGIT = 1;
const OF_NUMBER = 2;
const STRUCTURE = 3;
/** The kind of each byte outside strings; 0 for all others. */
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (isDigit(byte)) return DIGIT;
  if (isOfNumber(byte)) return OF_NUMBER;
  return [COMMA, BRACE_OPEN, BRACE_CLOSE, BRACKET_OPEN, BRACKET_CLOSE].includes(byte) ? STRUCTURE : 0;
});

/** Length up to which a string is searched byte by byte, which is faster for short strings. */
const LOOKED_AT_BYTES = 128;
const LETTER_E = 0x65;
const CAPITAL_E = 0x45;

/**
 * Reads a request body as JSON, or refuses it with `malformed_json`. A leading byte order mark is skipped. Of duplicate
 * keys the last counts. A key named `__proto__` becomes an ordinary own property and leaves every prototype alone: it
 * may be part of the data a client stores, so it is neither dropped nor refused. A number that parsing would change
 * becomes infinity, so that code which stores numbers can refuse it. No refusal repeats anything of the body. Bytes that were
 * looked over while they came need not be looked over again.
 */
export function parseJsonBody(bytes: Buffer, scan = scanOf(bytes)): unknown {
  const text = decode(bytes);
  if (scan.isTooDeep) {
    throw new AppError('malformed_json', `The body is nested deeper than ${JSON_DEPTH_MAX} levels.`);
  }
  try {
    return JSON.parse(scan.hasLongNumbers ? withUnkeptNumbers(text) : text);
  } catch {
    // The parser's error is not even kept as a cause: it quotes the body, and a cause ends up in the process log.
    throw new AppError('malformed_json', faultDetail(text));
  }
}

/** Whether JSON is nested deeper than anything here may be; recursion over it could end the process's stack. */
export function isTooDeep(bytes: Buffer): boolean {
  return scanOf(bytes).isTooDeep;
}

/** Returns whether JSON may hold more values than `max`. Many small values cost far more time than their length says. */
export function hasMoreValues(bytes: Buffer, max: number): boolean {
  return bytes.length >= max && scanOf(bytes, max).values > max;
}

function decode(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new AppError('malformed_json', 'The body is not valid UTF-8.');
  }
}

function scanOf(bytes: Buffer, valuesMax = Number.POSITIVE_INFINITY): JsonScan {
  const scan = new JsonScan();
  scan.add(bytes, valuesMax);
  return scan;
}

/**
 * Looks over JSON that comes in pieces before it is parsed. Values are counted as one, and one more for each comma and each
 * opening bracket outside strings: empty lists and objects count twice, and no other value more than once. It need not be
 * exact on text that is not JSON: up to the first fault it agrees with the parser, and there the parser gives up.
 */
export class JsonScan {
  #values = 1;
  #depth = 0;
  #isTooDeep = false;
  #hasLongNumbers = false;
  /** Bytes so far of the number that is being read. */
  #numberBytes = 0;
  #isInString = false;
  /** The last byte of the piece before was a backslash inside a string. */
  #isEscaped = false;

  get values(): number {
    return this.#values;
  }

  get isTooDeep(): boolean {
    return this.#isTooDeep;
  }

  /** There are numbers with an exponent or many digits, which parsing may change. */
  get hasLongNumbers(): boolean {
    return this.#hasLongNumbers;
  }

  /** Looks on until the piece ends, there are more values than `valuesMax`, or they are nested too deep. */
  add(piece: Buffer, valuesMax: number): void {
    if (piece.length === 0) return;
    let at = 0;
    if (this.#isEscaped) {
      at = 1;
      this.#isEscaped = false;
    }
    if (this.#isInString) at = this.#skipString(piece, at);
    let numberBytes = this.#numberBytes;
    for (; at < piece.length && this.#values <= valuesMax && !this.#isTooDeep; at += 1) {
      const byte = piece[at] ?? 0;
      const kind = KINDS[byte];
      // A number begins with its first digit: a sign before it does not count.
      if (kind === DIGIT || (kind === OF_NUMBER && numberBytes > 0)) {
        numberBytes += 1;
        if (numberBytes > PLAIN_LENGTH_MAX || byte === LETTER_E || byte === CAPITAL_E) this.#hasLongNumbers = true;
        continue;
      }
      numberBytes = 0;
      if (byte === QUOTE) at = this.#skipString(piece, at + 1) - 1;
      else if (kind === STRUCTURE) this.#addStructure(byte);
    }
    this.#numberBytes = numberBytes;
  }

  #addStructure(byte: number): void {
    if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) {
      this.#depth -= 1;
      return;
    }
    this.#values += 1;
    if (byte === COMMA) return;
    this.#depth += 1;
    if (this.#depth > JSON_DEPTH_MAX) this.#isTooDeep = true;
  }

  /** Returns the index behind the closing quote, or the length of a piece that ends inside the string. */
  #skipString(piece: Buffer, from: number): number {
    const end = closingQuote(piece, from);
    this.#isInString = end >= piece.length;
    this.#isEscaped = end > piece.length;
    return Math.min(end + 1, piece.length);
  }
}

/**
 * Returns the index of the closing quote. Without one it returns the length of `bytes`, or one more if the last byte is a
 * backslash, which escapes the first byte of the next piece.
 */
function closingQuote(bytes: Buffer, from: number): number {
  let at = from;
  let quote = -1;
  for (;;) {
    for (const end = Math.min(bytes.length, at + LOOKED_AT_BYTES); at < end; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at += 1;
    }
    if (at >= bytes.length) return at;
    // The string is long: the native search finds its next quote and its next backslash many times faster.
    if (quote < at) quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) quote = bytes.length;
    const backslash = bytes.subarray(at, quote).indexOf(BACKSLASH);
    if (backslash === -1) return quote;
    at += backslash;
  }
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
