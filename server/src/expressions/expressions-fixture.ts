import assert from 'node:assert/strict';
import { AppError } from '../kernel/errors.js';
import type { Json } from '../kernel/json.js';
import { createBudget } from './budget.js';
import { createExpressions } from './expressions.js';

const expressions = createExpressions();

/** What a text gives with `data` (and more variables), each time with a budget of its own. */
export function evaluateText(
  text: string,
  data: Json = null,
  more: Readonly<Record<string, Json>> = {},
): Json | undefined {
  return expressions.evaluate(text, { data, ...more }, createBudget());
}

/** What a filter makes of an input, by the plain form and by Liquid, which must agree. */
export function filtered(input: Json, filter: string): Json | undefined {
  const plain = evaluateText(`{{ data | ${filter} }}`, input);
  // Brackets make it a case for Liquid; the value is the same.
  assert.deepEqual(evaluateText(`{{ data["x"] | ${filter} }}`, { x: input }), plain);
  return plain;
}

/** Evaluates what has to fail, and gives the sentence of the refusal. */
export function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, 'invalid_expression');
    assert.equal(error.cause, undefined);
    return error.message;
  }
  return assert.fail('it was not refused');
}

/** A filter that must refuse an input, in both ways. */
export function refused(input: Json, filter: string): string {
  refusal(() => evaluateText(`{{ data["x"] | ${filter} }}`, { x: input }));
  return refusal(() => evaluateText(`{{ data | ${filter} }}`, input));
}
