import type { Faults } from '../../../kernel/field-faults.js';
import { addFault } from '../../../kernel/field-faults.js';
import type { Json } from '../../../kernel/json.js';
import { isJsonObject } from '../../../kernel/json-object.js';
import type { Privacy } from '../../../vault/stored/content.js';
import { CLASSIFICATIONS, IMPACT_LEVELS, RESTRICTION_POLICIES } from '../../../vault/stored/content.js';
import { TOKEN_TYPE_CATALOGUE } from '../../../vault/types/catalogue.js';
import type { TokenType } from '../../../vault/types/names.js';

/** What a client said of the privacy of a token: undefined was left out, null is to go back to the default. */
export type GivenPrivacy = { readonly [Name in keyof Privacy]: Privacy[Name] | null | undefined };

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

/**
 * Settles what was left open. Containers follow the privacy that was given, privacy follows the first container that was
 * given as far as that names a classification and a level, and what neither says comes from the type.
 */
export function settlePlace(
  type: TokenType,
  containers: readonly string[] | undefined,
  given: GivenPrivacy | undefined,
): { readonly containers: readonly string[]; readonly privacy: Privacy } {
  const row = TOKEN_TYPE_CATALOGUE[type];
  if (containers === undefined && given === undefined) return { containers: [row.container], privacy: row.privacy };
  const [, first, second] = containers?.[0]?.split('/') ?? [];
  const privacy: Privacy = {
    classification: given?.classification ?? choiceOf(first, CLASSIFICATIONS) ?? row.privacy.classification,
    impact_level: given?.impact_level ?? choiceOf(second, IMPACT_LEVELS) ?? row.privacy.impact_level,
    restriction_policy: given?.restriction_policy ?? row.privacy.restriction_policy,
  };
  return { containers: containers ?? [containerOf(privacy)], privacy };
}

export function containerOf({ classification, impact_level: level }: Privacy): string {
  return `/${classification}/${level}/`;
}

function choiceOf<Choice extends string>(value: unknown, choices: readonly Choice[]): Choice | undefined {
  return choices.find((choice) => choice === value);
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
