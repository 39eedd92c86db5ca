import type { AppError } from '../kernel/errors.js';
import { invalidExpression } from './faults.js';

/** A cursor over the text of a path. What it reads it passes; what it does not find leaves it where it was. */
export interface Reader {
  take(word: string): boolean;
  skipSpace(): void;
  name(): string | undefined;
  quoted(): string | undefined;
  integer(): number | undefined;
  number(): number | undefined;
  isAtEnd(): boolean;
  fault(): AppError;
  /** Runs an inner parse, refusing to go deeper than any sensible path does. */
  nested<T>(parse: () => T): T;
}

const DEPTH_MAX = 32;
// Sticky patterns are told where to begin before every use, so nothing carries over from one text to the next.
const NAME = /[\w$\u0080-\uffff-]+/y;
const INTEGER = /-?\d{1,15}(?![\d.])/y;
const NUMBER = /-?\d{1,15}(\.\d{1,15})?([eE][+-]?\d{1,3})?/y;
const SPACE = /[ \t\r\n]*/y;

export function createReader(text: string): Reader {
  let at = 0;
  let depth = 0;

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  }

  function fault(): AppError {
    // Without a position: a path may be put together from data, and a place in it would tell how long that is.
    return invalidExpression('The JSONPath cannot be read; check its brackets, quotes and operators.');
  }

  function quoted(): string | undefined {
    const quote = text[at];
    if (quote !== "'" && quote !== '"') return undefined;
    let content = '';
    for (let next = at + 1; next < text.length; next += 1) {
      const character = text.charAt(next);
      if (character === quote) {
        at = next + 1;
        return content;
      }
      // A backslash takes the next character as it is.
      if (character === '\\') next += 1;
      content += text.charAt(next);
    }
    throw fault();
  }

  function toNumber(found: string | undefined): number | undefined {
    return found === undefined ? undefined : Number(found);
  }

  return {
    take(word) {
      if (!text.startsWith(word, at)) return false;
      at += word.length;
      return true;
    },
    skipSpace: () => void match(SPACE),
    name: () => match(NAME),
    quoted,
    integer: () => toNumber(match(INTEGER)),
    number: () => toNumber(match(NUMBER)),
    isAtEnd: () => at === text.length,
    fault,
    nested(parse) {
      depth += 1;
      if (depth > DEPTH_MAX) throw fault();
      const result = parse();
      depth -= 1;
      return result;
    },
  };
}
