import { inspect } from 'node:util';

const HIDDEN = '[secret]';

/** Holds a key or plaintext on its way through the process. Printing or serialising it shows nothing. */
export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** The one way out. Call it at the last line that needs the value. */
  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
