import { expressionFault } from '../../../expressions/expression-text.js';
import { parseClientDate } from '../../../kernel/dates.js';
import type { Faults } from '../../../kernel/field-faults.js';
import { addFault, elementPath } from '../../../kernel/field-faults.js';
import type { Json } from '../../../kernel/json.js';
import type { JsonObject } from '../../../kernel/json-object.js';
import { isJsonArray, isJsonObject } from '../../../kernel/json-object.js';
import { refuseUnsafeNumbers } from '../../../kernel/unsafe-numbers.js';
import type { TokenType } from '../../../vault/index.js';
import { isTokenType, TOKEN_TYPES } from '../../../vault/index.js';

export const SEARCH_INDEXES_MAX = 10;

/** Where the input stands in the body, and when it came. */
export interface InputContext {
  /** Empty for a body that is one token. */
  readonly path: string;
  readonly nowMs: number;
  /** A token that was stored before: what was let into its mask and its notes then may stay. */
  readonly wasStored?: boolean;
}

export function readType(value: Json, faults: Faults): TokenType | undefined {
  if (typeof value === 'string' && isTokenType(value)) return value;
  addFault(faults, 'type', `must be one of ${TOKEN_TYPES.join(', ')}`);
  return undefined;
}

export function readSearchIndexes(value: Json, faults: Faults): readonly string[] {
  const indexes: string[] = [];
  if (!isJsonArray(value)) {
    addFault(faults, 'search_indexes', 'must be an array');
  } else if (value.length > SEARCH_INDEXES_MAX) {
    addFault(faults, 'search_indexes', `must have at most ${SEARCH_INDEXES_MAX} entries`);
  } else {
    for (const [index, item] of value.entries()) {
      const message = typeof item === 'string' ? expressionFault(item) : 'must be a string';
      if (message !== undefined) addFault(faults, elementPath('search_indexes', index), message);
      else if (typeof item === 'string') indexes.push(item);
    }
  }
  return indexes;
}

export function readFingerprintExpression(value: Json, faults: Faults): string {
  const message = typeof value === 'string' ? expressionFault(value) : 'must be a string';
  if (message !== undefined) addFault(faults, 'fingerprint_expression', message);
  return typeof value === 'string' ? value : '';
}

export function readDeduplicate(value: Json, faults: Faults): boolean {
  if (typeof value !== 'boolean') addFault(faults, 'deduplicate_token', 'must be a boolean');
  return value === true;
}

export function readExpiry(value: Json, nowMs: number, faults: Faults): number {
  const expiresAtMs = typeof value === 'string' ? parseClientDate(value) : null;
  if (expiresAtMs === null) {
    addFault(
      faults,
      'expires_at',
      'must be a complete ISO 8601 date or date-time, such as 2024-02-13T09:30:00Z, or M/D/YYYY',
    );
  } else if (expiresAtMs <= nowMs) {
    addFault(faults, 'expires_at', 'must lie in the future');
  }
  return expiresAtMs ?? 0;
}

/** Any JSON; whether an expression in it works out is told when it is evaluated. */
export function readMask(value: Json, { wasStored = false }: InputContext, faults: Faults): Json {
  if (!wasStored) refuseUnsafeNumbers(value, 'mask', faults);
  return value;
}

export function readEncryption(value: Json, { wasStored = false }: InputContext, faults: Faults): JsonObject {
  if (!isJsonObject(value)) {
    addFault(faults, 'encryption', 'must be an object');
    return {};
  }
  if (!wasStored) refuseUnsafeNumbers(value, 'encryption', faults);
  return value;
}
