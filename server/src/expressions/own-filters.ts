import { toValue } from 'liquidjs';
import { aliasCard, aliasPreserveFormat, aliasPreserveLength } from './alias-filters.js';
import type { Arguments } from './arguments.js';
import { textAt } from './arguments.js';
import type { Budget } from './budget.js';
import { hmac, toBase16, toBase64 } from './byte-filters.js';
import { cardExp, padLeft, padRight, stringify, toBoolean, toNumber, toText } from './cast-filters.js';
import { invalidExpression } from './faults.js';
import { parseJsonPath } from './json-path.js';
import { findOne } from './json-path-walk.js';
import { cardBin, cardMask, last4, reveal, revealLast } from './mask-filters.js';
import { isNil } from './values.js';

const CALL_UNITS = 40;
const PATH_CHARACTER_UNITS = 30;

interface OwnFilter {
  readonly argumentsMax: number;
  readonly apply: (input: unknown, args: Arguments, budget: Budget) => unknown;
}

/** The filters Liquid does not have. Every one of them leaves null as it is. */
export const OWN_FILTERS: ReadonlyMap<string, OwnFilter> = new Map<string, OwnFilter>([
  ['last4', { argumentsMax: 0, apply: last4 }],
  ['reveal_last', { argumentsMax: 2, apply: revealLast }],
  ['reveal', { argumentsMax: 4, apply: reveal }],
  ['card_mask', { argumentsMax: 4, apply: cardMask }],
  ['card_bin', { argumentsMax: 1, apply: cardBin }],
  ['card_exp', { argumentsMax: 1, apply: cardExp }],
  ['alias_card', { argumentsMax: 2, apply: aliasCard }],
  ['alias_preserve_format', { argumentsMax: 2, apply: aliasPreserveFormat }],
  ['alias_preserve_length', { argumentsMax: 2, apply: aliasPreserveLength }],
  ['json', { argumentsMax: 1, apply: byJsonPath }],
  ['stringify', { argumentsMax: 0, apply: stringify }],
  ['to_string', { argumentsMax: 0, apply: toText }],
  ['to_number', { argumentsMax: 0, apply: toNumber }],
  ['to_boolean', { argumentsMax: 0, apply: toBoolean }],
  ['pad_left', { argumentsMax: 2, apply: padLeft }],
  ['pad_right', { argumentsMax: 2, apply: padRight }],
  ['hmac', { argumentsMax: 2, apply: hmac }],
  ['to_base64', { argumentsMax: 0, apply: toBase64 }],
  ['to_base16', { argumentsMax: 0, apply: toBase16 }],
]);

/** Applies a filter of ours, called from Liquid or from the plain form. */
export function applyOwnFilter(
  name: string,
  { apply, argumentsMax }: OwnFilter,
  given: unknown,
  values: readonly unknown[],
  budget: Budget,
): unknown {
  budget.spend(CALL_UNITS);
  if (values.length > argumentsMax) {
    throw invalidExpression(
      `The filter ${name} takes ${argumentsMax === 0 ? 'no' : `at most ${argumentsMax}`} arguments.`,
    );
  }
  const input = toValue(given);
  return isNil(input) ? input : apply(input, { filter: name, values }, budget);
}

function byJsonPath(input: unknown, args: Arguments, budget: Budget): unknown {
  const path = textAt(args, 0, 'a JSONPath');
  budget.spend(path.length * PATH_CHARACTER_UNITS);
  return findOne(input, parseJsonPath(path), budget);
}
