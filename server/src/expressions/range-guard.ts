import type { Context, Template } from 'liquidjs';
import { evalTokenValue, TokenKind } from 'liquidjs';
import { invalidExpression } from './faults.js';

const NUMBER_UNITS = 10;
const BOUND_MAX = 1_000_000_000;
const WHOLE_NUMBER = /^-?\d{1,10}$/;
/** Members that lead out of what was parsed. */
const OUTSIDE: ReadonlySet<string> = new Set(['liquid', 'parser', 'tokenizer', 'input']);

/**
 * Makes the ends of every range whole numbers of sensible size. The library counts up by one from whatever it is given,
 * which never ends at 2^53 and beyond, and turns a list into text to find a number in it.
 */
export function guardRanges(templates: readonly Template[], spend: (context: Context, units: number) => void): void {
  const seen = new Set<object>();
  const waiting: unknown[] = [...templates];
  while (waiting.length > 0) {
    const part = waiting.pop();
    if (typeof part !== 'object' || part === null || seen.has(part)) continue;
    seen.add(part);
    if (isRange(part)) {
      const from = part.lhs;
      part.lhs = guarded(from, free);
      part.rhs = guarded(part.rhs, function* (context, to) {
        const low = yield* boundOf(from, context);
        if (to >= low) spend(context, (to - low + 1) * NUMBER_UNITS);
      });
    }
    for (const [name, member] of Object.entries(part)) if (!OUTSIDE.has(name)) waiting.push(member);
  }
}

function* free(): Generator<unknown, void, unknown> {
  yield;
}

interface Range {
  lhs: unknown;
  rhs: unknown;
}

function isRange(part: object): part is Range {
  return 'kind' in part && part.kind === TokenKind.Range && 'lhs' in part && 'rhs' in part;
}

/** In the shape of a grouped value, the one kind of token that evaluates itself. */
function guarded(token: unknown, pay: (context: Context, bound: number) => Generator<unknown, void, unknown>): object {
  return {
    kind: TokenKind.FilteredValue,
    filters: [],
    original: token,
    initial: {
      *evaluate(context: Context): Generator<unknown, number, unknown> {
        const bound = yield* boundOf(token, context);
        yield* pay(context, bound);
        return bound;
      },
    },
  };
}

function* boundOf(token: unknown, context: Context): Generator<unknown, number, unknown> {
  // The token comes from the parsed range, whose ends are tokens of values.
  const value = yield evalTokenValue(token as Parameters<typeof evalTokenValue>[0], context);
  const bound = typeof value === 'string' && WHOLE_NUMBER.test(value) ? Number(value) : value;
  if (typeof bound !== 'number' || !(Math.abs(bound) <= BOUND_MAX)) {
    throw invalidExpression(`The ends of a range are numbers up to ${BOUND_MAX}.`);
  }
  return Math.trunc(bound);
}
