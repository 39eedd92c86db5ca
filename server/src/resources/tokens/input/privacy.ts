import type { Faults } from '../../../kernel/field-faults.js';
import { addFault } from '../../../kernel/field-faults.js';
import type { Json } from '../../../kernel/json.js';
import { isJsonObject } from '../../../kernel/json-object.js';
import type { GivenPrivacy } from '../../../vault/index.js';
import { CLASSIFICATIONS, choiceOf, IMPACT_LEVELS, RESTRICTION_POLICIES } from '../../../vault/index.js';

const NOTHING: GivenPrivacy = { classification: undefined, impact_level: undefined, restriction_policy: undefined };

export function readPrivacy(value: Json, faults: Faults): GivenPrivacy {
  if (!isJsonObject(value)) {
    addFault(faults, 'privacy', 'must be an object');
    return NOTHING;
  }
  return {
    classification: readChoice(value.classification, CLASSIFICATIONS, 'privacy.classification', faults),
    impact_level: readChoice(value.impact_level, IMPACT_LEVELS, 'privacy.impact_level', faults),
    restriction_policy: readChoice(
      value.restriction_policy,
      RESTRICTION_POLICIES,
      'privacy.restriction_policy',
      faults,
    ),
  };
}

function readChoice<Choice extends string>(
  value: Json | undefined,
  choices: readonly Choice[],
  field: string,
  faults: Faults,
): Choice | null | undefined {
  if (value === undefined || value === null) return value;
  const choice = choiceOf(value, choices);
  if (choice === undefined) addFault(faults, field, `must be one of ${choices.join(', ')}`);
  return choice;
}
