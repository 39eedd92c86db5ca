import { LiquidError } from 'liquidjs';
import { AppError } from '../kernel/errors.js';

const CAUSES_MAX = 8;

/** The sentence is for the writer of the expression and never repeats what the expression was evaluated on. */
export function invalidExpression(detail: string): AppError {
  return new AppError('invalid_expression', detail);
}

/**
 * Whatever went wrong while evaluating, as `invalid_expression`. The library's own words are dropped, also as a cause:
 * they quote templates and may quote data, and a cause ends up in the process log.
 */
export function faultOf(error: unknown): AppError {
  return (
    wrappedFault(error) ?? invalidExpression('The expression cannot be evaluated; check its filters and arguments.')
  );
}

export function parseFaultOf(error: unknown): AppError {
  const known = wrappedFault(error);
  if (known !== undefined) return known;
  if (!LiquidError.is(error)) return invalidExpression('The expression does not parse.');
  const [line, column] = error.token.getPosition();
  return invalidExpression(
    `The expression does not parse, or names a tag or filter that is not available, at line ${line}, column ${column}.`,
  );
}

/** The library wraps what a filter throws in errors of its own. */
function wrappedFault(error: unknown): AppError | undefined {
  let cause = error;
  for (let depth = 0; depth < CAUSES_MAX && cause !== undefined; depth += 1) {
    if (cause instanceof AppError) return cause;
    cause = LiquidError.is(cause) ? cause.originalError : undefined;
  }
  return undefined;
}
