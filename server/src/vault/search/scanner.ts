import { AppError } from '../../kernel/errors.js';
import { codePointLength } from '../../kernel/text.js';

const SPACE = /^\s*/;
/** A word is an operator when it is not the beginning of a field's name. */
const OPERATOR = /^(?:AND|OR|NOT)(?![\w.:\\])/;
const ENDS_QUOTED = /"/;

/** A search text and how far it has been read. */
export class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Where it stands, in code units: for `fail` and `positionOf`. */
  get at(): number {
    return this.#at;
  }

  isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  /** As people count: in characters from one. */
  positionOf(at: number): number {
    return codePointLength(this.#text.slice(0, at)) + 1;
  }

  /** Throws the 400 that names the character it could not go on from. */
  fail(expected: string, from = this.#at): never {
    const position = `character ${this.positionOf(from)}: expected ${expected}.`;
    throw new AppError('invalid_query', `The query could not be read at ${position}`, {
      errors: { query: [position] },
    });
  }

  skipSpace(): void {
    this.#at += SPACE.exec(this.#text.slice(this.#at))?.[0].length ?? 0;
  }

  /** Whether this comes next, which is read only if it does. */
  takes(sign: string): boolean {
    const isNext = this.#text.startsWith(sign, this.#at);
    if (isNext) this.#at += sign.length;
    return isNext;
  }

  /** The same with spaces before it, which are read in any case. */
  takesOperator(word: string): boolean {
    this.skipSpace();
    return this.peekOperator() === word && this.takes(word);
  }

  peekOperator(): string | undefined {
    return OPERATOR.exec(this.#text.slice(this.#at))?.[0];
  }

  /** The next characters, which stay to be read. */
  peek(count: number): string {
    return this.#text.slice(this.#at, this.#at + count);
  }

  /** What follows up to a character that ends it; a backslash takes the next character as it is. */
  readUntil(end: RegExp): string {
    let value = '';
    while (!this.isAtEnd() && !end.test(this.#text.charAt(this.#at))) {
      if (this.#text.charAt(this.#at) === '\\') this.#at += 1;
      if (this.isAtEnd()) this.fail('a character after "\\"');
      value += this.#text.charAt(this.#at);
      this.#at += 1;
    }
    return value;
  }

  /** A value in quotation marks, which may be empty, or a bare one up to a character that ends it. */
  readValue(end: RegExp): string {
    if (this.takes('"')) return this.#readQuoted();
    const value = this.readUntil(end);
    return value === '' ? this.fail('a value') : value;
  }

  #readQuoted(): string {
    const value = this.readUntil(ENDS_QUOTED);
    if (!this.takes('"')) this.fail('a closing quotation mark');
    return value;
  }
}
