import { assert } from '../../../kernel/assert.js';
import type { FieldErrors } from '../../../kernel/errors.js';
import { faultsUnder } from '../../../kernel/field-faults.js';
import type { Json } from '../../../kernel/json.js';
import { isJsonArray, isJsonObject } from '../../../kernel/json-object.js';
import { replaceJson, walkJson } from '../../../kernel/json-walk.js';
import { refuseUnsafeNumbers } from '../../../kernel/unsafe-numbers.js';
import type { NewToken } from '../../../vault/index.js';
import type { InputContext } from './fields.js';
import { newGenericToken, readNewToken } from './new-token.js';

export interface TokenizeBody {
  /** In document order. Complete only when there was no fault and there are not too many. */
  readonly tokens: readonly NewToken[];
  /** Where in the body each of them stands, as errors name it. */
  readonly paths: readonly string[];
  readonly isTooMany: boolean;
  /** The answer: each token in place of its request, or its id in place of a bare value. One body for each token. */
  rebuild(bodies: readonly Json[]): Json;
}

/** Finds the tokens that a body asks for. Reading stops at the first one over the limit. */
export function readTokenizeBody(
  body: Json,
  context: InputContext,
  errors: FieldErrors,
  countMax: number,
): TokenizeBody {
  const tokens: NewToken[] = [];
  const paths: string[] = [];
  let count = 0;
  walkJson(body, context.path, (value, pathOf) => {
    if (!isTokenRequest(value) && !isBareValue(value)) return false;
    count += 1;
    if (count > countMax) return true;
    const path = pathOf();
    const token = isBareValue(value)
      ? readBareValue(value, path, errors)
      : readNewToken(value, { ...context, path }, errors);
    if (token !== undefined) {
      tokens.push(token);
      paths.push(path);
    }
    return true;
  });
  return { tokens, paths, isTooMany: count > countMax, rebuild: (bodies) => rebuild(body, bodies) };
}

function readBareValue(value: Json, path: string, errors: FieldErrors): NewToken {
  refuseUnsafeNumbers(value, '', faultsUnder(errors, path));
  return newGenericToken(value);
}

function rebuild(body: Json, bodies: readonly Json[]): Json {
  let at = 0;
  const answer = replaceJson(body, (value) => {
    const isBare = isBareValue(value);
    if (!isBare && !isTokenRequest(value)) return undefined;
    const created = bodies[at];
    assert(created !== undefined, 'there is a created token for every one that was asked for');
    at += 1;
    return isBare ? idOf(created) : created;
  });
  assert(at === bodies.length, 'every created token has its place in the answer');
  return answer;
}

function idOf(token: Json): Json {
  const id = isJsonObject(token) ? token.id : undefined;
  assert(id !== undefined, 'a created token has an id');
  return id;
}

function isBareValue(value: Json): boolean {
  return value !== null && !isJsonObject(value) && !isJsonArray(value);
}

function isTokenRequest(value: Json): boolean {
  return isJsonObject(value) && typeof value.type === 'string' && value.data !== undefined;
}
