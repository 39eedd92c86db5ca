import type { Budget } from '../../expressions/budget.js';
import type { Expressions, TokenView } from '../../expressions/expressions.js';
import { outputsIn } from '../../expressions/token-template.js';
import { textOf } from '../../expressions/values.js';
import { AppError } from '../../kernel/errors.js';
import type { Json } from '../../kernel/json.js';
import type { NamedExpression } from './detokenize-large.js';

/** A failure costs the making of an error, far more than the evaluation may have paid for. */
const FAILURE_UNITS = 5_000;
/** Such an output changes the text around it. */
const TRIMS = /\{\{-|-\}\}/;

/**
 * A text with the values of those of its outputs whose tokens are all there to be shown. Any other output stays as it was
 * written, and so does one that a mask cannot answer, such as a number made of a text of X. Text with tags makes sense only
 * as a whole.
 */
export function evaluateShown(
  expressions: Expressions,
  { text, ids }: NamedExpression,
  views: ReadonlyMap<string, TokenView>,
  budget: Budget,
): Json {
  const whole = shownValue(expressions, { text, ids }, views, budget);
  if (whole !== undefined) return whole.value;
  const outputs = TRIMS.test(text) ? undefined : outputsIn(text);
  const [first] = outputs ?? [];
  const isOnlyOne = first?.from === 0 && first.to === text.length;
  if (outputs === undefined || isOnlyOne) return text;
  let shown = '';
  let from = 0;
  for (const output of outputs) {
    const written = text.slice(output.from, output.to);
    const named = expressions.referencesOf(written, budget).map(({ id }) => id);
    const found = shownValue(expressions, { text: written, ids: named }, views, budget);
    shown += text.slice(from, output.from) + (found ? textOf(found.value, budget) : written);
    from = output.to;
  }
  return shown + text.slice(from);
}

/** Undefined where there is none to be shown. */
function shownValue(
  expressions: Expressions,
  { text, ids }: NamedExpression,
  views: ReadonlyMap<string, TokenView>,
  budget: Budget,
): { readonly value: Json } | undefined {
  if (ids.some((id) => !views.has(id))) return undefined;
  try {
    return { value: expressions.evaluateWithTokens(text, views, budget) ?? null };
  } catch (error) {
    // That too much was asked for is said, as in a call.
    if (!(error instanceof AppError) || error.code !== 'invalid_expression' || budget.isExhausted()) throw error;
    budget.drain(FAILURE_UNITS);
    return undefined;
  }
}
