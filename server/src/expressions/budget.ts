import type { AppError } from '../kernel/errors.js';
import { invalidExpression } from './faults.js';

/**
 * One unit stands for about five nanoseconds of work on a slow core. The total is what a whole request may spend, chosen
 * so that the most wasteful template holds the event loop for about twenty milliseconds (measured in decision 0015).
 */
const FUEL_UNITS_MAX = 4_000_000;
const OUTPUT_BYTES_MAX = 1_048_576;

/**
 * What all evaluations of one request may use together. Units are counted, not timed: the same request is refused on a
 * fast machine and on a busy one alike.
 */
export interface Budget {
  /** Takes units, or ends the evaluation with `invalid_expression`. Once exhausted it stays so. */
  spend(units: number): void;
  /** Takes units without ending anything: for what has failed already. */
  drain(units: number): void;
  /** Counts bytes of results. */
  emit(bytes: number): void;
  isExhausted(): boolean;
  /** True the first time a text is asked about. Reading a template is paid for once in a request. */
  isNew(text: string): boolean;
  unitsLeft(): number;
  /** Bytes of results so far. */
  bytesEmitted(): number;
  /** Sizes of arrays and objects already measured in this request. Data does not change while it is read. */
  readonly sizes: Map<object, number>;
  readonly readCosts: Map<object, number>;
}

export function createBudget(unitsMax = FUEL_UNITS_MAX, outputBytesMax = OUTPUT_BYTES_MAX): Budget {
  return new RequestBudget(unitsMax, outputBytesMax);
}

class RequestBudget implements Budget {
  readonly #outputBytesMax: number;
  #units: number;
  #bytes: number;
  // Most requests need none of these, so they are made when they are asked for.
  #texts: Set<string> | undefined;
  #sizes: Map<object, number> | undefined;
  #readCosts: Map<object, number> | undefined;
  // Made once: a request with a hundred thousand failing leaves should not collect as many stacks.
  #refusal: AppError | undefined;

  constructor(unitsMax: number, outputBytesMax: number) {
    this.#units = unitsMax;
    this.#bytes = outputBytesMax;
    this.#outputBytesMax = outputBytesMax;
  }

  spend(count: number): void {
    // A count that is negative or no number would be a fault of ours; it must not hand out units.
    if (!(count >= 0)) this.#refuse();
    this.#units -= count;
    if (this.#units < 0) this.#refuse();
  }

  drain(count: number): void {
    this.#units -= count;
  }

  emit(count: number): void {
    this.#bytes -= count;
    if (this.#bytes < 0) this.#refuse();
  }

  isNew(text: string): boolean {
    this.#texts ??= new Set();
    if (this.#texts.has(text)) return false;
    this.#texts.add(text);
    return true;
  }

  isExhausted(): boolean {
    return this.#units < 0;
  }

  unitsLeft(): number {
    return this.#units;
  }

  bytesEmitted(): number {
    return this.#outputBytesMax - this.#bytes;
  }

  get sizes(): Map<object, number> {
    this.#sizes ??= new Map();
    return this.#sizes;
  }

  get readCosts(): Map<object, number> {
    this.#readCosts ??= new Map();
    return this.#readCosts;
  }

  #refuse(): never {
    this.#units = -1;
    this.#refusal ??= invalidExpression(
      this.#bytes < 0
        ? `The results of all expressions of a request are at most ${this.#outputBytesMax} bytes; ask for less at once.`
        : 'The expressions of this request take too much work; use fewer or simpler ones, or smaller data.',
    );
    throw this.#refusal;
  }
}
