import type { Context, Template } from 'liquidjs';
import { evalTokenValue, TokenKind } from 'liquidjs';
import { invalidExpression } from './faults.js';

const BOUND_MAX = 1_000_000_000;
const WHOLE_NUMBER = /^-?\d{1,10}$/;
/** Members that lead out of what was parsed. */
const OUTSIDE: ReadonlySet<string> = new Set(['liquid', 'parser', 'tokenizer', 'input']);

/**
 * Makes the ends of every range whole numbers of sensible size. The library counts up by one from whatever it is given,
 * which never ends at 2^53 and beyond, and turns a list into text to find a number in it.
 */
export function guardRanges(templates: readonly Template[]): void {
  const seen = new Set<object>();
  const waiting: unknown[] = [...templates];
  while (waiting.length > 0) {
    const part = waiting.pop();
    if (typeof part !== 'object' || part === null || seen.has(part)) continue;
    seen.add(part);
    if (isRange(part)) {
      part.lhs = guarded(part.lhs);
      part.rhs = guarded(part.rhs);
    }
    for (const [name, member] of Object.entries(part)) if (!OUTSIDE.has(name)) waiting.push(member);
  }
}

interface Range {
  lhs: unknown;
  rhs: unknown;
}

function isRange(part: object): part is Range {
  return 'kind' in part && part.kind === TokenKind.Range && 'lhs' in part && 'rhs' in part;
}

/** In the shape of a grouped value, the one kind of token that evaluates itself. */
function guarded(token: unknown): object {
  return {
    kind: TokenKind.FilteredValue,
    filters: [],
    original: token,
    initial: {
      *evaluate(context: Context): Generator<unknown, number, unknown> {
        // The token comes from the parsed range, whose ends are tokens of values.
        const value = yield evalTokenValue(token as Parameters<typeof evalTokenValue>[0], context);
        const bound = typeof value === 'string' && WHOLE_NUMBER.test(value) ? Number(value) : value;
        if (typeof bound !== 'number' || !(Math.abs(bound) <= BOUND_MAX)) {
          throw invalidExpression(`The ends of a range are numbers up to ${BOUND_MAX}.`);
        }
        return Math.trunc(bound);
      },
    },
  };
}
