import type { Budget } from '../../expressions/budget.js';
import type { Expressions } from '../../expressions/expressions.js';
import { AppError } from '../../kernel/errors.js';
import type { Json } from '../../kernel/json.js';

/** What evaluating takes. */
export interface Evaluation {
  readonly expressions: Expressions;
  readonly budget: Budget;
}

/** The value of an expression; one that fails is a 400 about the field it stands in. */
export function evaluate(
  { expressions, budget }: Evaluation,
  text: string,
  variables: Readonly<Record<string, Json>>,
  field: string,
): Json | undefined {
  try {
    return expressions.evaluate(text, variables, budget);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_expression') throw error;
    throw new AppError('invalid_expression', error.message, { errors: { [field]: [error.message] }, cause: error });
  }
}

/** One value as the text it is compared by; lists and objects are several. */
export function comparedText(value: Json | undefined): string | undefined {
  if (value === undefined || value === null || typeof value === 'object') return undefined;
  return String(value);
}
