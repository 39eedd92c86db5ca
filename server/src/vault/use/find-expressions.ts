import { holdsExpression } from '../../expressions/expression-text.js';
import { assert } from '../../kernel/assert.js';
import type { FieldErrors } from '../../kernel/errors.js';
import { validationFailed } from '../../kernel/errors.js';
import { faultsUnder } from '../../kernel/field-faults.js';
import type { Json } from '../../kernel/json.js';
import { replaceJson, walkJson } from '../../kernel/json-walk.js';
import { refuseUnsafeNumbers } from '../../kernel/unsafe-numbers.js';

export interface FoundExpression {
  /** Where it stands in the body, as errors name it. */
  readonly path: string;
  readonly text: string;
}

/**
 * Every string that has something to evaluate, in document order. Names of members are never evaluated. What stands around
 * them is answered as it came, so a number that cannot be is refused.
 */
export function findExpressions(body: Json): FoundExpression[] {
  const errors: FieldErrors = {};
  const faults = faultsUnder(errors, '');
  refuseUnsafeNumbers(body, '', faults);
  if (faults.count > 0) throw validationFailed(errors);
  const found: FoundExpression[] = [];
  walkJson(body, '', (value, pathOf) => {
    if (typeof value === 'string' && holdsExpression(value)) found.push({ path: pathOf() || '$', text: value });
    return false;
  });
  return found;
}

/** The same shape with the values of its expressions, one for each that `findExpressions` gives. */
export function rebuildWith(body: Json, values: readonly Json[]): Json {
  let at = 0;
  const answer = replaceJson(body, (value) => {
    if (typeof value !== 'string' || !holdsExpression(value)) return undefined;
    const result = values[at];
    assert(result !== undefined, 'there is a value for every expression');
    at += 1;
    return result;
  });
  assert(at === values.length, 'every value has its place in the answer');
  return answer;
}
