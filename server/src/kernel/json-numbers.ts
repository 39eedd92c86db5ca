const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const DECIMAL = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** The most digits a double prints. A number with more digits is kept only if it is a double's exact expansion. */
const DIGITS_MAX = 100;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Stands for a number that must be refused: JSON cannot express it, and no reader of a number accepts it. */
const UNKEPT = '1e999';

/** A number with at most this many digits and no exponent is never changed by parsing. */
export const PLAIN_LENGTH_MAX = 15;

/**
 * Puts infinity in place of every number that reading would change: one with more digits than a double has, and one so
 * small that it would become zero. After parsing the original text is lost, and code that stores a client's numbers
 * must be able to refuse those. Text that is not JSON stays text that is not JSON.
 */
export function withUnkeptNumbers(text: string): string {
  const parts: string[] = [];
  let kept = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = closingQuote(text, at + 1);
    } else if (isDigit(code)) {
      const start = text.charAt(at - 1) === '-' ? at - 1 : at;
      const end = endOfNumber(text, at);
      const literal = text.slice(start, end);
      if (NUMBER.test(literal) && !isKept(literal)) {
        parts.push(text.slice(kept, start), UNKEPT);
        kept = end;
      }
      at = end - 1;
    }
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(kept);
}

/**
 * Whether the number comes back as it was written, or as a program would write it that shows a double with as many
 * digits: `0.10000000000000001` is 0.1 and nothing else, `1.10000000000000000001` is not 1.1.
 */
export function isKept(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return false;
  const written = decimalOf(literal);
  if (written.digits === '') return true;
  if (isSame(written, decimalOf(String(value)))) return true;
  return written.digits.length <= DIGITS_MAX && isSame(written, decimalOf(value.toPrecision(written.digits.length)));
}

interface Decimal {
  /** Without zeros at either end; empty for zero. */
  readonly digits: string;
  /** Where the point stands, counted from the first digit. */
  readonly point: number;
}

function isSame(a: Decimal, b: Decimal): boolean {
  return a.digits === b.digits && a.point === b.point;
}

function decimalOf(literal: string): Decimal {
  const [, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(literal) ?? [];
  const all = whole + fraction;
  let from = 0;
  while (all.charAt(from) === '0') from += 1;
  let to = all.length;
  while (to > from && all.charAt(to - 1) === '0') to -= 1;
  return { digits: all.slice(from, to), point: whole.length - from + Number(exponent) };
}

function endOfNumber(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && isOfNumber(text.charCodeAt(at))) at += 1;
  return at;
}

function closingQuote(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** A digit, a point, an exponent or a sign. */
export function isOfNumber(code: number): boolean {
  return isDigit(code) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === 0x2d;
}
