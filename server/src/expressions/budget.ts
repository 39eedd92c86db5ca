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
  let units = unitsMax;
  let bytes = outputBytesMax;
  // Most requests need none of these, so they are made when they are asked for.
  let texts: Set<string> | undefined;
  let sizes: Map<object, number> | undefined;
  let readCosts: Map<object, number> | undefined;
  // Made once: a request with a hundred thousand failing leaves should not collect as many stacks.
  let refusal: AppError | undefined;

  function refuse(): never {
    units = -1;
    refusal ??= invalidExpression(
      bytes < 0
        ? `The results of all expressions of a request are at most ${outputBytesMax} bytes; ask for less at once.`
        : 'The expressions of this request take too much work; use fewer or simpler ones, or smaller data.',
    );
    throw refusal;
  }

  return {
    spend(count) {
      // A count that is negative or no number would be a fault of ours; it must not hand out units.
      if (!(count >= 0)) refuse();
      units -= count;
      if (units < 0) refuse();
    },
    drain(count) {
      units -= count;
    },
    emit(count) {
      bytes -= count;
      if (bytes < 0) refuse();
    },
    isNew(text) {
      texts ??= new Set();
      if (texts.has(text)) return false;
      texts.add(text);
      return true;
    },
    isExhausted: () => units < 0,
    unitsLeft: () => units,
    bytesEmitted: () => outputBytesMax - bytes,
    get sizes() {
      sizes ??= new Map();
      return sizes;
    },
    get readCosts() {
      readCosts ??= new Map();
      return readCosts;
    },
  };
}
